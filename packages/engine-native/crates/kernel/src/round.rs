//! Rounding of an exact value to a word.

use crate::events::{self, Events};
use crate::format::Format;
use crate::mutants::{self, Mutant};
use crate::spec::{Output, Rounding, Underflow};

/// A nonzero value (-1)^negative * (mag + rest) * 2^lsb with 0 <= rest < 1, rest nonzero iff `sticky`.
///
/// `mag` is nonzero. Where `sticky` is set, `mag` has at least three bits more than any precision asked of
/// `round`, so that the discarded part lies below the rounding position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    pub negative: bool,
    pub mag: u128,
    pub lsb: i32,
    pub sticky: bool,
}

impl Value {
    /// floor(log2 |value|).
    pub fn lead(&self) -> i32 {
        self.lsb + 127 - self.mag.leading_zeros() as i32
    }
}

/// Whether a discarded part rounds the magnitude up. `half`: discarded part against one half.
fn rounds_up(mode: Rounding, negative: bool, odd: bool, inexact: bool, half: std::cmp::Ordering) -> bool {
    match mode {
        Rounding::Zero => false,
        Rounding::Down => negative && inexact,
        Rounding::Up => !negative && inexact,
        Rounding::NearestEven => half.is_gt() || (half.is_eq() && odd),
    }
}

/// Word of `value` with `precision` fraction bits below its leading bit, the quantum not below
/// 2^(emin - precision); an exponent above the format's gives infinity in every mode (numerics section 2).
pub fn round(
    value: Value,
    format: &Format,
    mode: Rounding,
    precision: u32,
    underflow: Underflow,
    events: &mut Events,
) -> u64 {
    let p = precision as i32;
    let least = if mutants::on(Mutant::NoSubnormals) { format.emin() - 8 } else { format.emin() };
    let mut quantum = value.lead().max(least) - p;
    let shift = quantum - value.lsb;
    let mut kept: u128;
    if shift <= 0 {
        kept = value.mag << -shift;
    } else {
        let (rest, half) = if shift < 128 {
            kept = value.mag >> shift;
            (value.mag & ((1 << shift) - 1), 1u128 << (shift - 1))
        } else if shift == 128 {
            kept = 0;
            (value.mag, 1 << 127)
        } else {
            // Below a quarter of the quantum: only the fact that something was discarded matters.
            kept = 0;
            (1, 2)
        };
        let half = rest.cmp(&half).then(value.sticky.cmp(&false));
        let away = half.is_eq() && mutants::on(Mutant::TiesAway);
        let half = if away { std::cmp::Ordering::Greater } else { half };
        if rounds_up(mode, value.negative, kept & 1 == 1, rest != 0 || value.sticky, half) {
            kept += 1;
        }
    }
    if kept == 1 << (p + 1) && mutants::on(Mutant::NoCarry) {
        kept -= 1;
    }
    if kept == 1 << (p + 1) {
        kept >>= 1;
        quantum += 1;
    }
    if kept == 0 {
        events.note(events::UNDERFLOW);
        return match underflow {
            Underflow::Positive if mutants::on(Mutant::SignedUnderflow) => format.sign(value.negative),
            Underflow::Positive => 0,
            Underflow::Signed => format.sign(value.negative),
        };
    }
    let fraction = format.fraction_bits as i32;
    let magnitude = if kept >> p == 1 {
        let exponent = quantum + p;
        if exponent > format.emax() {
            events.note(events::OVERFLOW);
            if mutants::on(Mutant::OverflowSaturates) {
                return format.infinity(value.negative) - 1;
            }
            return format.infinity(value.negative);
        }
        // The hidden bit carries into the exponent field.
        (((exponent + format.bias - 1) as u64) << fraction) + ((kept as u64) << (fraction - p))
    } else {
        events.note(events::SUBNORMAL_RESULT);
        (kept as u64) << (fraction - p)
    };
    magnitude | format.sign(value.negative)
}

/// Ends a block step: `None` is an exact zero, which is +0.
pub fn finish(value: Option<Value>, output: &Output, events: &mut Events) -> u64 {
    match value {
        None => {
            events.note(events::ZERO_SUM);
            0
        }
        Some(value) => {
            round(value, output.format, output.rounding, output.precision, output.underflow, events)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{FP16, FP32};

    fn fp32(mag: u128, lsb: i32, mode: Rounding, precision: u32) -> u64 {
        let value = Value { negative: false, mag, lsb, sticky: false };
        round(value, &FP32, mode, precision, Underflow::Positive, &mut Events::default())
    }

    #[test]
    fn agrees_with_the_hosts_conversion_from_u64() {
        let mut state = 1u64;
        for _ in 0..100_000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let x = state >> (state & 63);
            if x != 0 {
                assert_eq!(fp32(x.into(), 0, Rounding::NearestEven, 23), u64::from((x as f32).to_bits()));
            }
        }
    }

    #[test]
    fn edges_of_the_range() {
        assert_eq!(fp32(1, 128, Rounding::Zero, 23), 0x7f80_0000);
        assert_eq!(fp32(0x1ff_ffff, 103, Rounding::NearestEven, 23), 0x7f80_0000);
        assert_eq!(fp32(0x1ff_ffff, 103, Rounding::Zero, 23), 0x7f7f_ffff);
        assert_eq!(fp32(1, -150, Rounding::NearestEven, 23), 0);
        assert_eq!(fp32(3, -151, Rounding::NearestEven, 23), 1);
        assert_eq!(fp32(1, -400, Rounding::Up, 23), 1);
        assert_eq!(fp32(0xff_ffff, -150, Rounding::NearestEven, 23), 0x0080_0000);
    }

    #[test]
    fn fewer_fraction_bits_stop_earlier_below_emin() {
        assert_eq!(fp32(0x3fff, 0, Rounding::Zero, 13), 0x467f_fc00);
        assert_eq!(fp32(0x7fff, 0, Rounding::Zero, 13), 0x46ff_fc00);
        assert_eq!(fp32(1, -139, Rounding::Zero, 13), 1 << 10);
        assert_eq!(fp32(1, -140, Rounding::Zero, 13), 0);
    }

    #[test]
    fn sign_of_an_underflow() {
        let tiny = Value { negative: true, mag: 1, lsb: -60, sticky: false };
        let events = &mut Events::default();
        assert_eq!(round(tiny, &FP16, Rounding::NearestEven, 10, Underflow::Positive, events), 0);
        assert_eq!(round(tiny, &FP16, Rounding::NearestEven, 10, Underflow::Signed, events), 0x8000);
        assert_eq!(round(tiny, &FP16, Rounding::Down, 10, Underflow::Signed, events), 0x8001);
    }
}
