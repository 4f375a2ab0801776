//! wgmma.mma_async: operands to shared memory, accumulator in registers, one instruction by four warps.

use super::ptx::{vector, Body, Target};
use super::Kernel;
use crate::format::Format;
use crate::instruction::Instruction;
use crate::layout::{smem, Layout, Parts};

pub fn mnemonic(i: &Instruction) -> String {
    let [d, a, b] = [i.d, i.a, i.b].map(Format::token);
    // Integers write .satfinite before the types.
    let satfinite = if i.satfinite { ".satfinite" } else { "" };
    format!("wgmma.mma_async.sync.aligned.m{}n{}k{}{satfinite}.{d}.{a}.{b}", i.m, i.n, i.k)
}

/// Everything of a matrix descriptor but the address: leading and stride byte offsets in units of 16 (bits 16-29 and
/// 32-45), no base offset, no swizzle.
fn descriptor() -> u64 {
    ((smem::LEADING as u64 >> 4) << 16) | ((smem::stride(32) as u64 >> 4) << 32)
}

pub fn kernel(i: &Instruction, layout: &Layout, target: &Target) -> Kernel {
    let Parts::Warpgroup { a_bytes, b_bytes, c, d } = &layout.parts else { unreachable!() };
    let mut body = Body::new();
    body.copy_to_shared(a_bytes + b_bytes, 128);
    let acc = body.load(c);
    for line in [
        // Each thread's writes are handed to the async proxy before any thread issues.
        "fence.proxy.async;",
        "bar.sync 0;",
        "shr.u32 %sa, %smem, 4;",
        "cvt.u64.u32 %desc_a, %sa;",
        &format!("or.b64 %desc_a, %desc_a, {};", descriptor()),
        &format!("add.u64 %desc_b, %desc_a, {};", a_bytes / 16),
        "wgmma.fence.sync.aligned;",
    ] {
        body.line(line);
    }
    // scale-d 1 (accumulate); float types: imm-scale-a, imm-scale-b 1; 16-bit types: no transposition.
    let immediates = match i.a {
        Format::S8 | Format::U8 => "1",
        Format::Fp16 | Format::Bf16 => "1, 1, 1, 0, 0",
        _ => "1, 1, 1",
    };
    body.line("setp.eq.u32 %p0, 0, 0;");
    let immediates = immediates.replacen('1', "%p0", 1);
    body.line(&format!("{} {}, %desc_a, %desc_b, {immediates};", mnemonic(i), vector(&acc)));
    body.line("wgmma.commit_group.sync.aligned;");
    body.line("wgmma.wait_group.sync.aligned 0;");
    body.store(d, &acc);
    Kernel {
        source: body.module(
            target,
            layout.input_bytes,
            layout.output_bytes,
            128,
            a_bytes + b_bytes,
            "  .reg .b64 %desc_a, %desc_b;\n",
        ),
        target: target.name.clone(),
        threads: 128,
    }
}
