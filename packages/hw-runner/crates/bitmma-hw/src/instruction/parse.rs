//! PTX mnemonics, token by token.

use super::{Family, Instruction, Kind, Scaling, Sparsity, TCGEN05_N};
use crate::format::Format;

type Parsed = std::result::Result<Instruction, String>;

/// Qualifiers that change no arithmetic.
const IGNORED: [&str; 9] =
    ["aligned", "row", "col", "cta_group::1", "block32", "block16", "cta_group::2", "shared::cluster", "rn"];

struct Tokens {
    shape: Option<(usize, usize, usize)>,
    kind: Kind,
    block_scale: bool,
    scale_vec: Option<usize>,
    satfinite: bool,
    sparse: bool,
    types: Vec<Format>,
}

fn tokens(rest: &str) -> std::result::Result<Tokens, String> {
    let mut t = Tokens {
        shape: None,
        kind: Kind::Plain,
        block_scale: false,
        scale_vec: None,
        satfinite: false,
        sparse: false,
        types: Vec::new(),
    };
    for token in rest.split('.').filter(|t| !t.is_empty()) {
        if let Some(format) = Format::from_ptx(token) {
            t.types.push(format);
        } else if let Some(kind) = token.strip_prefix("kind::") {
            t.kind = match kind {
                "tf32" => Kind::Tf32,
                "f16" => Kind::F16,
                "f8f6f4" => Kind::F8f6f4,
                "i8" => Kind::I8,
                "mxf8f6f4" => Kind::Mxf8f6f4,
                "mxf4" => Kind::Mxf4,
                "mxf4nvf4" => Kind::Mxf4nvf4,
                _ => return Err(format!("unknown kind::{kind}")),
            };
        } else if let Some(vec) = token.strip_prefix("scale_vec::") {
            t.scale_vec = Some(match vec {
                "1X" => 1,
                "2X" => 2,
                "4X" => 4,
                _ => return Err(format!("unknown scale_vec::{vec}")),
            });
        } else if let Some(shape) = shape(token) {
            t.shape = Some(shape);
        } else {
            match token {
                "block_scale" => t.block_scale = true,
                "satfinite" => t.satfinite = true,
                "sp" => t.sparse = true,
                _ if IGNORED.contains(&token) => {}
                _ => return Err(format!("unknown qualifier .{token}")),
            }
        }
    }
    Ok(t)
}

/// `m16n8k32` as numbers.
fn shape(token: &str) -> Option<(usize, usize, usize)> {
    let (m, rest) = token.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some((m.parse().ok()?, n.parse().ok()?, k.parse().ok()?))
}

fn scaling(
    kind: Kind,
    vec: Option<usize>,
    stype: Option<Format>,
    k: usize,
    sparse: bool,
) -> std::result::Result<Option<Scaling>, String> {
    let native = if sparse { k / 2 } else { k };
    let vec = match (kind, vec) {
        (Kind::Mxf8f6f4, None | Some(1)) => 1,
        (Kind::Mxf4, None | Some(2)) => 2,
        (Kind::Mxf4nvf4, Some(v @ (2 | 4))) => v,
        (Kind::Mxf8f6f4 | Kind::Mxf4 | Kind::Mxf4nvf4, v) => {
            return Err(format!("no scale_vec {v:?} for this kind"));
        }
        _ => return Ok(None),
    };
    let format = match stype {
        Some(f @ Format::Ue8m0) => f,
        Some(f @ Format::Ue4m3) if kind == Kind::Mxf4nvf4 && vec == 4 => f,
        other => {
            return Err(format!("expected a scale type ue8m0 (or ue4m3 with mxf4nvf4 scale_vec::4X), got {other:?}"))
        }
    };
    let block = native / vec * if sparse { 2 } else { 1 };
    Ok(Some(Scaling { format, block }))
}

fn is_fp8(f: Format) -> bool {
    matches!(f, Format::E4m3 | Format::E5m2)
}

fn is_f8f6f4(f: Format) -> bool {
    is_fp8(f) || matches!(f, Format::E3m2 | Format::E2m3 | Format::E2m1)
}

fn is_i8(f: Format) -> bool {
    matches!(f, Format::S8 | Format::U8)
}

fn is_f32_or_f16(f: Format) -> bool {
    matches!(f, Format::Fp32 | Format::Fp16)
}

pub fn mma_sync(name: &str) -> Parsed {
    let t = tokens(name.strip_prefix("mma.sync").unwrap_or(name))?;
    if t.sparse {
        return Err("mma.sp is not a dense mma.sync form".into());
    }
    let (m, n, k) = t.shape.ok_or("expected a shape mMnNkK")?;
    let [d, a, b, c, ref more @ ..] = t.types[..] else {
        return Err("expected the types D.A.B.C".into());
    };
    if more.len() > 1 {
        return Err("expected at most one scale type after D.A.B.C".into());
    }
    use Format::*;
    let same_type = a == b;
    let ok = match (m, n, k, t.kind) {
        (8, 8, 4, Kind::Plain) => {
            (a == Fp16 && same_type && is_f32_or_f16(c) && is_f32_or_f16(d) && !(d == Fp16 && c == Fp32))
                || [a, b, c, d] == [Fp64; 4]
        }
        (16, 8, 4, Kind::Plain) => [d, a, b, c] == [Fp32, Tf32, Tf32, Fp32] || [a, b, c, d] == [Fp64; 4],
        (16, 8, 8, Kind::Plain) => {
            [d, a, b, c] == [Fp32, Tf32, Tf32, Fp32]
                || [d, a, b, c] == [Fp32, Bf16, Bf16, Fp32]
                || [a, b, c, d] == [Fp64; 4]
                || (a == Fp16 && same_type && c == d && is_f32_or_f16(d))
        }
        (16, 8, 16, Kind::Plain) => {
            [d, a, b, c] == [Fp32, Bf16, Bf16, Fp32]
                || [a, b, c, d] == [Fp64; 4]
                || (a == Fp16 && same_type && c == d && is_f32_or_f16(d))
                || (is_fp8(a) && is_fp8(b) && c == d && is_f32_or_f16(d))
                || (is_i8(a) && is_i8(b) && c == S32 && d == S32)
        }
        (8, 8, 16, Kind::Plain) => is_i8(a) && is_i8(b) && c == S32 && d == S32,
        (16, 8, 32, Kind::Plain) => {
            (is_i8(a) && is_i8(b) && c == S32 && d == S32) || (is_fp8(a) && is_fp8(b) && c == d && is_f32_or_f16(d))
        }
        (16, 8, 32, Kind::F8f6f4) => is_f8f6f4(a) && is_f8f6f4(b) && c == d && is_f32_or_f16(d),
        (16, 8, 32, Kind::Mxf8f6f4) => t.block_scale && is_f8f6f4(a) && is_f8f6f4(b) && c == Fp32 && d == Fp32,
        (16, 8, 64, Kind::Mxf4 | Kind::Mxf4nvf4) => t.block_scale && [a, b] == [E2m1; 2] && [c, d] == [Fp32; 2],
        _ => false,
    };
    if !ok {
        return Err("not a form of mma.sync".into());
    }
    if t.satfinite && !is_i8(a) {
        return Err(".satfinite belongs to integer types".into());
    }
    Ok(Instruction {
        name: name.into(),
        family: Family::MmaSync,
        kind: t.kind,
        m,
        n,
        k,
        blocks: if (m, a) == (8, Fp16) { 4 } else { 1 },
        a,
        b,
        c,
        d,
        scaling: scaling(t.kind, t.scale_vec, more.first().copied(), k, false)?,
        sparsity: None,
        satfinite: t.satfinite,
    })
}

pub fn wgmma(name: &str) -> Parsed {
    let rest = name.strip_prefix("wgmma.mma_async").ok_or("expected wgmma.mma_async")?;
    let t = tokens(rest.strip_prefix(".sync").unwrap_or(rest))?;
    let (m, n, k) = t.shape.ok_or("expected a shape m64nNkK")?;
    let [d, a, b] = t.types[..] else {
        return Err("expected the types D.A.B".into());
    };
    use Format::*;
    let ok = match (a, b) {
        (Fp16, Fp16) => k == 16 && is_f32_or_f16(d),
        (Bf16, Bf16) => k == 16 && d == Fp32,
        (Tf32, Tf32) => k == 8 && d == Fp32,
        _ if is_fp8(a) && is_fp8(b) => k == 32 && is_f32_or_f16(d),
        _ if is_i8(a) && is_i8(b) => k == 32 && d == S32,
        _ => false,
    };
    let n_ok = n % 8 == 0 && (8..=256).contains(&n) && !(d == S32 && n > 32 && n % 16 != 0);
    if !ok || m != 64 || !n_ok {
        return Err("not a form of wgmma.mma_async".into());
    }
    if t.satfinite && d != S32 {
        return Err(".satfinite belongs to integer types".into());
    }
    Ok(Instruction {
        name: name.into(),
        family: Family::Wgmma,
        kind: Kind::Plain,
        m,
        n,
        k,
        blocks: 1,
        a,
        b,
        c: d,
        d,
        scaling: None,
        sparsity: None,
        satfinite: t.satfinite,
    })
}

pub fn tcgen05(name: &str) -> Parsed {
    let t = tokens(name.strip_prefix("tcgen05.mma").unwrap_or(name))?;
    let [d, a, b, ref more @ ..] = t.types[..] else {
        return Err("expected the types D.A.B".into());
    };
    use Format::*;
    let (ok, dense_k) = match t.kind {
        Kind::Tf32 => ([d, a, b] == [Fp32, Tf32, Tf32], 8),
        Kind::F16 => (a == b && ((a == Fp16 && is_f32_or_f16(d)) || (a == Bf16 && d == Fp32)), 16),
        Kind::F8f6f4 => (is_f8f6f4(a) && is_f8f6f4(b) && is_f32_or_f16(d), 32),
        Kind::I8 => (is_i8(a) && is_i8(b) && d == S32, 32),
        Kind::Mxf8f6f4 => (t.block_scale && is_f8f6f4(a) && is_f8f6f4(b) && d == Fp32, 32),
        Kind::Mxf4 | Kind::Mxf4nvf4 => (t.block_scale && [d, a, b] == [Fp32, E2m1, E2m1], 64),
        Kind::Plain => (false, 0),
    };
    let scaled = matches!(t.kind, Kind::Mxf8f6f4 | Kind::Mxf4 | Kind::Mxf4nvf4);
    if !ok || more.len() != usize::from(scaled) {
        return Err("not a form of tcgen05.mma".into());
    }
    if t.satfinite && t.kind != Kind::I8 {
        return Err(".satfinite belongs to kind::i8".into());
    }
    let k = if t.sparse { 2 * dense_k } else { dense_k };
    let sparsity = t.sparse.then_some(match t.kind {
        Kind::Tf32 => Sparsity::OneOfTwo,
        Kind::Mxf4 | Kind::Mxf4nvf4 => Sparsity::FourOfEightPairs,
        _ => Sparsity::TwoOfFour,
    });
    Ok(Instruction {
        name: name.into(),
        family: Family::Tcgen05,
        kind: t.kind,
        m: 128,
        n: TCGEN05_N,
        k,
        blocks: 1,
        a,
        b,
        c: d,
        d,
        scaling: scaling(t.kind, t.scale_vec, more.first().copied(), k, t.sparse)?,
        sparsity,
        satfinite: t.satfinite,
    })
}
