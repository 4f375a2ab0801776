//! tcgen05.mma: operands to shared memory, accumulator, scale factors and metadata to tensor memory, one instruction
//! by one thread, the accumulator back.

use super::ptx::{vector, Body, Target};
use super::Kernel;
use crate::format::Format;
use crate::instruction::{Instruction, Kind};
use crate::layout::{smem, tcgen05 as columns, Layout, Parts};

/// Tensor memory columns: D at 0, scale A at 32, scale B at 64, metadata at 96.
const COLUMNS: usize = 128;
const SCALE_A: usize = 32;
const SCALE_B: usize = 64;
const METADATA: usize = 96;

/// The mnemonic up to its operands.
pub fn mnemonic(i: &Instruction) -> String {
    let sp = if i.sparsity.is_some() { ".sp" } else { "" };
    let kind = match i.kind {
        Kind::Tf32 => "tf32",
        Kind::F16 => "f16",
        Kind::F8f6f4 => "f8f6f4",
        Kind::I8 => "i8",
        Kind::Mxf8f6f4 => "mxf8f6f4.block_scale.scale_vec::1X",
        Kind::Mxf4 => "mxf4.block_scale.scale_vec::2X",
        Kind::Mxf4nvf4 if i.scale_words() == 2 => "mxf4nvf4.block_scale.scale_vec::2X",
        Kind::Mxf4nvf4 => "mxf4nvf4.block_scale.scale_vec::4X",
        Kind::Plain => unreachable!(),
    };
    format!("tcgen05.mma{sp}.cta_group::1.kind::{kind}")
}

/// The instruction descriptor (PTX ISA, "Instruction descriptor": one table for tf32, f16, f8f6f4 and i8, one for
/// mxf8f6f4, one for mxf4 and mxf4nvf4).
pub fn descriptor(i: &Instruction) -> u32 {
    let sparse = u32::from(i.sparsity.is_some()) << 2;
    let n = (i.n as u32 >> 3) << 17;
    let f8f6f4 = |f: Format| match f {
        Format::E4m3 => 0,
        Format::E5m2 => 1,
        Format::E2m3 => 3,
        Format::E3m2 => 4,
        _ => 5,
    };
    let scaled = |types: u32| {
        let ue8m0 = u32::from(i.scaling.is_some_and(|s| s.format == Format::Ue8m0)) << 23;
        sparse | types | n | ue8m0 | (i.m as u32 >> 7) << 27
    };
    match i.kind {
        Kind::Mxf8f6f4 => scaled(f8f6f4(i.a) << 7 | f8f6f4(i.b) << 10),
        Kind::Mxf4 | Kind::Mxf4nvf4 => scaled(1 << 7 | 1 << 10),
        kind => {
            let ab = |f: Format| match (kind, f) {
                (Kind::Tf32, _) => 2,
                (Kind::F16, f) => u32::from(f == Format::Bf16),
                (Kind::I8, f) => u32::from(f == Format::S8),
                (_, f) => f8f6f4(f),
            };
            let d = match i.d {
                Format::Fp16 => 0,
                Format::Fp32 => 1,
                _ => 2,
            };
            let saturate = u32::from(i.satfinite) << 3;
            sparse | saturate | d << 4 | ab(i.a) << 7 | ab(i.b) << 10 | n | (i.m as u32 >> 4) << 24
        }
    }
}

/// Everything of a matrix descriptor but the address: as wgmma's, and the constant 1 in bits 46-48.
fn matrix_descriptor(k_bytes: usize) -> u64 {
    ((smem::LEADING as u64 >> 4) << 16) | ((smem::stride(k_bytes) as u64 >> 4) << 32) | 1 << 46
}

pub fn kernel(i: &Instruction, layout: &Layout, target: &Target) -> Kernel {
    let Parts::Tensor { a_bytes, b_bytes, c, extra, d } = &layout.parts else { unreachable!() };
    let mut body = Body::new();
    body.copy_to_shared(a_bytes + b_bytes, 128);
    let acc = body.load(c);
    let more = extra.as_ref().map(|e| body.load(e));
    for line in [
        // One warp allocates tensor memory, one thread sets up the barrier.
        "mov.u32 %taddr_slot, taddr;",
        "mov.u32 %bar, barrier;",
        "shr.u32 %warp, %thread, 5;",
        "setp.eq.u32 %first_warp, %warp, 0;",
        "setp.eq.u32 %first, %thread, 0;",
        "@%first mbarrier.init.shared::cta.b64 [%bar], 1;",
        &format!("@%first_warp tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%taddr_slot], {COLUMNS};"),
        "@%first_warp tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;",
        "fence.proxy.async.shared::cta;",
        "tcgen05.fence::before_thread_sync;",
        "bar.sync 0;",
        "tcgen05.fence::after_thread_sync;",
        "ld.shared.b32 %taddr, [%taddr_slot];",
        // A warp reaches its own 32 lanes: lane in bits 16-31 of the address.
        "shl.b32 %lane, %warp, 21;",
        "add.u32 %mine, %taddr, %lane;",
        &format!("tcgen05.st.sync.aligned.32x32b.x{}.b32 [%mine], {};", acc.len(), vector(&acc)),
    ] {
        body.line(line);
    }
    if let Some(more) = &more {
        for (from, to) in [(columns::SCALE_A, SCALE_A), (columns::SCALE_B, SCALE_B), (columns::METADATA, METADATA)] {
            body.line(&format!("add.u32 %where, %mine, {to};"));
            body.line(&format!("tcgen05.st.sync.aligned.32x32b.x4.b32 [%where], {};", vector(&more[from..from + 4])));
        }
    }
    for line in [
        "tcgen05.wait::st.sync.aligned;",
        "tcgen05.fence::before_thread_sync;",
        "bar.sync 0;",
        "tcgen05.fence::after_thread_sync;",
        "shr.u32 %sa, %smem, 4;",
        "cvt.u64.u32 %desc, %sa;",
        &format!("or.b64 %desc_a, %desc, {};", matrix_descriptor(32)),
        &format!("add.u64 %desc_b, %desc, {};", a_bytes / 16),
        &format!("or.b64 %desc_b, %desc_b, {};", matrix_descriptor(if i.sparsity.is_some() { 64 } else { 32 })),
        &format!("mov.b32 %idesc, {};", descriptor(i)),
        "setp.eq.u32 %yes, 0, 0;",
        &format!("add.u32 %scale_a, %taddr, {SCALE_A};"),
        &format!("add.u32 %scale_b, %taddr, {SCALE_B};"),
        &format!("add.u32 %meta, %taddr, {METADATA};"),
    ] {
        body.line(line);
    }
    let metadata = if i.sparsity.is_some() { ", [%meta]" } else { "" };
    let scales = if i.scaling.is_some() { ", [%scale_a], [%scale_b]" } else { "" };
    body.line(&format!("@%first {} [%taddr], %desc_a, %desc_b{metadata}, %idesc{scales}, %yes;", mnemonic(i)));
    for line in [
        "@%first tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%bar];",
        "wait:",
        "mbarrier.try_wait.parity.shared::cta.b64 %p0, [%bar], 0;",
        "@!%p0 bra wait;",
        "tcgen05.fence::after_thread_sync;",
        &format!("tcgen05.ld.sync.aligned.32x32b.x{}.b32 {}, [%mine];", acc.len(), vector(&acc)),
        "tcgen05.wait::ld.sync.aligned;",
    ] {
        body.line(line);
    }
    body.store(d, &acc);
    for line in [
        "tcgen05.fence::before_thread_sync;",
        "bar.sync 0;",
        &format!("@%first_warp tcgen05.dealloc.cta_group::1.sync.aligned.b32 %taddr, {COLUMNS};"),
    ] {
        body.line(line);
    }
    let declarations = "  .shared .align 8 .b8 barrier[8];\n  .shared .align 4 .b8 taddr[4];\n  \
         .reg .pred %first, %first_warp, %yes;\n  \
         .reg .b32 %taddr_slot, %taddr, %bar, %warp, %lane, %mine, %where, %idesc, %scale_a, %scale_b, %meta;\n  \
         .reg .b64 %desc, %desc_a, %desc_b;\n";
    Kernel {
        source: body.module(target, layout.input_bytes, layout.output_bytes, 128, a_bytes + b_bytes, declarations),
        target: target.name.clone(),
        threads: 128,
    }
}
