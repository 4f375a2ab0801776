//! What the families need to know of an op's operands.

use crate::format::{Format, Kind};
use crate::spec::MmaOp;

/// Constants of one op's products and addends.
#[derive(Clone, Debug)]
pub struct Unit {
    /// K terms of one instruction.
    pub k: usize,
    /// Fraction bits of a product: its lsb is e - fraction.
    pub fraction: i32,
    /// Factors of a product, each below 2 times its encoded power of two.
    pub factors: i32,
    /// Least and largest exponent of a nonzero product, scales left out.
    pub exponents: (i32, i32),
    /// Least and largest exponent of a pair of scales.
    pub scale_exponents: (i32, i32),
    /// k positions that share a scale, or 0.
    pub scale_block: usize,
    /// Format of c at a chain's start.
    pub c: &'static Format,
    /// Format of d, and of c at every later step.
    pub d: &'static Format,
}

/// Bounds of a format's encoded exponents.
fn exponents(format: &Format) -> (i32, i32) {
    match format.kind {
        Kind::Integer => (0, 0),
        Kind::Exponent => (-format.bias, 254 - format.bias),
        Kind::Float => (format.emin(), (1 << format.exponent_bits) - 1 - format.bias),
    }
}

impl Unit {
    pub fn new(op: &MmaOp) -> Unit {
        let (a, b) = (exponents(op.a), exponents(op.b));
        let scale = op.scaling.as_ref().map(|scaling| scaling.format);
        let s = scale.map_or((0, 0), exponents);
        let scale_fraction = scale.map_or(0, |format| format.fraction_bits);
        Unit {
            k: op.k,
            fraction: (op.a.fraction_bits + op.b.fraction_bits + 2 * scale_fraction) as i32,
            factors: if scale.is_some() { 4 } else { 2 },
            exponents: (a.0 + b.0, a.1 + b.1),
            scale_exponents: (2 * s.0, 2 * s.1),
            scale_block: op.scaling.as_ref().map_or(0, |scaling| scaling.block),
            c: op.c,
            d: op.d,
        }
    }

    /// Bits of one product's significand with its sign.
    pub fn product_bits(&self) -> i32 {
        self.fraction + self.factors + 1
    }

    /// Bits of a sum of `terms` terms that keep `fraction` bits below the largest exponent, with its sign; c among
    /// them is an addend of `fraction` bits too. One bit for the carry of each kind of rounding.
    pub fn window_bits(&self, fraction: i32, terms: usize) -> i32 {
        fraction.max(self.d.fraction_bits as i32).max(0) + self.factors + log2_ceil(terms + 1) + 3
    }
}

/// Smallest n with 2^n >= x.
pub fn log2_ceil(x: usize) -> i32 {
    x.next_power_of_two().trailing_zeros() as i32
}
