//! fp32 vectors of whole GEMM results: the additions that combine partial sums, and the scaled epilogue.
//! Words are IEEE values, so the host's own arithmetic computes them; NaN words are made canonical.

/// The canonical fp32 NaN of an FP8 GEMM's result.
const NAN: u32 = 0x7fff_ffff;

/// Output formats of the epilogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Out {
    Fp32,
    Bf16,
    Fp16,
    E4m3,
    E5m2,
}

impl Out {
    pub fn named(name: &str) -> Option<Out> {
        Some(match name {
            "fp32" => Out::Fp32,
            "bf16" => Out::Bf16,
            "fp16" => Out::Fp16,
            "e4m3" => Out::E4m3,
            "e5m2" => Out::E5m2,
            _ => return None,
        })
    }
}

fn is_nan(word: u32) -> bool {
    word & 0x7fff_ffff > 0x7f80_0000
}

/// sum += part, elementwise, fp32 RNE. A NaN of any payload stays a NaN; `canonicalise` gives it its word.
pub fn add_into(sum: &mut [u32], part: &[u32]) {
    for (s, &p) in sum.iter_mut().zip(part) {
        *s = (f32::from_bits(*s) + f32::from_bits(p)).to_bits();
    }
}

/// Every NaN word becomes 0x7FFFFFFF.
pub fn canonicalise(words: &mut [u32]) {
    for word in words {
        *word = if is_nan(*word) { NAN } else { *word };
    }
}

/// One word of the epilogue before its conversion: RN32(acc * alpha + 0), times the result's scale where given. The
/// double product of two fp32 values is exact.
fn scaled(acc: u32, alpha: f64, scale: Option<f32>) -> u32 {
    let y = (f64::from(f32::from_bits(acc)) * alpha + 0.0) as f32;
    match scale {
        Some(scale) => (y * scale).to_bits(),
        None => y.to_bits(),
    }
}

/// fp32 to bf16, RNE; overflow is Inf.
pub fn to_bf16(word: u32) -> u16 {
    if is_nan(word) {
        return 0x7fff;
    }
    ((word + 0x7fff + ((word >> 16) & 1)) >> 16) as u16
}

/// fp32 to `w` fraction bits and `bias`, RNE: the code without sign, `over` where it is above `max`.
fn narrow(word: u32, w: u32, bias: u32, max: u32, over: u32) -> u32 {
    let magnitude = word & 0x7fff_ffff;
    let drop = 23 - w;
    let exponent = magnitude >> 23;
    let code = if exponent > 127 - bias {
        let rebased = magnitude - ((127 - bias) << 23);
        (rebased + (1 << (drop - 1)) - 1 + ((rebased >> drop) & 1)) >> drop
    } else {
        // Below the smallest normal one unit is 2^(1 - bias - w); 25 places or more leave less than half of one.
        let shift = drop + 128 - bias - exponent;
        if exponent == 0 || shift > 25 {
            return 0;
        }
        let significand = (magnitude & 0x7f_ffff) | 0x80_0000;
        let kept = significand >> shift;
        let rest = significand & ((1 << shift) - 1);
        let half = 1 << (shift - 1);
        kept + u32::from(rest > half || (rest == half && kept & 1 == 1))
    };
    if code > max { over } else { code }
}

/// fp32 to fp16, RNE; overflow is Inf.
pub fn to_fp16(word: u32) -> u16 {
    if is_nan(word) {
        return 0x7fff;
    }
    ((word >> 16 & 0x8000) | narrow(word, 10, 15, 0x7bff, 0x7c00)) as u16
}

/// fp32 to e4m3 (`w` 3) or e5m2 (`w` 2), saturated, RNE.
fn to_fp8(word: u32, w: u32, bias: u32, max: u32) -> u8 {
    if is_nan(word) {
        return 0x7f;
    }
    ((word >> 24 & 0x80) | narrow(word, w, bias, max, max)) as u8
}

pub fn to_e4m3(word: u32) -> u8 {
    to_fp8(word, 3, 7, 0x7e)
}

pub fn to_e5m2(word: u32) -> u8 {
    to_fp8(word, 2, 15, 0x7b)
}

/// Where the epilogue writes: one word of the output format for each of the accumulator.
pub enum Results<'a> {
    Fp32(&'a mut [u32]),
    Bf16(&'a mut [u16]),
    Fp16(&'a mut [u16]),
    E4m3(&'a mut [u8]),
    E5m2(&'a mut [u8]),
}

fn fill<T>(acc: &[u32], d: &mut [T], alpha: f64, scale: Option<f32>, convert: impl Fn(u32) -> T) {
    for (d, &word) in d.iter_mut().zip(acc) {
        *d = convert(scaled(word, alpha, scale));
    }
}

/// The epilogue over accumulator words; `alpha` and `scale` (FP8 outputs only) are fp32 words.
pub fn epilogue(acc: &[u32], d: Results<'_>, alpha: u32, scale: Option<u32>) {
    let alpha = f64::from(f32::from_bits(alpha));
    let scale = scale.map(f32::from_bits);
    match d {
        Results::Fp32(d) => fill(acc, d, alpha, None, |word| if is_nan(word) { NAN } else { word }),
        Results::Bf16(d) => fill(acc, d, alpha, None, to_bf16),
        Results::Fp16(d) => fill(acc, d, alpha, None, to_fp16),
        Results::E4m3(d) => fill(acc, d, alpha, scale, to_e4m3),
        Results::E5m2(d) => fill(acc, d, alpha, scale, to_e5m2),
    }
}
