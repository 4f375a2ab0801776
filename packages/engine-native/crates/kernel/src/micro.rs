//! Micro-kernels of this op: translation of its description, and their views of operands.

use crate::format::Format;
use crate::operand::{Inputs, Matrix};
use crate::spec::{
    Cdna3OddEven, Cdna3Window, Datapath, MmaOp, Output, Overflow, Pairwise, Rounding, SequentialFma,
    Underflow,
};
use bitmma_microkernel as micro;
use bitmma_microkernel::Isa;

/// An op as micro-kernels see it; None where they cannot express it.
pub fn params(op: &MmaOp) -> Option<micro::Params> {
    if op.c.name != op.d.name || op.scaling.is_some() || op.sparsity.is_some() {
        return None;
    }
    let (family, output) = family(&op.datapath)?;
    Some(micro::Params { family, a: format(op.a)?, b: format(op.b)?, output, k: op.k })
}

fn format(format: &Format) -> Option<micro::Format> {
    Some(match format.name {
        "fp32" => micro::Format::Fp32,
        "tf32" => micro::Format::Tf32,
        "bf16" => micro::Format::Bf16,
        "fp16" => micro::Format::Fp16,
        "e5m2" => micro::Format::E5m2,
        "e4m3" => micro::Format::E4m3,
        "e5m2fnuz" => micro::Format::E5m2Fnuz,
        "e4m3fnuz" => micro::Format::E4m3Fnuz,
        "e3m2" => micro::Format::E3m2,
        "e2m3" => micro::Format::E2m3,
        "e2m1" => micro::Format::E2m1,
        "s8" => micro::Format::S8,
        "u8" => micro::Format::U8,
        _ => return None,
    })
}

/// NVIDIA's window outputs.
fn window_output(output: &Output) -> Option<micro::Output> {
    if output.underflow != Underflow::Positive {
        return None;
    }
    match (output.format.name, output.rounding, output.precision) {
        ("fp32", Rounding::Zero, precision) => Some(micro::Output::Fp32Rz { precision }),
        ("fp16", Rounding::NearestEven, 10) => Some(micro::Output::Fp16Rne),
        _ => None,
    }
}

/// AMD's NaN, and x86's: the word that micro-kernels give where infinities of both signs are born inside.
const AMD_NAN: u64 = 0xFFC0_0000;

/// IEEE fp32 to nearest even, with AMD's NaN.
fn nearest_output(output: &Output) -> Option<micro::Output> {
    let holds = output.format.name == "fp32"
        && output.nan == AMD_NAN
        && output.rounding == Rounding::NearestEven
        && output.precision == 23
        && output.underflow == Underflow::Signed;
    holds.then_some(micro::Output::Fp32Rne)
}

fn family(datapath: &Datapath) -> Option<(micro::Family, micro::Output)> {
    match datapath {
        Datapath::FusedWindow(x) => {
            let plain = x.alignment == Rounding::Zero
                && x.zero_addend_exponent.is_none()
                && x.product_overflow.is_none();
            let family = micro::Family::FusedWindow { block: x.block, fraction: x.fraction, floor: x.floor };
            plain.then_some((family, window_output(&x.output)?))
        }
        Datapath::SplitWindow(x) => {
            let plain = x.alignment == Rounding::Zero && x.addition == Rounding::NearestEven;
            let family = micro::Family::SplitWindow {
                block: x.block,
                fraction: x.fraction,
                floor: x.floor,
                select_bit: x.select_bit,
            };
            plain.then_some((family, window_output(&x.output)?))
        }
        Datapath::Cdna3Window(x) if is_cdna3(x) => {
            Some((micro::Family::Cdna3Window { block: x.block }, nearest_output(&x.output)?))
        }
        Datapath::Cdna3OddEven(x) if is_cdna3_fp8(x) => {
            Some((micro::Family::Cdna3OddEven, nearest_output(&x.output)?))
        }
        Datapath::Exact(x) => Some((micro::Family::Exact { block: x.block }, nearest_output(&x.output)?)),
        Datapath::Pairwise(Pairwise { block, flush_inputs: true, flush_results: true, output }) => {
            Some((micro::Family::Pairwise { block: *block }, nearest_output(output)?))
        }
        Datapath::SequentialFma(SequentialFma { flush_inputs: false, flush_results: false, output }) => {
            Some((micro::Family::SequentialFma, nearest_output(output)?))
        }
        Datapath::Integer(x) if x.overflow == Overflow::Wrap => {
            Some((micro::Family::Integer, micro::Output::S32Wrap))
        }
        _ => None,
    }
}

/// The constants of numerics 4.5.
fn is_cdna3(x: &Cdna3Window) -> bool {
    (x.fraction, x.floor, x.alignment) == (24, None, Rounding::Zero)
        && (x.zero_addend_exponent, x.product_overflow) == (-126, Some(128))
        && (x.addend_fraction, x.addend_rounding, x.addend_reach) == (24, Rounding::Down, None)
        && (x.sum_fraction, x.sum_rounding) == (32, Rounding::Down)
        && (x.normal_fraction, x.normal_rounding) == (Some(31), Rounding::Down)
}

/// The constants of numerics 4.6. FP8 products never reach 2^128, so that limit may be absent.
fn is_cdna3_fp8(x: &Cdna3OddEven) -> bool {
    (x.block, x.fraction, x.floor, x.alignment) == (16, 24, None, Rounding::Zero)
        && x.zero_addend_exponent == -126
        && x.product_overflow.is_none_or(|limit| limit == 128)
        && (x.addend_fraction, x.addend_rounding, x.addend_reach) == (24, Rounding::Down, Some(25))
        && (x.sum_fraction, x.sum_rounding) == (32, Rounding::Down)
        && (x.normal_fraction, x.normal_rounding) == (Some(31), Rounding::Down)
        && (x.merge_fraction, x.merge_rounding) == (24, Rounding::Down)
}

/// Names of the kernels that this machine has for an op, fastest first. The generic path is `scalar`.
pub fn kernels(op: &MmaOp) -> Vec<&'static str> {
    let params = params(op);
    let fast = |isa: &Isa| params.as_ref().is_some_and(|params| micro::select(params, *isa).is_some());
    let isas = Isa::ALL.iter().rev().filter(|&&isa| isa != Isa::Scalar);
    isas.filter(|isa| fast(isa)).map(|isa| isa.name()).chain([GENERIC]).collect()
}

/// Name of the generic integer path.
pub const GENERIC: &str = "scalar";

/// The kernel of that name, or the fastest; None is the generic path.
pub fn select(op: &MmaOp, name: Option<&str>) -> Result<Option<(&'static str, micro::Kernel)>, String> {
    let found = |isa: Isa| Some((isa.name(), micro::select(&params(op)?, isa)?));
    let Some(name) = name else {
        return Ok(Isa::ALL.into_iter().rev().filter(|&isa| isa != Isa::Scalar).find_map(found));
    };
    if name == GENERIC {
        return Ok(None);
    }
    let has = kernels(op).join(", ");
    let isa = Isa::from_name(name).ok_or_else(|| format!("kernel: expected one of {has}, got {name}"))?;
    if !isa.available() {
        return Err(format!("kernel {name}: this machine does not run it, it has {has}"));
    }
    let missing = || format!("kernel {name}: none for {}, it has {has}", op.instruction);
    found(isa).map(Some).ok_or_else(missing)
}

/// A matrix as micro-kernels see it; None where a stride is negative or an item unaligned.
pub fn view<'a>(matrix: &Matrix<'a>, word_bytes: usize) -> Option<micro::View<'a>> {
    let words = match word_bytes {
        1 => micro::Words::U8(matrix.bytes),
        2 => micro::Words::U16(items(matrix.bytes)?),
        4 => micro::Words::U32(items(matrix.bytes)?),
        _ => return None,
    };
    Some(micro::View {
        words,
        offset: usize::try_from(matrix.offset).ok()?,
        row_stride: usize::try_from(matrix.row_stride).ok()?,
        col_stride: usize::try_from(matrix.col_stride).ok()?,
    })
}

/// Bytes as whole items; None where they are unaligned.
fn items<T: Item>(bytes: &[u8]) -> Option<&[T]> {
    // SAFETY: T is u16 or u32, for which every bit pattern is valid; align_to yields aligned items.
    let (before, items, _) = unsafe { bytes.align_to::<T>() };
    before.is_empty().then_some(items)
}

trait Item {}
impl Item for u16 {}
impl Item for u32 {}

/// Sizes of a GEMM.
pub fn shape(inputs: &Inputs<'_>) -> micro::Shape {
    micro::Shape { m: inputs.m, n: inputs.n, k: inputs.k }
}
