//! Deliberate faults, for the crate's own tests: outside them `on` is false at compile time.

/// A rule left out or bent. Each must change a result of the tests' cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(test), allow(dead_code))]
pub enum Mutant {
    /// Negative terms are cut toward -Inf.
    CutDown,
    /// c is cut toward -Inf.
    AddendCutDown,
    /// The window's exponent has no floor.
    NoFloor,
    /// A zero element takes part in the largest exponent.
    ZeroExponent,
    /// A product that reaches 2 is renormalised.
    RenormalisedProduct,
    /// c = 0 raises nothing.
    NoZeroAddendExponent,
    /// A subnormal c has its value's exponent.
    SubnormalAddendExponent,
    /// fp16 c keeps fp16's exponent.
    AddendNotWidened,
    /// Sums stay in 128 bits.
    NoWideSum,
    /// Rounding never carries into the exponent.
    NoCarry,
    /// Ties go away from zero.
    TiesAway,
    /// Precision does not stop below emin.
    NoSubnormals,
    /// Overflow gives the largest number.
    OverflowSaturates,
    /// A zero of NVIDIA's keeps its sign.
    SignedUnderflow,
    /// Special values are not looked for.
    NoSpecials,
    /// Inf * 0 is Inf.
    InfinityTimesZero,
    /// Positions left out by the metadata take part in special values.
    AbsentSpecials,
    /// The metadata's low field alone selects.
    OneField,
    /// A NaN scale counts only where a product is nonzero.
    QuietScaleNan,
    /// A product of 2^128 stays finite.
    NoProductOverflow,
    /// CDNA3: the sum is not cut where c dominates.
    SumUncut,
    /// CDNA3: no cut after normalisation.
    NormalUncut,
    /// CDNA3 FP8: c reaches any distance.
    EndlessReach,
    /// CDNA3 FP8: both sums are added uncut.
    MergeUncut,
    /// The halves of a split window change places.
    HalvesSwapped,
    /// Even and odd products form one window.
    NoOddEven,
    /// Nothing is flushed.
    NoFlush,
    /// The tree is a chain.
    Linear,
    /// Scales do not bound the quantum.
    NoScaleFloor,
    /// Group sums are cut product by product.
    GroupsOfOne,
    /// Groups below c are cut like the others.
    NoGroupAddend,
    /// No group is left out.
    NoLeaveOut,
    /// c's word does not pass where every product is zero.
    NoPass,
    /// A saturating sum wraps.
    NoSaturation,
    /// A chain's later instructions start from the first c.
    ForgottenChain,
}

#[cfg(not(test))]
#[inline(always)]
pub const fn on(_: Mutant) -> bool {
    false
}

#[cfg(test)]
thread_local! {
    pub static CURRENT: std::cell::Cell<Option<Mutant>> = const { std::cell::Cell::new(None) };
}

#[cfg(test)]
pub fn on(mutant: Mutant) -> bool {
    CURRENT.get() == Some(mutant)
}
