//! What a kernel needs to know of an op: plain data, the caller translates its own description.

/// Element formats of operands, by the names of the numerics page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    Fp32,
    Tf32,
    Bf16,
    Fp16,
    E5m2,
    E4m3,
    E5m2Fnuz,
    E4m3Fnuz,
    E3m2,
    E2m3,
    E2m1,
    S8,
    U8,
}

/// Format and rounding of d (and format of c).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Output {
    /// fp32 toward zero, `precision` fraction bits kept; a zero is +0 (NVIDIA's windows).
    Fp32Rz { precision: u32 },
    /// fp16 to nearest even; a magnitude that rounds to zero is +0 (NVIDIA's windows).
    Fp16Rne,
    /// fp32 to nearest even (AMD's families, IEEE chains).
    Fp32Rne,
    /// s32, wrapped modulo 2^32.
    S32Wrap,
}

/// One block step's arithmetic. Every alignment cuts toward zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// N products and c in one window of `fraction` bits below its largest exponent, raised to `floor`.
    FusedWindow { block: usize, fraction: i32, floor: Option<i32> },
    /// Two fused windows of `block` terms, k with `select_bit` clear first; c added last as IEEE RNE.
    SplitWindow { block: usize, fraction: i32, floor: Option<i32>, select_bit: u32 },
    /// AMD CDNA3 fp16, bf16, xf32 (numerics 4.5), with that section's constants.
    Cdna3Window { block: usize },
    /// AMD CDNA3 FP8 (numerics 4.6), blocks of 16.
    Cdna3OddEven,
    /// AMD CDNA1 (numerics 4.3).
    Exact { block: usize },
    /// AMD CDNA2 (numerics 4.4), subnormals flushed.
    Pairwise { block: usize },
    /// IEEE fused multiply-adds in order, RNE, subnormals kept.
    SequentialFma,
    /// Exact sum of integer products.
    Integer,
}

/// An op as kernels see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Params {
    pub family: Family,
    pub a: Format,
    pub b: Format,
    pub output: Output,
    /// K terms of one instruction; chains are padded with +0 to its multiple.
    pub k: usize,
}
