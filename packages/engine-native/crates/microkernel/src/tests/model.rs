//! An independent model in integers, one dot product at a time, written from the numerics page alone.

use crate::params::{Family, Format, Output, Params};
use crate::tests::model_cdna::{cdna3, exact, pairwise};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Nan,
    Inf(bool),
    /// Sign, significand, lsb, encoded exponent.
    Finite(bool, u64, i32, i32),
}

/// (exponent bits, fraction bits, bias, all-ones exponent is Inf/NaN, dropped bits)
fn shape(f: Format) -> (u32, u32, i32, bool, u32) {
    match f {
        Format::Fp32 => (8, 23, 127, true, 0),
        Format::Tf32 => (8, 10, 127, true, 13),
        Format::Bf16 => (8, 7, 127, true, 0),
        Format::Fp16 => (5, 10, 15, true, 0),
        Format::E5m2 => (5, 2, 15, true, 0),
        Format::E4m3 => (4, 3, 7, false, 0),
        Format::E5m2Fnuz => (5, 2, 16, false, 0),
        Format::E4m3Fnuz => (4, 3, 8, false, 0),
        Format::E3m2 => (3, 2, 3, false, 0),
        Format::E2m3 => (2, 3, 1, false, 0),
        Format::E2m1 => (2, 1, 1, false, 0),
        Format::S8 | Format::U8 => unreachable!(),
    }
}

/// Bits of a word that mean something.
pub fn width(f: Format) -> u32 {
    match f {
        Format::S8 | Format::U8 => 8,
        _ => {
            let (x, w, _, _, dropped) = shape(f);
            1 + x + w + dropped
        }
    }
}

pub fn decode(f: Format, word: u32) -> Value {
    let (xb, w, bias, ieee, dropped) = shape(f);
    let word = word >> dropped;
    let neg = word >> (xb + w) & 1 == 1;
    let x = word >> w & ((1 << xb) - 1);
    let m = u64::from(word & ((1 << w) - 1));
    let ones = x == (1 << xb) - 1;
    if ieee && ones {
        return if m == 0 { Value::Inf(neg) } else { Value::Nan };
    }
    if f == Format::E4m3 && ones && m == 7 {
        return Value::Nan;
    }
    if matches!(f, Format::E4m3Fnuz | Format::E5m2Fnuz) && neg && x == 0 && m == 0 {
        return Value::Nan;
    }
    let e = if x == 0 { 1 - bias } else { x as i32 - bias };
    let sig = if x == 0 { m } else { m | 1 << w };
    Value::Finite(neg, sig, e - w as i32, e)
}

#[derive(Clone, Copy, PartialEq)]
pub enum Mode {
    Rz,
    Rne,
}

/// v = s * 2^q to a format of `w` fraction bits and bias, `p` of them kept.
fn round(s: i128, q: i32, mode: Mode, xb: u32, w: u32, p: u32, signed_zero: bool) -> u32 {
    let bias = (1 << (xb - 1)) - 1;
    let emin = 1 - bias;
    let neg = s < 0;
    let mut mag = s.unsigned_abs();
    let sign = u32::from(neg) << (xb + w);
    if mag == 0 {
        return 0;
    }
    let n = q + 127 - mag.leading_zeros() as i32;
    let keep = (n - p as i32).max(emin - p as i32);
    let mut lsb = q;
    if keep > q {
        let cut = (keep - q) as u32;
        let (kept, rest, half) =
            if cut >= 128 { (0, 1, 2) } else { (mag >> cut, mag & ((1u128 << cut) - 1), 1u128 << (cut - 1)) };
        mag = kept;
        if mode == Mode::Rne && (rest > half || rest == half && kept & 1 == 1) {
            mag += 1;
        }
        lsb = keep;
    }
    if mag == 0 {
        return if signed_zero { sign } else { 0 };
    }
    let lead = 127 - mag.leading_zeros() as i32;
    let e = lsb + lead;
    if e > bias {
        return sign | ((1 << xb) - 1) << w;
    }
    if e < emin {
        let shift = lsb - (emin - w as i32);
        return sign | ((mag << shift) as u32);
    }
    let frac = if lead >= w as i32 { mag >> (lead - w as i32) } else { mag << (w as i32 - lead) };
    sign | ((e + bias) as u32) << w | (frac as u32 & ((1 << w) - 1))
}

pub struct Out {
    pub format: Format,
    pub nan: u32,
    pub inf: u32,
    pub sign: u32,
}

pub fn out(o: Output, amd: bool) -> Out {
    match o {
        Output::Fp16Rne => Out { format: Format::Fp16, nan: 0x7FFF, inf: 0x7C00, sign: 0x8000 },
        _ => Out {
            format: Format::Fp32,
            nan: if amd { 0xFFC0_0000 } else { 0x7FFF_FFFF },
            inf: 0x7F80_0000,
            sign: 0x8000_0000,
        },
    }
}

pub fn finish(o: Output, s: i128, q: i32) -> u32 {
    match o {
        Output::Fp32Rz { precision } => round(s, q, Mode::Rz, 8, 23, precision, false),
        Output::Fp16Rne => round(s, q, Mode::Rne, 5, 10, 10, false),
        Output::Fp32Rne => round(s, q, Mode::Rne, 8, 23, 23, true),
        Output::S32Wrap => unreachable!(),
    }
}

pub struct Term {
    pub neg: bool,
    pub sig: u64,
    pub lsb: i32,
    pub e: i32,
}

impl Term {
    /// Cut to 2^q toward zero, in units of 2^q.
    pub fn cut(&self, q: i32) -> i128 {
        let sig = i128::from(self.sig);
        let mag = if self.lsb >= q {
            assert!(self.lsb - q < 70);
            sig << (self.lsb - q)
        } else if q - self.lsb > 120 {
            0
        } else {
            sig >> (q - self.lsb)
        };
        if self.neg { -mag } else { mag }
    }
}

/// Section 3 over pairs and c: Some(word) decides.
pub fn specials(pairs: &[(Value, Value)], c: Value, o: &Out) -> Option<u32> {
    let (mut pos, mut neg) = (false, false);
    let mut see = |n: bool| *(if n { &mut neg } else { &mut pos }) = true;
    for &(a, b) in pairs {
        let sign = |v| matches!(v, Value::Inf(true) | Value::Finite(true, ..));
        let zero = |v| matches!(v, Value::Finite(_, 0, ..));
        match (a, b) {
            (Value::Nan, _) | (_, Value::Nan) => return Some(o.nan),
            (Value::Inf(_), x) | (x, Value::Inf(_)) if zero(x) => return Some(o.nan),
            (Value::Inf(_), _) | (_, Value::Inf(_)) => see(sign(a) != sign(b)),
            _ => {}
        }
    }
    match c {
        Value::Nan => return Some(o.nan),
        Value::Inf(n) => see(n),
        Value::Finite(..) => {}
    }
    match (pos, neg) {
        (true, true) => Some(o.nan),
        (true, false) => Some(o.inf),
        (false, true) => Some(o.inf | o.sign),
        _ => None,
    }
}

pub fn products(pairs: &[(Value, Value)]) -> Vec<Term> {
    pairs
        .iter()
        .filter_map(|&(a, b)| match (a, b) {
            (Value::Finite(na, sa, la, ea), Value::Finite(nb, sb, lb, eb)) if sa != 0 && sb != 0 => {
                Some(Term { neg: na != nb, sig: sa * sb, lsb: la + lb, e: ea + eb })
            }
            _ => None,
        })
        .collect()
}

pub fn term(v: Value) -> Option<Term> {
    match v {
        Value::Finite(neg, sig, lsb, e) if sig != 0 => Some(Term { neg, sig, lsb, e }),
        _ => None,
    }
}

pub fn fused(pairs: &[(Value, Value)], c: u32, f: i32, floor: Option<i32>, o: Output) -> u32 {
    let out = out(o, false);
    let cv = decode(out.format, c);
    if let Some(word) = specials(pairs, cv, &out) {
        return word;
    }
    let mut terms = products(pairs);
    terms.extend(term(cv));
    let Some(mut e) = terms.iter().map(|t| t.e).max() else { return 0 };
    if let Some(floor) = floor {
        e = e.max(floor);
    }
    let q = e - f;
    finish(o, terms.iter().map(|t| t.cut(q)).sum(), q)
}

fn byte(f: Format, w: u32) -> i64 {
    if f == Format::S8 { i64::from(w as u8 as i8) } else { i64::from(w as u8) }
}

/// One instruction's block step.
fn block(p: &Params, a: &[u32], b: &[u32], c: u32) -> u32 {
    match p.family {
        Family::Integer => {
            let sum: i64 = a.iter().zip(b).map(|(x, y)| byte(p.a, *x) * byte(p.b, *y)).sum();
            return (i64::from(c as i32) + sum) as u32;
        }
        Family::SequentialFma => {
            return a.iter().zip(b).fold(c, |c, (x, y)| {
                let d = f32::from_bits(*x).mul_add(f32::from_bits(*y), f32::from_bits(c));
                if d.is_nan() { 0xFFC0_0000 } else { d.to_bits() }
            });
        }
        Family::Pairwise { block } => {
            let steps = a.chunks(block).zip(b.chunks(block));
            return steps.fold(c, |c, (a, b)| pairwise(p, a, b, c));
        }
        _ => {}
    }
    let pairs: Vec<_> = a.iter().zip(b).map(|(&x, &y)| (decode(p.a, x), decode(p.b, y))).collect();
    match p.family {
        Family::FusedWindow { fraction, floor, .. } => fused(&pairs, c, fraction, floor, p.output),
        Family::Exact { block } => pairs.chunks(block).fold(c, |c, pairs| exact(pairs, c, p.output)),
        Family::SplitWindow { fraction, floor, select_bit, .. } => {
            let pick = |set: usize| -> Vec<_> {
                pairs
                    .iter()
                    .enumerate()
                    .filter(|(i, _)| i >> select_bit & 1 == set)
                    .map(|(_, p)| *p)
                    .collect()
            };
            let first = fused(&pick(0), 0, fraction, floor, p.output);
            let second = fused(&pick(1), first, fraction, floor, p.output);
            add(second, c, 0x7FFF_FFFF)
        }
        Family::Cdna3Window { .. } | Family::Cdna3OddEven => {
            cdna3(&pairs, c, p.family == Family::Cdna3OddEven)
        }
        _ => unreachable!("{:?}", p.family),
    }
}

/// fp32 addition, RNE.
pub fn add(x: u32, y: u32, nan: u32) -> u32 {
    let f = Format::Fp32;
    match (decode(f, x), decode(f, y)) {
        (Value::Nan, _) | (_, Value::Nan) => nan,
        (Value::Inf(a), Value::Inf(b)) if a != b => nan,
        (Value::Inf(_), _) => x,
        (_, Value::Inf(_)) => y,
        (Value::Finite(na, sa, la, _), Value::Finite(nb, sb, lb, _)) => {
            // Far apart, the smaller is a sticky bit below the larger's guard bits.
            let (hi, lo) = if sa == 0 || sb != 0 && lb > la {
                ((nb, sb, lb), (na, sa, la))
            } else {
                ((na, sa, la), (nb, sb, lb))
            };
            let signed = |n: bool, m: i128| if n { -m } else { m };
            let shift = hi.2 - lo.2;
            let (sum, q) = if lo.1 != 0 && (0..=60).contains(&shift) {
                (signed(hi.0, i128::from(hi.1) << shift) + signed(lo.0, i128::from(lo.1)), lo.2)
            } else if lo.1 != 0 && shift > 60 {
                (signed(hi.0, i128::from(hi.1) << 60) + signed(lo.0, 1), hi.2 - 60)
            } else {
                (signed(hi.0, i128::from(hi.1)), hi.2)
            };
            if sum == 0 {
                return if na && nb { 0x8000_0000 } else { 0 };
            }
            round(sum, q, Mode::Rne, 8, 23, 23, true)
        }
    }
}

/// The chain of one dot product, padded with +0 to the instruction's K.
pub fn dot(p: &Params, a: &[u32], b: &[u32], c: u32) -> u32 {
    let n = match p.family {
        Family::FusedWindow { block, .. } | Family::Cdna3Window { block } | Family::Pairwise { block } => {
            block
        }
        Family::Cdna3OddEven => 16,
        _ => p.k,
    };
    let mut d = c;
    let pad = a.len().next_multiple_of(p.k);
    let padded = |w: &[u32]| {
        let mut w = w.to_vec();
        w.resize(pad, 0);
        w
    };
    let (a, b) = (padded(a), padded(b));
    for k in (0..pad).step_by(n) {
        d = block(p, &a[k..k + n], &b[k..k + n], d);
    }
    d
}
