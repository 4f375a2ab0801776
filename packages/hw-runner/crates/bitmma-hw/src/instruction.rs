//! An instruction identifier, taken apart: family, shape, formats, scaling, sparsity.

use crate::error::{Error, Result};
use crate::format::Format;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    MmaSync,
    Wgmma,
    Tcgen05,
    Mfma,
}

/// The `.kind` of a tcgen05.mma, or of an sm_120 mma.sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Plain,
    Tf32,
    F16,
    F8f6f4,
    I8,
    Mxf8f6f4,
    Mxf4,
    Mxf4nvf4,
}

/// Selector rule of a sparse A: '1:2', '2:4', '4:8 in pairs'.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sparsity {
    OneOfTwo,
    TwoOfFour,
    FourOfEightPairs,
}

impl Sparsity {
    /// Logical k positions that one 4-bit selector governs.
    pub const fn chunk(self) -> usize {
        match self {
            Sparsity::OneOfTwo => 2,
            Sparsity::TwoOfFour => 4,
            Sparsity::FourOfEightPairs => 8,
        }
    }

    pub const fn legal(self) -> &'static [u32] {
        match self {
            Sparsity::OneOfTwo => &[0x4, 0xe],
            _ => &[0x4, 0x8, 0xc, 0x9, 0xd, 0x6, 0xe],
        }
    }

    /// Logical positions, within the chunk, of the stored elements of `selector`, in storage order.
    pub fn active(self, selector: u32) -> Vec<usize> {
        let low = (selector & 3) as usize;
        let high = (selector >> 2 & 3) as usize;
        match self {
            // 0b0100: the lower, 0b1110: the upper (bit 1 of the first field).
            Sparsity::OneOfTwo => vec![low >> 1],
            Sparsity::TwoOfFour => vec![low, high],
            Sparsity::FourOfEightPairs => vec![2 * low, 2 * low + 1, 2 * high, 2 * high + 1],
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scaling {
    pub format: Format,
    /// Logical k positions that share one scale word.
    pub block: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// As the vectors write it.
    pub name: String,
    pub family: Family,
    pub kind: Kind,
    pub m: usize,
    pub n: usize,
    /// Logical k positions of one instruction.
    pub k: usize,
    /// Independent products of one instruction (MFMA `_4b_`, and the four of Volta's m8n8k4).
    pub blocks: usize,
    pub a: Format,
    pub b: Format,
    pub c: Format,
    pub d: Format,
    pub scaling: Option<Scaling>,
    pub sparsity: Option<Sparsity>,
    pub satfinite: bool,
}

impl Instruction {
    /// Reads a canonical identifier; vendor qualifiers that change no arithmetic (`.aligned`, `.row`, `.col`,
    /// `.cta_group::1`) are ignored.
    pub fn parse(name: &str) -> Result<Instruction> {
        let parsed = if name.starts_with("mma.sync") {
            parse_mma_sync(name)
        } else if name.starts_with("wgmma") {
            parse_wgmma(name)
        } else if name.starts_with("tcgen05.mma") {
            parse_tcgen05(name)
        } else if name.starts_with("v_mfma_") {
            crate::layout::mfma::parse(name)
        } else {
            Err("expected mma.sync, wgmma.mma_async, tcgen05.mma or v_mfma".into())
        };
        parsed.map_err(|why| Error::Input(format!("instruction {name}: {why}")))
    }

    pub fn scale_words(&self) -> usize {
        self.scaling.map_or(0, |s| self.k.div_ceil(s.block))
    }

    pub fn sparse_words(&self) -> usize {
        self.sparsity.map_or(0, |s| (self.k / s.chunk()).div_ceil(8))
    }

    /// Stored k positions of A.
    pub fn stored_k(&self) -> usize {
        if self.sparsity.is_some() {
            self.k / 2
        } else {
            self.k
        }
    }

    pub fn is_cuda(&self) -> bool {
        self.family != Family::Mfma
    }
}

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

fn parse_mma_sync(name: &str) -> Parsed {
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

fn parse_wgmma(name: &str) -> Parsed {
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

/// N of the tcgen05 kernels: the smallest that every kind takes with M = 128.
pub const TCGEN05_N: usize = 16;

fn parse_tcgen05(name: &str) -> Parsed {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_identifiers() {
        let i = Instruction::parse("mma.sync.m16n8k32.f32.e4m3.e5m2.f32").unwrap();
        assert_eq!((i.m, i.n, i.k, i.a, i.b), (16, 8, 32, Format::E4m3, Format::E5m2));
        let full = Instruction::parse("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32").unwrap();
        assert_eq!((full.k, full.c), (32, Format::Fp32));
        assert_eq!(Instruction::parse("mma.sync.m8n8k4.f32.f16.f16.f16").unwrap().blocks, 4);
        let s =
            Instruction::parse("tcgen05.mma.sp.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.ue4m3").unwrap();
        assert_eq!((s.k, s.scaling.unwrap().block, s.scale_words(), s.sparse_words()), (128, 32, 4, 2));
        let s = Instruction::parse("tcgen05.mma.sp.kind::tf32.f32.tf32.tf32").unwrap();
        assert_eq!((s.k, s.sparse_words(), s.stored_k()), (16, 1, 8));
    }

    #[test]
    fn refuses_what_is_no_instruction() {
        for name in [
            "mma.sync.m16n8k16.f32.f16.bf16.f32",
            "mma.sync.m16n8k8.f32.e4m3.e4m3.f32",
            "mma.sync.m8n8k4.f16.f16.f16.f32",
            "wgmma.mma_async.m64n12k16.f32.f16.f16",
            "tcgen05.mma.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.ue4m3",
            "v_mfma_f32_16x16x5_f16",
            "fma.rn.f32",
        ] {
            assert!(matches!(Instruction::parse(name), Err(Error::Input(m)) if m.contains(name)), "{name}");
        }
    }

    #[test]
    fn selectors_name_positions() {
        assert_eq!(Sparsity::OneOfTwo.active(0x4), [0]);
        assert_eq!(Sparsity::OneOfTwo.active(0xe), [1]);
        assert_eq!(Sparsity::TwoOfFour.active(0x9), [1, 2]);
        assert_eq!(Sparsity::TwoOfFour.active(0x6), [2, 1]);
        assert_eq!(Sparsity::FourOfEightPairs.active(0xc), [0, 1, 6, 7]);
    }
}
