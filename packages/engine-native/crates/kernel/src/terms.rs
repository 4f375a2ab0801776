//! Decoded operands of one instruction, and the products of one block step.

use crate::format::{Class, Format};
use crate::mutants::{self, Mutant};
use crate::spec::Rounding;
use crate::sum::Sum;

pub const NAN: u32 = 1;
pub const INFINITE: u32 = 2;
/// Position that the metadata leaves out: absent from everything, special values included.
pub const ABSENT: u32 = 4;
/// Sign of the element, of a zero too.
pub const NEGATIVE: u32 = 8;
/// The position's scale is NaN; counts where the position is absent too.
pub const SCALE_NAN: u32 = 16;
/// What sends a block to the rules for special values.
pub const SPECIAL: u32 = NAN | INFINITE | SCALE_NAN;

/// Exponent of an empty set of terms, below every sum of encoded exponents.
pub const NO_EXPONENT: i32 = i32::MIN / 2;
/// Exponent of a zero element: its products lie below every nonzero one, and above NO_EXPONENT.
const ZERO_EXPONENT: i32 = -(1 << 24);
/// Least exponent of a nonzero product; encoded exponents lie within 2^13.
const LEAST_EXPONENT: i32 = -(1 << 20);

/// An element, its scale multiplied in: value sig * 2^(e - fraction bits of its factors). A zero has ZERO_EXPONENT, an
/// infinity sig = +-1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elem {
    pub sig: i64,
    pub e: i32,
    pub flags: u32,
}

/// The +0 that pads a chain's end.
pub const PADDING: Elem = Elem { sig: 0, e: ZERO_EXPONENT, flags: 0 };

impl Elem {
    pub fn decode(format: &Format, word: u64, flush: bool) -> Elem {
        let x = format.decode(word);
        let mut flags = if x.negative { NEGATIVE } else { 0 };
        let mut sig = x.sig;
        match x.class {
            Class::Finite => {
                if flush && sig >> format.fraction_bits == 0 {
                    sig = 0;
                }
            }
            Class::Infinite => {
                flags |= INFINITE;
                sig = 1;
            }
            Class::Nan => {
                flags |= NAN;
                sig = 0;
            }
        }
        let e = if sig == 0 && !mutants::on(Mutant::ZeroExponent) { ZERO_EXPONENT } else { x.e };
        Elem { sig: if x.negative { -(sig as i64) } else { sig as i64 }, e, flags }
    }

    /// The element times its block's scale, `exponent` the scale's. Inf * 0 is NaN.
    pub fn scaled(self, scale: Elem, exponent: i32) -> Elem {
        let mut flags = self.flags;
        if scale.flags & NAN != 0 && !(mutants::on(Mutant::QuietScaleNan) && self.sig == 0) {
            flags |= SCALE_NAN;
        }
        if self.flags & INFINITE != 0 && scale.sig == 0 && flags & ABSENT == 0 {
            flags = flags & !INFINITE | NAN;
        }
        let sig = self.sig * scale.sig;
        Elem { sig, e: if sig == 0 { ZERO_EXPONENT } else { self.e + exponent }, flags }
    }

    /// The unscaled element as a host number, exactly; `fraction`: its format's fraction bits.
    pub fn float(self, fraction: i32) -> f64 {
        let magnitude = if self.flags & NAN != 0 {
            f64::NAN
        } else if self.flags & INFINITE != 0 {
            f64::INFINITY
        } else if self.sig == 0 {
            0.0
        } else if fraction == 52 {
            // fp64: the hidden bit of a normal number carries into the exponent field.
            let hidden = self.sig.unsigned_abs() >> 52;
            f64::from_bits((((self.e + 1022) as u64) << 52) * hidden + self.sig.unsigned_abs())
        } else {
            // At most 24 bits above 2^-149: the product is exact and normal.
            let unit = f64::from_bits(((self.e - fraction + 1023) as u64) << 52);
            self.sig.unsigned_abs() as f64 * unit
        };
        if self.flags & NEGATIVE != 0 { -magnitude } else { magnitude }
    }

    pub fn absent(self) -> Elem {
        let kept = if mutants::on(Mutant::AbsentSpecials) { self.flags } else { ABSENT };
        Elem { sig: 0, e: ZERO_EXPONENT, flags: kept }
    }
}

/// One row of A or column of B, decoded. `scales`: the scale's exponent at each position, empty where unscaled.
/// `floats`: the elements as host numbers, where the op runs on the host's arithmetic.
#[derive(Clone, Debug, Default)]
pub struct Line {
    pub elems: Vec<Elem>,
    pub scales: Vec<i32>,
    pub floats: Vec<f64>,
}

/// The operands of one instruction.
#[derive(Clone, Copy)]
pub struct Terms<'a> {
    pub a: &'a [Elem],
    pub b: &'a [Elem],
    pub scale_a: &'a [i32],
    pub scale_b: &'a [i32],
}

impl<'a> Terms<'a> {
    /// Block steps of `block` terms, the last one maybe shorter.
    pub fn blocks(self, block: usize) -> impl Iterator<Item = Terms<'a>> {
        let len = self.a.len();
        (0..len).step_by(block).map(move |k| self.range(k, len.min(k + block)))
    }

    /// Positions k0..k1.
    pub fn range(&self, k0: usize, k1: usize) -> Terms<'a> {
        let scales = |all: &'a [i32]| if all.is_empty() { all } else { &all[k0..k1] };
        Terms {
            a: &self.a[k0..k1],
            b: &self.b[k0..k1],
            scale_a: scales(self.scale_a),
            scale_b: scales(self.scale_b),
        }
    }

    /// Pairs of elements, in order.
    #[inline(always)]
    pub fn pairs(&self) -> impl Iterator<Item = (&'a Elem, &'a Elem)> + 'a {
        self.a.iter().zip(self.b)
    }

    /// Union of all elements' flags, and the largest exponent of a nonzero product, or NO_EXPONENT.
    #[inline(always)]
    pub fn scan(&self) -> Scan {
        let (flags, e) = self.pairs().fold((0, NO_EXPONENT), |(flags, e), (a, b)| {
            let carry = mutants::on(Mutant::RenormalisedProduct) && a.sig != 0 && b.sig != 0;
            (flags | a.flags | b.flags, e.max(a.e + b.e + i32::from(carry)))
        });
        Scan { flags, e: if e < LEAST_EXPONENT { NO_EXPONENT } else { e } }
    }

    /// The largest sum of both scales' exponents over nonzero products, or NO_EXPONENT.
    pub fn scale(&self) -> i32 {
        let scales = self.scale_a.iter().zip(self.scale_b).map(|(a, b)| a + b);
        let nonzero = self.pairs().zip(scales).filter(|((a, b), _)| a.sig != 0 && b.sig != 0);
        nonzero.map(|(_, scale)| scale).max().unwrap_or(NO_EXPONENT)
    }

    /// The products' sum in units of 2^quantum, each cut by `mode`. `fraction`: fraction bits of a product.
    #[inline(always)]
    pub fn aligned<S: Sum>(&self, fraction: i32, quantum: i32, mode: Rounding) -> S {
        let base = fraction + quantum;
        let mode = if mutants::on(Mutant::CutDown) { Rounding::Down } else { mode };
        let terms = self.pairs().map(|(a, b)| (S::product(a.sig, b.sig), a.e + b.e - base));
        // The known devices' mode, in a loop without branches where sums are 64 bits wide.
        if mode == Rounding::Zero {
            terms.fold(S::ZERO, |sum, (sig, shift)| sum.add(S::toward_zero(sig, shift)))
        } else {
            terms.fold(S::ZERO, |sum, (sig, shift)| sum.add(S::place(sig, shift, mode)))
        }
    }
}

/// What a pass over the terms of one window found.
#[derive(Clone, Copy, Debug)]
pub struct Scan {
    pub flags: u32,
    pub e: i32,
}
