//! Rare paths that an element took, counted once an element.

/// Names of the rare paths, in the order of their bits.
pub const NAMES: [&str; 18] = [
    "non-finite",
    "overflow",
    "underflow",
    "subnormal-result",
    "subnormal-addend",
    "zero-sum",
    "floor",
    "wide-sum",
    "product-overflow",
    "addend-dominant",
    "addend-out-of-reach",
    "normalised-cut",
    "scale-floor",
    "group-addend-cut",
    "groups-left-out",
    "addend-passed",
    "flushed",
    "saturated",
];

/// A NaN or an infinity among a, b, c or the scales decided a step.
pub const NON_FINITE: u32 = 1;
/// A finite sum left the output's range.
pub const OVERFLOW: u32 = 1 << 1;
/// A nonzero sum rounded to zero.
pub const UNDERFLOW: u32 = 1 << 2;
pub const SUBNORMAL_RESULT: u32 = 1 << 3;
pub const SUBNORMAL_ADDEND: u32 = 1 << 4;
/// Nonzero terms cancelled, or there was none.
pub const ZERO_SUM: u32 = 1 << 5;
/// The window's exponent was raised to its floor.
pub const FLOOR: u32 = 1 << 6;
/// A sum wider than 128 bits.
pub const WIDE_SUM: u32 = 1 << 7;
pub const PRODUCT_OVERFLOW: u32 = 1 << 8;
/// c's exponent decided the quantum of a family that treats that case apart.
pub const ADDEND_DOMINANT: u32 = 1 << 9;
/// c lay too far below the products to be added.
pub const ADDEND_OUT_OF_REACH: u32 = 1 << 10;
/// The cut after normalisation discarded something.
pub const NORMALISED_CUT: u32 = 1 << 11;
/// The scales decided the quantum.
pub const SCALE_FLOOR: u32 = 1 << 12;
/// A group was cut coarser because c's exponent is not below the group's.
pub const GROUP_ADDEND_CUT: u32 = 1 << 13;
pub const GROUPS_LEFT_OUT: u32 = 1 << 14;
/// Every product was zero and c's word passed through.
pub const ADDEND_PASSED: u32 = 1 << 15;
/// A subnormal operand or result became zero.
pub const FLUSHED: u32 = 1 << 16;
/// An integer sum was clamped or wrapped.
pub const SATURATED: u32 = 1 << 17;

/// Rare paths of one element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events(pub u32);

impl Events {
    pub fn note(&mut self, event: u32) {
        self.0 |= event;
    }

    pub fn note_if(&mut self, condition: bool, event: u32) {
        if condition {
            self.0 |= event;
        }
    }
}

/// Elements that took each rare path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(pub [u64; NAMES.len()]);

impl Counts {
    pub fn add(&mut self, events: Events) {
        let mut bits = events.0;
        while bits != 0 {
            self.0[bits.trailing_zeros() as usize] += 1;
            bits &= bits - 1;
        }
    }
}
