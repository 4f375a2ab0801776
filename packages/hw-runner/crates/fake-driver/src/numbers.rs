//! Words as numbers, for the fake matrix unit: sums in f64, one rounding at the end. Exact for the small values that
//! tests use; no model of any device's arithmetic.

fn float(word: u64, exponent_bits: u32, fraction_bits: u32, bias: i32) -> f64 {
    let sign = if word >> (exponent_bits + fraction_bits) & 1 == 1 { -1.0 } else { 1.0 };
    let exponent = (word >> fraction_bits & ((1 << exponent_bits) - 1)) as i32;
    let fraction = (word & ((1 << fraction_bits) - 1)) as f64 / (1u64 << fraction_bits) as f64;
    let value =
        if exponent == 0 { fraction * 2f64.powi(1 - bias) } else { (1.0 + fraction) * 2f64.powi(exponent - bias) };
    sign * value
}

/// The number that a word of a PTX or AMD type stands for (specials of the 8-bit formats aside).
pub fn decode(token: &str, word: u64) -> f64 {
    match token {
        "f64" => f64::from_bits(word),
        "f32" => f64::from(f32::from_bits(word as u32)),
        "tf32" | "xf32" => f64::from(f32::from_bits(word as u32 & 0xffff_e000)),
        "bf16" => f64::from(f32::from_bits((word as u32) << 16)),
        "f16" => {
            if word & 0x7c00 == 0x7c00 {
                let special = if word & 0x3ff == 0 { f64::INFINITY } else { f64::NAN };
                return if word & 0x8000 != 0 { -special } else { special };
            }
            float(word, 5, 10, 15)
        }
        "e5m2" => float(word, 5, 2, 15),
        "e4m3" => float(word, 4, 3, 7),
        "bf8" => float(word, 5, 2, 16),
        "fp8" => float(word, 4, 3, 8),
        "e3m2" => float(word, 3, 2, 3),
        "e2m3" => float(word, 2, 3, 1),
        "e2m1" => float(word, 2, 1, 1),
        "ue4m3" => float(word & 0x7f, 4, 3, 7),
        "ue8m0" => 2f64.powi(word as i32 - 127),
        "s8" => f64::from(word as u8 as i8),
        "u8" => f64::from(word as u8),
        "s32" => f64::from(word as u32 as i32),
        other => panic!("no type {other}"),
    }
}

/// The word of a sum in the result type.
pub fn encode(token: &str, value: f64, saturate: bool) -> u64 {
    match token {
        "f64" => value.to_bits(),
        "f32" => u64::from((value as f32).to_bits()),
        "s32" => {
            let exact = value as i64;
            let word =
                if saturate { exact.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32 } else { exact as i32 };
            u64::from(word as u32)
        }
        "f16" => half(value),
        other => panic!("no result type {other}"),
    }
}

/// Nearest fp16 word, ties to even.
fn half(value: f64) -> u64 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    if magnitude.is_nan() {
        return 0x7fff;
    }
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    let exponent = if magnitude < 2f64.powi(-14) { -14 } else { magnitude.log2().floor() as i32 };
    let steps = magnitude / 2f64.powi(exponent - 10);
    let mut rounded = steps.round();
    if (steps - steps.floor() - 0.5).abs() < f64::EPSILON && rounded % 2.0 != 0.0 {
        rounded -= 1.0;
    }
    let steps = rounded as u64;
    if exponent == -14 && steps < 1024 {
        return sign | steps;
    }
    // Steps of 2048 carry into the exponent by themselves.
    sign | (((exponent + 15) as u64) << 10).wrapping_add(steps).wrapping_sub(1024)
}
