//! mma.sync: registers in, one instruction, registers out.

use super::ptx::{vector, Body, Target};
use super::Kernel;
use crate::format::Format;
use crate::instruction::{Instruction, Kind};
use crate::layout::{Layout, Parts};

/// The PTX mnemonic.
pub fn mnemonic(i: &Instruction) -> String {
    let shape = format!("m{}n{}k{}", i.m, i.n, i.k);
    let kind = match i.kind {
        Kind::F8f6f4 => ".kind::f8f6f4",
        Kind::Mxf8f6f4 => ".kind::mxf8f6f4.block_scale.scale_vec::1X",
        Kind::Mxf4 => ".kind::mxf4.block_scale.scale_vec::2X",
        Kind::Mxf4nvf4 if i.scale_words() == 2 => ".kind::mxf4nvf4.block_scale.scale_vec::2X",
        Kind::Mxf4nvf4 => ".kind::mxf4nvf4.block_scale.scale_vec::4X",
        _ => "",
    };
    let satfinite = if i.satfinite { ".satfinite" } else { "" };
    let [d, a, b, c] = [i.d, i.a, i.b, i.c].map(Format::token);
    let stype = i.scaling.map_or(String::new(), |s| format!(".{}", s.format.token()));
    format!("mma.sync.aligned.{shape}.row.col{kind}{satfinite}.{d}.{a}.{b}.{c}{stype}")
}

pub fn kernel(i: &Instruction, layout: &Layout, target: &Target) -> Kernel {
    let Parts::Warp { a, b, c, scales, d } = &layout.parts else { unreachable!() };
    let mut body = Body::new();
    let ra = body.load(a);
    let rb = body.load(b);
    let rc = body.load(c);
    let rs = scales.as_ref().map(|s| body.load(s));
    let rd: Vec<String> = (0..d.count).map(|_| body.register(d.bytes)).collect();
    let scale = rs.map_or(String::new(), |s| format!(", {{{}}}, {{0, 0}}, {{{}}}, {{0, 0}}", s[0], s[1]));
    // One-register operands are written bare, as PTX wants a scalar there too.
    let operand = |names: &[String]| vector(names);
    body.line(&format!(
        "{} {}, {}, {}, {}{scale};",
        mnemonic(i),
        operand(&rd),
        operand(&ra),
        operand(&rb),
        operand(&rc)
    ));
    body.store(d, &rd);
    Kernel {
        source: body.module(target, layout.input_bytes, layout.output_bytes, 32, 0, ""),
        target: target.name.clone(),
        threads: 32,
    }
}
