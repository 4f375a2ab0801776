//! IEEE operations on words: one exact result, one rounding.

use crate::events::{self, Events};
use crate::format::{Class, Decoded};
use crate::mutants::{self, Mutant};
use crate::round::{Value, round};
use crate::spec::{Output, Rounding, Underflow};

/// x + y exactly, but for bits far below both the rounding position and any cancellation.
///
/// The larger term is shifted to have its leading bit at 124. Significands have at most 106 bits, so bits of the
/// other are lost only where it lies at least 2 binades lower; then the sum keeps its leading bit above 122 and the
/// lost part is at bit 0, far below 53 bits of precision.
fn exact_sum(x: Value, y: Value) -> Option<Value> {
    let (high, low) = if x.lead() >= y.lead() { (x, y) } else { (y, x) };
    let up = high.mag.leading_zeros() as i32 - 3;
    let lsb = high.lsb - up;
    let high_sig = signed(high.negative, high.mag << up);
    let shift = low.lsb - lsb;
    let (low_mag, sticky) = match shift {
        0.. => (low.mag << shift, false),
        -127..0 => (low.mag >> -shift, low.mag & ((1 << -shift) - 1) != 0),
        _ => (0, true),
    };
    // A lost part is kept as one odd unit: it orders the sum against every coarser boundary.
    let sum = high_sig + signed(low.negative, low_mag | u128::from(sticky));
    let mag = sum.unsigned_abs();
    (sum != 0).then_some(Value { negative: sum < 0, mag, lsb, sticky: false })
}

fn signed(negative: bool, mag: u128) -> i128 {
    if negative { -(mag as i128) } else { mag as i128 }
}

/// One factor or product: class, sign, and significand, which is 0 for a zero.
#[derive(Clone, Copy, Debug)]
pub struct Exact {
    pub class: Class,
    pub negative: bool,
    pub sig: u128,
    pub lsb: i32,
}

impl From<Decoded> for Exact {
    fn from(x: Decoded) -> Exact {
        Exact { class: x.class, negative: x.negative, sig: x.sig.into(), lsb: x.lsb }
    }
}

impl Exact {
    /// a * b. NaN where either is, or where an infinity meets a zero.
    pub fn product(a: Exact, b: Exact) -> Exact {
        let zero = |x: Exact| x.class == Class::Finite && x.sig == 0;
        let class = match (a.class, b.class) {
            (Class::Nan, _) | (_, Class::Nan) => Class::Nan,
            (Class::Infinite, _) | (_, Class::Infinite) if zero(a) || zero(b) => Class::Nan,
            (Class::Infinite, _) | (_, Class::Infinite) => Class::Infinite,
            _ => Class::Finite,
        };
        Exact { class, negative: a.negative != b.negative, sig: a.sig * b.sig, lsb: a.lsb + b.lsb }
    }
}

/// An operation's rounding and format, whose full precision it keeps; `flush`: a subnormal result becomes a zero of its sign.
#[derive(Clone, Copy)]
pub struct Arithmetic<'a> {
    pub output: &'a Output,
    pub rounding: Rounding,
    pub flush: bool,
}

impl Arithmetic<'_> {
    /// x + y, rounded once. Opposite infinities and any NaN give NaN; x - x is +0, or -0 under RD.
    pub fn add(&self, x: Exact, y: Exact, events: &mut Events) -> u64 {
        let format = self.output.format;
        match (x.class, y.class) {
            (Class::Nan, _) | (_, Class::Nan) => return self.output.nan,
            (Class::Infinite, Class::Infinite) if x.negative != y.negative => return self.output.nan,
            (Class::Infinite, _) => return format.infinity(x.negative),
            (_, Class::Infinite) => return format.infinity(y.negative),
            _ => {}
        }
        let exact = |x: Exact| Value { negative: x.negative, mag: x.sig, lsb: x.lsb, sticky: false };
        let sum = match (x.sig, y.sig) {
            (0, 0) if x.negative == y.negative => return format.sign(x.negative),
            (0, 0) => None,
            (0, _) => Some(exact(y)),
            (_, 0) => Some(exact(x)),
            _ => exact_sum(exact(x), exact(y)),
        };
        match sum {
            Some(sum) => self.round(sum, events),
            None => format.sign(self.rounding == Rounding::Down),
        }
    }

    /// The word of a product.
    pub fn convert(&self, x: Exact, events: &mut Events) -> u64 {
        let format = self.output.format;
        match x.class {
            Class::Nan => self.output.nan,
            Class::Infinite => format.infinity(x.negative),
            Class::Finite if x.sig == 0 => format.sign(x.negative),
            Class::Finite => {
                let value = Value { negative: x.negative, mag: x.sig, lsb: x.lsb, sticky: false };
                self.round(value, events)
            }
        }
    }

    pub fn decode(&self, word: u64) -> Exact {
        self.output.format.decode(word).into()
    }

    fn round(&self, value: Value, events: &mut Events) -> u64 {
        let format = self.output.format;
        let word = round(value, format, self.rounding, format.fraction_bits, Underflow::Signed, events);
        if self.flush { self.flushed(word, events) } else { word }
    }

    /// The word, or a zero of its sign where it is subnormal.
    pub fn flushed(&self, word: u64, events: &mut Events) -> u64 {
        let x = self.output.format.decode(word);
        if mutants::on(Mutant::NoFlush) {
            return word;
        }
        if x.class == Class::Finite && x.sig != 0 && x.sig >> self.output.format.fraction_bits == 0 {
            events.note(events::FLUSHED);
            return self.output.format.sign(x.negative);
        }
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{FP32, FP64};
    use crate::spec::Underflow;

    fn output(format: &'static crate::format::Format, nan: u64) -> Output {
        Output {
            format,
            rounding: Rounding::NearestEven,
            precision: format.fraction_bits,
            underflow: Underflow::Signed,
            nan,
        }
    }

    /// Words whose exponents meet often: fields drawn apart.
    fn word(state: &mut u64, exponent_bits: u32, fraction_bits: u32, near: u64) -> u64 {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let r = *state >> 3;
        let range = (1u64 << exponent_bits) - 1;
        let exponent =
            if r & 7 == 0 { (r >> 8) % (range + 1) } else { near.wrapping_add((r >> 8) % 60) % range };
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let fraction = (*state >> 10) & ((1 << fraction_bits) - 1);
        (r & 1) << (exponent_bits + fraction_bits) | exponent << fraction_bits | fraction
    }

    #[test]
    fn add_and_fma_agree_with_the_host() {
        let single = output(&FP32, 0x7fc0_0000);
        let double = output(&FP64, 0x7ff8_0000_0000_0000);
        let op32 = Arithmetic { output: &single, rounding: Rounding::NearestEven, flush: false };
        let op64 = Arithmetic { output: &double, rounding: Rounding::NearestEven, flush: false };
        let events = &mut Events::default();
        let mut state = 3;
        for i in 0..300_000u64 {
            let near = [0, 100, 215][(i % 3) as usize];
            let [a, b, c] = [0; 3].map(|_| word(&mut state, 8, 23, near));
            let [x, y, z] = [a, b, c].map(|w| f32::from_bits(w as u32));
            let want = |v: f32| if v.is_nan() { 0x7fc0_0000 } else { u64::from(v.to_bits()) };
            assert_eq!(op32.add(op32.decode(a), op32.decode(b), events), want(x + y), "{a:x} {b:x}");
            let product = Exact::product(op32.decode(a), op32.decode(b));
            assert_eq!(op32.add(product, op32.decode(c), events), want(x.mul_add(y, z)), "{a:x} {b:x} {c:x}");
            assert_eq!(op32.convert(product, events), want(x * y), "{a:x} {b:x}");

            let near = [0, 1000, 1960][(i % 3) as usize];
            let [a, b, c] = [0; 3].map(|_| word(&mut state, 11, 52, near));
            let [x, y, z] = [a, b, c].map(f64::from_bits);
            let want = |v: f64| if v.is_nan() { 0x7ff8_0000_0000_0000 } else { v.to_bits() };
            assert_eq!(op64.add(op64.decode(a), op64.decode(b), events), want(x + y), "{a:x} {b:x}");
            let product = Exact::product(op64.decode(a), op64.decode(b));
            assert_eq!(op64.add(product, op64.decode(c), events), want(x.mul_add(y, z)), "{a:x} {b:x} {c:x}");
        }
    }

    #[test]
    fn signs_of_zero() {
        let single = output(&FP32, 0x7fc0_0000);
        let op = Arithmetic { output: &single, rounding: Rounding::NearestEven, flush: false };
        let events = &mut Events::default();
        let minus = 0x8000_0000;
        assert_eq!(op.add(op.decode(minus), op.decode(minus), events), minus);
        assert_eq!(op.add(op.decode(minus), op.decode(0), events), 0);
        assert_eq!(op.add(op.decode(0x3f80_0000), op.decode(0xbf80_0000), events), 0);
        let down = Arithmetic { rounding: Rounding::Down, ..op };
        assert_eq!(down.add(op.decode(0x3f80_0000), op.decode(0xbf80_0000), events), minus);
    }
}
