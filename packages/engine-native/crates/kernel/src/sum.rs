//! Fixed-point sums of three widths: 64 bits, 128 bits, and as many limbs as an op needs.

use crate::round::Value;
use crate::spec::Rounding;

/// A two's complement integer that counts quanta. Its user guarantees by `width` that nothing overflows.
pub trait Sum: Copy {
    /// Holds the significand of one product or addend, sign included.
    type Sig: Copy + Into<i128>;
    const ZERO: Self;
    fn sig(value: i64) -> Self::Sig;
    fn product(a: i64, b: i64) -> Self::Sig;
    /// sig * 2^shift, cut by `mode` where shift is negative.
    fn place(sig: Self::Sig, shift: i32, mode: Rounding) -> Self;
    /// `place` by RZ.
    fn toward_zero(sig: Self::Sig, shift: i32) -> Self {
        Self::place(sig, shift, Rounding::Zero)
    }
    fn add(self, other: Self) -> Self;
    /// self * 2^shift, cut by `mode` where shift is negative.
    fn shift(self, shift: i32, mode: Rounding) -> Self;
    /// The sum as a value whose unit is 2^lsb; None where it is zero.
    fn value(self, lsb: i32) -> Option<Value>;
}

macro_rules! primitive {
    ($name:ident, $int:ty, $uint:ty) => {
        /// value / 2^bits, cut by `mode`; bits is positive.
        fn $name(value: $int, bits: u32, mode: Rounding) -> $int {
            if bits >= <$int>::BITS {
                // |value| < 2^(BITS-1) is below half of 2^bits; a discarded part moves RD and RU only.
                return match mode {
                    Rounding::Down if value < 0 => -1,
                    Rounding::Up if value > 0 => 1,
                    _ => 0,
                };
            }
            let floor = value >> bits;
            let rest = value as $uint & (((1 as $uint) << bits) - 1);
            match mode {
                Rounding::Zero => {
                    (value + ((value >> (<$int>::BITS - 1)) & ((((1 as $uint) << bits) - 1) as $int))) >> bits
                }
                Rounding::Down => floor,
                Rounding::Up => floor + (rest != 0) as $int,
                Rounding::NearestEven => {
                    let half = (1 as $uint) << (bits - 1);
                    floor + (rest > half || (rest == half && floor & 1 == 1)) as $int
                }
            }
        }
    };
}

primitive!(cut64, i64, u64);
primitive!(cut128, i128, u128);

impl Sum for i64 {
    type Sig = i64;
    const ZERO: i64 = 0;

    fn sig(value: i64) -> i64 {
        value
    }

    fn product(a: i64, b: i64) -> i64 {
        a * b
    }

    fn place(sig: i64, shift: i32, mode: Rounding) -> i64 {
        sig.shift(shift, mode)
    }

    #[inline(always)]
    fn toward_zero(sig: i64, shift: i32) -> i64 {
        let up = sig << shift.max(0);
        let down = (-shift).clamp(0, 63);
        (up + ((up >> 63) & ((1i64 << down).wrapping_sub(1)))) >> down
    }

    fn add(self, other: i64) -> i64 {
        self + other
    }

    #[inline]
    fn shift(self, shift: i32, mode: Rounding) -> i64 {
        if shift >= 0 {
            debug_assert!(self == 0 || self.unsigned_abs().leading_zeros() as i32 > shift);
            self << shift
        } else {
            cut64(self, shift.unsigned_abs(), mode)
        }
    }

    fn value(self, lsb: i32) -> Option<Value> {
        let mag = u128::from(self.unsigned_abs());
        (self != 0).then_some(Value { negative: self < 0, mag, lsb, sticky: false })
    }
}

impl Sum for i128 {
    type Sig = i128;
    const ZERO: i128 = 0;

    fn sig(value: i64) -> i128 {
        value.into()
    }

    fn product(a: i64, b: i64) -> i128 {
        i128::from(a) * i128::from(b)
    }

    fn place(sig: i128, shift: i32, mode: Rounding) -> i128 {
        sig.shift(shift, mode)
    }

    fn add(self, other: i128) -> i128 {
        self + other
    }

    fn shift(self, shift: i32, mode: Rounding) -> i128 {
        if shift >= 0 {
            debug_assert!(self == 0 || self.unsigned_abs().leading_zeros() as i32 > shift);
            self << shift
        } else {
            cut128(self, shift.unsigned_abs(), mode)
        }
    }

    fn value(self, lsb: i32) -> Option<Value> {
        let mag = self.unsigned_abs();
        (self != 0).then_some(Value { negative: self < 0, mag, lsb, sticky: false })
    }
}

/// N 64-bit limbs, lowest first, two's complement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wide<const N: usize>([u64; N]);

impl<const N: usize> Wide<N> {
    fn from_i128(value: i128) -> Self {
        let fill = (value >> 127) as u64;
        Wide(std::array::from_fn(|i| match i {
            0 => value as u64,
            1 => (value >> 64) as u64,
            _ => fill,
        }))
    }

    fn is_negative(&self) -> bool {
        (self.0[N - 1] as i64) < 0
    }

    fn is_zero(&self) -> bool {
        self.0.iter().all(|&limb| limb == 0)
    }

    fn negated(&self) -> Self {
        let mut carry = true;
        Wide(self.0.map(|limb| {
            let (sum, overflow) = (!limb).overflowing_add(u64::from(carry));
            carry = overflow;
            sum
        }))
    }

    fn left(&self, bits: u32) -> Self {
        let (limbs, bits) = ((bits / 64) as usize, bits % 64);
        let at = |i: usize| if i < limbs { 0 } else { self.0[i - limbs] };
        Wide(std::array::from_fn(|i| match bits {
            0 => at(i),
            _ => at(i) << bits | i.checked_sub(1).map_or(0, &at) >> (64 - bits),
        }))
    }

    /// floor(self / 2^bits).
    fn floor(&self, bits: u32) -> Self {
        let fill = if self.is_negative() { u64::MAX } else { 0 };
        let (limbs, bits) = ((bits / 64) as usize, bits % 64);
        let at = |i: usize| self.0.get(i + limbs).copied().unwrap_or(fill);
        Wide(std::array::from_fn(|i| match bits {
            0 => at(i),
            _ => at(i) >> bits | at(i + 1) << (64 - bits),
        }))
    }

    fn bit(&self, index: u32) -> bool {
        let fill = u64::from(self.is_negative());
        let limb = self.0.get((index / 64) as usize).copied();
        limb.map_or(fill, |limb| limb >> (index % 64) & 1) == 1
    }

    /// Whether any of the lowest `bits` bits is set.
    fn any_below(&self, bits: u32) -> bool {
        let limbs = (bits / 64) as usize;
        let part = self.0.get(limbs).is_some_and(|limb| limb & ((1 << (bits % 64)) - 1) != 0);
        part || self.0.iter().take(limbs).any(|&limb| limb != 0)
    }

    fn cut(&self, bits: u32, mode: Rounding) -> Self {
        let floor = self.floor(bits);
        let up = match mode {
            Rounding::Down => false,
            Rounding::Zero => self.is_negative() && self.any_below(bits),
            Rounding::Up => self.any_below(bits),
            Rounding::NearestEven => self.bit(bits - 1) && (floor.bit(0) || self.any_below(bits - 1)),
        };
        if up { floor.add(Self::from_i128(1)) } else { floor }
    }
}

impl<const N: usize> Sum for Wide<N> {
    type Sig = i128;
    const ZERO: Self = Wide([0; N]);

    fn sig(value: i64) -> i128 {
        value.into()
    }

    fn product(a: i64, b: i64) -> i128 {
        i128::from(a) * i128::from(b)
    }

    fn place(sig: i128, shift: i32, mode: Rounding) -> Self {
        if shift >= 0 {
            Self::from_i128(sig).left(shift.unsigned_abs())
        } else {
            Self::from_i128(cut128(sig, shift.unsigned_abs(), mode))
        }
    }

    fn add(self, other: Self) -> Self {
        let mut carry = false;
        Wide(std::array::from_fn(|i| {
            let (sum, first) = self.0[i].overflowing_add(other.0[i]);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            carry = first | second;
            sum
        }))
    }

    fn shift(self, shift: i32, mode: Rounding) -> Self {
        if shift >= 0 { self.left(shift.unsigned_abs()) } else { self.cut(shift.unsigned_abs(), mode) }
    }

    fn value(self, lsb: i32) -> Option<Value> {
        if self.is_zero() {
            return None;
        }
        let negative = self.is_negative();
        let magnitude = if negative { self.negated() } else { self };
        let top = magnitude.0.iter().rposition(|&limb| limb != 0)?;
        // 128 bits from the leading one down; precisions are at most 52 bits.
        let lead = top as u32 * 64 + 63 - magnitude.0[top].leading_zeros();
        let drop = lead.saturating_sub(127);
        let kept = magnitude.floor(drop);
        let mag = u128::from(kept.0[0]) | u128::from(*kept.0.get(1).unwrap_or(&0)) << 64;
        Some(Value { negative, mag, lsb: lsb + drop as i32, sticky: magnitude.any_below(drop) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODES: [Rounding; 4] = [Rounding::Zero, Rounding::NearestEven, Rounding::Down, Rounding::Up];

    fn samples() -> impl Iterator<Item = (i64, i32)> {
        let mut state = 7u64;
        (0..20_000).map(move |_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let x = (state >> 8) as i64 >> (state % 56) as u32;
            (if state & 128 == 0 { x } else { -x }, (state >> 33) as i32 % 70 - 66)
        })
    }

    #[test]
    fn widths_agree() {
        for (x, shift) in samples() {
            for mode in MODES {
                let wide = Wide::<4>::place(x.into(), shift, mode).value(0);
                assert_eq!(i128::place(x.into(), shift, mode).value(0), wide, "{x} {shift} {mode:?}");
                let far = Wide::<6>::place(x.into(), 190, mode).shift(shift - 190, mode).value(0);
                assert_eq!(wide, far, "{x} {shift} {mode:?}");
                if shift <= 0 {
                    assert_eq!(i64::place(x, shift, mode).value(0), wide, "{x} {shift} {mode:?}");
                }
                if mode == Rounding::Zero && shift <= 0 {
                    assert_eq!(i64::toward_zero(x, shift).value(0), wide, "{x} {shift}");
                }
            }
        }
    }

    #[test]
    fn cuts_by_definition() {
        for (x, shift) in samples().filter(|&(_, shift)| (-60..0).contains(&shift)) {
            let unit = 1i128 << -shift;
            let (x, floor) = (i128::from(x), i128::from(x).div_euclid(unit));
            let twice = 2 * x.rem_euclid(unit);
            let nearest = floor + i128::from(twice > unit || (twice == unit && floor % 2 != 0));
            assert_eq!(cut128(x, shift.unsigned_abs(), Rounding::Zero), x / unit);
            assert_eq!(cut128(x, shift.unsigned_abs(), Rounding::Down), floor);
            assert_eq!(cut128(x, shift.unsigned_abs(), Rounding::Up), -(-x).div_euclid(unit));
            assert_eq!(cut128(x, shift.unsigned_abs(), Rounding::NearestEven), nearest);
        }
    }

    #[test]
    fn wide_sums_keep_what_lies_below_128_bits() {
        let sum = Wide::<6>::place(1, 300, Rounding::Zero).add(Wide::place(-1, 0, Rounding::Zero));
        let value = sum.value(-10).unwrap();
        assert_eq!((value.negative, value.mag, value.sticky), (false, u128::MAX, true));
        assert_eq!(value.lead(), 289);
    }
}
