//! fp32 vectors for the front door's FP8 GEMM contract.

use crate::words::Words;
use bitmma_kernel::fp32::{self, Out, Results};
use napi::{Error, Result, Status};
use napi_derive::napi;

fn invalid(message: String) -> Error {
    Error::new(Status::InvalidArg, message)
}

/// The items of a typed array.
///
/// # Safety
/// No other thread touches the bytes while the slice lives, and the call's arrays do not overlap.
unsafe fn items<'a, T>(name: &str, words: Words, len: usize) -> Result<&'a mut [T]> {
    let size = size_of::<T>();
    if words.bytes() != len * size {
        return Err(invalid(format!(
            "{name}: expected {len} items of {size} bytes, got {} bytes",
            words.bytes()
        )));
    }
    if len == 0 {
        return Ok(&mut []);
    }
    // SAFETY: Node aligns a typed array to its items and vouches for its length; the rest is the caller's.
    Ok(unsafe { std::slice::from_raw_parts_mut(words.start().cast(), len) })
}

/// sum += part, elementwise, fp32 RNE. The arrays do not overlap and no other thread touches them meanwhile.
#[napi]
pub fn add_into(
    #[napi(ts_arg_type = "Uint32Array")] sum: Words,
    #[napi(ts_arg_type = "Uint32Array")] part: Words,
) -> Result<()> {
    let len = sum.bytes() / 4;
    // SAFETY: the function's own contract.
    let (sum, part) = unsafe { (items("sum", sum, len)?, items::<u32>("part", part, len)?) };
    fp32::add_into(sum, part);
    Ok(())
}

/// Every NaN word becomes 0x7FFFFFFF. No other thread touches the array meanwhile.
#[napi]
pub fn canonicalise(#[napi(ts_arg_type = "Uint32Array")] words: Words) -> Result<()> {
    // SAFETY: the function's own contract.
    fp32::canonicalise(unsafe { items("words", words, words.bytes() / 4)? });
    Ok(())
}

/// The scaled epilogue: d = out(RN32(acc * alpha)), times `scale` for FP8 outputs. alpha and scale are fp32 words. The
/// arrays do not overlap and no other thread touches them meanwhile.
#[napi]
pub fn epilogue(
    #[napi(ts_arg_type = "Uint32Array")] acc: Words,
    #[napi(ts_arg_type = "Uint8Array | Uint16Array | Uint32Array")] d: Words,
    out: String,
    alpha: u32,
    scale: Option<u32>,
) -> Result<()> {
    let format = Out::named(&out)
        .ok_or_else(|| invalid(format!("out: expected fp32, bf16, fp16, e4m3 or e5m2, got {out}")))?;
    let len = acc.bytes() / 4;
    // SAFETY: the function's own contract.
    unsafe {
        let acc = items::<u32>("acc", acc, len)?;
        let results = match format {
            Out::Fp32 => Results::Fp32(items("d", d, len)?),
            Out::Bf16 => Results::Bf16(items("d", d, len)?),
            Out::Fp16 => Results::Fp16(items("d", d, len)?),
            Out::E4m3 => Results::E4m3(items("d", d, len)?),
            Out::E5m2 => Results::E5m2(items("d", d, len)?),
        };
        fp32::epilogue(acc, results, alpha, scale);
    }
    Ok(())
}
