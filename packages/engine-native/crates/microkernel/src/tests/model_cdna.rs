//! AMD's windows, trees and exact sums of the model.

use crate::params::{Format, Output, Params};
use crate::tests::model::{Value, decode, finish, out, products, specials, term};

/// CDNA1 (numerics 4.3): every term in 32-bit digits above 2^-320, the sum rounded once.
pub fn exact(pairs: &[(Value, Value)], c: u32, o: Output) -> u32 {
    const LOW: i32 = -320;
    let c = decode(Format::Fp32, c);
    if let Some(word) = specials(pairs, c, &out(o, true)) {
        return word;
    }
    let mut digits = [0i64; 24];
    for t in products(pairs).into_iter().chain(term(c)) {
        let shift = (t.lsb - LOW) as u32;
        let wide = u128::from(t.sig) << (shift % 32);
        for i in 0..4 {
            let digit = (wide >> (32 * i)) as u32;
            digits[(shift / 32 + i) as usize] += if t.neg { -i64::from(digit) } else { i64::from(digit) };
        }
    }
    let carry = |digits: &mut [i64; 24]| {
        for i in 0..23 {
            let up = digits[i] >> 32;
            digits[i] -= up << 32;
            digits[i + 1] += up;
        }
    };
    carry(&mut digits);
    let neg = digits[23] < 0;
    if neg {
        digits = digits.map(|d| -d);
        carry(&mut digits);
    }
    let Some(top) = digits.iter().rposition(|&d| d != 0) else { return 0 };
    let low = top.saturating_sub(2);
    let head = digits[low..=top].iter().rev().fold(0, |head, &d| head << 32 | i128::from(d));
    // What lies below 64 bits and more is one odd unit.
    let sticky = i128::from(digits[..low].iter().any(|&d| d != 0));
    let head = head << 1 | sticky;
    finish(o, if neg { -head } else { head }, LOW + 32 * low as i32 - 1)
}

fn flushed(x: f32) -> f32 {
    if x.abs() < f32::MIN_POSITIVE { 0f32.copysign(x) } else { x }
}

/// CDNA2 (numerics 4.4) with the host's fp32 operations; special operands of a and b are left to IEEE, kernels hand
/// back every element that has one.
pub fn pairwise(p: &Params, a: &[u32], b: &[u32], c: u32) -> u32 {
    let number = |f: Format, w: u32| match decode(f, w) {
        Value::Nan => f32::NAN,
        Value::Inf(n) => {
            if n {
                f32::NEG_INFINITY
            } else {
                f32::INFINITY
            }
        }
        Value::Finite(n, sig, lsb, _) => {
            let m = sig as f64 * 2f64.powi(lsb);
            let subnormal = m < 2f64.powi(if f == Format::Fp16 { -14 } else { -126 });
            let m = if subnormal { 0.0 } else { m as f32 };
            if n { -m } else { m }
        }
    };
    let mut level: Vec<f32> =
        a.iter().zip(b).map(|(x, y)| flushed(number(p.a, *x) * number(p.b, *y))).collect();
    while level.len() > 1 {
        level = level.chunks(2).map(|pair| flushed(pair[0] + pair[1])).collect();
    }
    let c = flushed(f32::from_bits(c));
    let d = if c.is_infinite() { c } else { flushed(c + level[0]) };
    if d.is_nan() { 0xFFC0_0000 } else { d.to_bits() }
}

/// floor to 2^q of s * 2^from, in units of 2^q where q > from, else unchanged; with the new unit.
fn floor_to(s: i128, from: i32, q: i32) -> (i128, i32) {
    if q > from { (if q - from > 120 { s >> 120 >> 7 } else { s >> (q - from) }, q) } else { (s, from) }
}

/// x * 2^qx + y * 2^qy, exactly.
fn sum_of(x: (i128, i32), y: (i128, i32)) -> (i128, i32) {
    match (x.0, y.0) {
        (0, _) => y,
        (_, 0) => x,
        _ => {
            let q = x.1.min(y.1);
            assert!((x.1 - q).max(y.1 - q) < 60);
            ((x.0 << (x.1 - q)) + (y.0 << (y.1 - q)), q)
        }
    }
}

/// Numerics 4.5 and 4.6.
pub fn cdna3(pairs: &[(Value, Value)], c: u32, odd_even: bool) -> u32 {
    let o = Output::Fp32Rne;
    let out = out(o, true);
    let cv = decode(Format::Fp32, c);
    if let Some(word) = specials(pairs, cv, &out) {
        return word;
    }
    let terms = products(pairs);
    let large =
        |neg: bool| terms.iter().any(|t| t.neg == neg && t.lsb + 63 - t.sig.leading_zeros() as i32 >= 128);
    match (large(false), large(true)) {
        (true, true) => return out.nan,
        (true, false) => return out.inf,
        (false, true) => return out.inf | out.sign,
        _ => {}
    }
    let Value::Finite(neg, sig, c_lsb, e_c) = cv else { unreachable!() };
    let addend = (if neg { -i128::from(sig) } else { i128::from(sig) }, c_lsb);
    let window = |pairs: &[(Value, Value)]| {
        let terms = products(pairs);
        let e = terms.iter().map(|t| t.e).max()?;
        Some((e, (terms.iter().map(|t| t.cut(e - 24)).sum::<i128>(), e - 24)))
    };
    let (e_p, s) = if odd_even {
        let pick = |odd: usize| pairs.iter().copied().skip(odd).step_by(2).collect::<Vec<_>>();
        let (x, y) = (window(&pick(0)), window(&pick(1)));
        let e = x.map(|x| x.0).max(y.map(|y| y.0));
        let part =
            |w: Option<(i32, (i128, i32))>| w.map_or((0, 0), |w| floor_to(w.1.0, w.1.1, e.unwrap() - 24));
        (e, sum_of(part(x), part(y)))
    } else {
        let w = window(pairs);
        (w.map(|w| w.0), w.map_or((0, 0), |w| w.1))
    };
    let e_c = if sig == 0 { -126 } else { e_c };
    let total = match e_p {
        Some(e_p) if e_p >= e_c => {
            let far = odd_even && e_p - e_c > 25;
            sum_of(s, if far { (0, 0) } else { floor_to(addend.0, addend.1, e_p - 24) })
        }
        _ => {
            let (a, q) = sum_of(floor_to(s.0, s.1, e_c - 32), addend);
            if a == 0 {
                return 0;
            }
            let n = (q + 127 - a.unsigned_abs().leading_zeros() as i32).max(-126);
            floor_to(a, q, n - 31)
        }
    };
    if total.0 == 0 { 0 } else { finish(o, total.0, total.1) }
}
