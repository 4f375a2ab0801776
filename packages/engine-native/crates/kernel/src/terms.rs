//! Decoded operands of one instruction, and the products of one block step.

use crate::format::{Class, Format};
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

/// An element, its scale multiplied in: value sig * 2^(e - fraction bits of its factors). The default is the +0
/// that pads a chain's end. An infinity has sig = +-1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Elem {
    pub sig: i64,
    pub e: i32,
    pub flags: u32,
}

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
        Elem { sig: if x.negative { -(sig as i64) } else { sig as i64 }, e: x.e, flags }
    }

    /// The element times its block's scale. Inf * 0 is NaN.
    pub fn scaled(self, scale: Elem) -> Elem {
        let mut flags = self.flags;
        if scale.flags & NAN != 0 {
            flags |= SCALE_NAN;
        }
        if self.flags & INFINITE != 0 && scale.sig == 0 && flags & ABSENT == 0 {
            flags = flags & !INFINITE | NAN;
        }
        Elem { sig: self.sig * scale.sig, e: self.e + scale.e, flags }
    }

    pub fn absent(self) -> Elem {
        Elem { sig: 0, e: self.e, flags: ABSENT }
    }
}

/// One row of A or column of B, decoded. `scales`: the scale's exponent at each position, empty where unscaled.
#[derive(Clone, Debug, Default)]
pub struct Line {
    pub elems: Vec<Elem>,
    pub scales: Vec<i32>,
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
    pub fn len(&self) -> usize {
        self.a.len()
    }

    pub fn is_empty(&self) -> bool {
        self.a.is_empty()
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

    /// The sum of both scales' exponents at a position.
    pub fn scale(&self, index: usize) -> i32 {
        self.scale_a[index] + self.scale_b[index]
    }
}

/// A nonzero product: value sig * 2^(e - fraction bits of all its factors).
#[derive(Clone, Copy, Debug)]
pub struct Product<T> {
    pub sig: T,
    pub e: i32,
}

/// What a pass over the terms of one window found.
#[derive(Clone, Copy, Debug)]
pub struct Gathered {
    /// Union of all elements' flags.
    pub flags: u32,
    /// Largest exponent of a nonzero product, or NO_EXPONENT.
    pub e: i32,
}

/// Collects the nonzero products at `indices`.
#[inline(always)]
pub fn gather<S: Sum>(
    terms: &Terms<'_>,
    indices: impl Iterator<Item = usize>,
    products: &mut Vec<Product<S::Sig>>,
) -> Gathered {
    products.clear();
    let mut found = Gathered { flags: 0, e: NO_EXPONENT };
    for i in indices {
        let (a, b) = (terms.a[i], terms.b[i]);
        found.flags |= a.flags | b.flags;
        if a.sig != 0 && b.sig != 0 {
            let e = a.e + b.e;
            found.e = found.e.max(e);
            products.push(Product { sig: S::product(a.sig, b.sig), e });
        }
    }
    found
}
