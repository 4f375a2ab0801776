//! The op's JSON, field by field; an unknown or missing field is an error.

use crate::format::Format;
use serde::{Deserialize, Deserializer};

/// A field that must be present and may be null: serde alone would take an absent one for null.
fn nullable<'de, D: Deserializer<'de>, T: Deserialize<'de>>(input: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(input)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Rounding {
    #[serde(rename = "RZ")]
    Zero,
    #[serde(rename = "RNE")]
    NearestEven,
    #[serde(rename = "RD")]
    Down,
    #[serde(rename = "RU")]
    Up,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Underflow {
    Positive,
    Signed,
}

/// The conversion that ends a block step.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Output {
    pub format: &'static Format,
    pub rounding: Rounding,
    /// Fraction bits kept below the leading bit.
    pub precision: u32,
    /// What a nonzero magnitude that rounds to zero gives.
    pub underflow: Underflow,
    /// Word of every NaN result.
    #[serde(deserialize_with = "hex")]
    pub nan: u64,
}

fn hex<'de, D: Deserializer<'de>>(input: D) -> Result<u64, D::Error> {
    let digits = String::deserialize(input)?;
    u64::from_str_radix(&digits, 16)
        .map_err(|_| serde::de::Error::custom(format!("expected hex digits, got {digits:?}")))
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FusedWindow {
    pub block: usize,
    pub fraction: i32,
    #[serde(deserialize_with = "nullable")]
    pub floor: Option<i32>,
    pub alignment: Rounding,
    #[serde(deserialize_with = "nullable")]
    pub zero_addend_exponent: Option<i32>,
    #[serde(deserialize_with = "nullable")]
    pub product_overflow: Option<i32>,
    pub output: Output,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LateWindow {
    pub block: usize,
    pub fraction: i32,
    #[serde(deserialize_with = "nullable")]
    pub floor: Option<i32>,
    pub alignment: Rounding,
    pub output: Output,
    pub addition: Rounding,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SplitWindow {
    pub block: usize,
    pub fraction: i32,
    #[serde(deserialize_with = "nullable")]
    pub floor: Option<i32>,
    pub alignment: Rounding,
    pub select_bit: u32,
    pub output: Output,
    pub addition: Rounding,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Exact {
    pub block: usize,
    pub output: Output,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Pairwise {
    pub block: usize,
    pub flush_inputs: bool,
    pub flush_results: bool,
    pub output: Output,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cdna3Window {
    pub block: usize,
    pub fraction: i32,
    #[serde(deserialize_with = "nullable")]
    pub floor: Option<i32>,
    pub alignment: Rounding,
    pub zero_addend_exponent: i32,
    #[serde(deserialize_with = "nullable")]
    pub product_overflow: Option<i32>,
    pub addend_fraction: i32,
    pub addend_rounding: Rounding,
    #[serde(deserialize_with = "nullable")]
    pub addend_reach: Option<i32>,
    pub sum_fraction: i32,
    pub sum_rounding: Rounding,
    #[serde(deserialize_with = "nullable")]
    pub normal_fraction: Option<i32>,
    pub normal_rounding: Rounding,
    pub output: Output,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cdna3OddEven {
    pub block: usize,
    pub fraction: i32,
    #[serde(deserialize_with = "nullable")]
    pub floor: Option<i32>,
    pub alignment: Rounding,
    pub zero_addend_exponent: i32,
    #[serde(deserialize_with = "nullable")]
    pub product_overflow: Option<i32>,
    pub addend_fraction: i32,
    pub addend_rounding: Rounding,
    #[serde(deserialize_with = "nullable")]
    pub addend_reach: Option<i32>,
    pub sum_fraction: i32,
    pub sum_rounding: Rounding,
    #[serde(deserialize_with = "nullable")]
    pub normal_fraction: Option<i32>,
    pub normal_rounding: Rounding,
    pub merge_fraction: i32,
    pub merge_rounding: Rounding,
    pub output: Output,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SequentialFma {
    pub flush_inputs: bool,
    pub flush_results: bool,
    pub output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Overflow {
    Wrap,
    Saturate,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IntegerSum {
    pub overflow: Overflow,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScaledWindow {
    pub fraction: i32,
    pub output: Output,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScaledGroups {
    pub group: usize,
    pub dominant_group: usize,
    pub dominant_fraction: i32,
    pub product_fraction: i32,
    pub scale_fraction: i32,
    #[serde(deserialize_with = "nullable")]
    pub group_addend_fraction: Option<i32>,
    #[serde(deserialize_with = "nullable")]
    pub leave_out: Option<i32>,
    pub output: Output,
}

/// How one block step turns N products and c into d; one member a kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Datapath {
    FusedWindow(FusedWindow),
    LateWindow(LateWindow),
    SplitWindow(SplitWindow),
    Exact(Exact),
    Pairwise(Pairwise),
    Cdna3Window(Cdna3Window),
    Cdna3OddEven(Cdna3OddEven),
    SequentialFma(SequentialFma),
    Integer(IntegerSum),
    ScaledWindow(ScaledWindow),
    ScaledGroups(ScaledGroups),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Scaling {
    pub format: &'static Format,
    /// Logical k positions that share one scale word.
    pub block: usize,
}

/// Structured sparsity of A; one 4-bit selector a chunk, eight a metadata word, lowest nibble first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Sparsity {
    #[serde(rename = "1:2")]
    OneOfTwo,
    #[serde(rename = "2:4")]
    TwoOfFour,
    #[serde(rename = "4:8-pairs")]
    PairsOfEight,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Shape {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub blocks: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EvidenceLevel {
    Recorded,
    Published,
    Derived,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Evidence {
    pub level: EvidenceLevel,
    pub source: String,
    pub note: Option<String>,
}

/// One matrix instruction's arithmetic.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MmaOp {
    pub device: String,
    pub instruction: String,
    pub shape: Shape,
    pub a: &'static Format,
    pub b: &'static Format,
    pub c: &'static Format,
    pub d: &'static Format,
    /// K terms of one instruction (logical positions where sparse).
    pub k: usize,
    pub datapath: Datapath,
    #[serde(deserialize_with = "nullable")]
    pub scaling: Option<Scaling>,
    #[serde(deserialize_with = "nullable")]
    pub sparsity: Option<Sparsity>,
    pub evidence: Evidence,
}

impl MmaOp {
    /// Reads an op; the error names the field and the position.
    pub fn parse(json: &str) -> Result<MmaOp, String> {
        serde_json::from_str(json).map_err(|error| format!("expected an op's JSON: {error}"))
    }
}
