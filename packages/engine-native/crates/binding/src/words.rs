//! Typed arrays as pointers: nothing is copied, on ordinary and on shared buffers alike.

use napi::bindgen_prelude::{FromNapiValue, TypeName, ValidateNapiValue};
use napi::{Error, Result, Status, ValueType, check_status, sys};

/// The bytes of a typed array. Lives no longer than the call that received it.
#[derive(Clone, Copy)]
pub struct Words {
    start: *mut u8,
    bytes: usize,
}

impl Words {
    /// # Safety
    /// No thread writes these bytes as long as the slice lives; the typed array outlives it.
    pub unsafe fn read<'a>(self) -> &'a [u8] {
        if self.bytes == 0 {
            return &[];
        }
        // SAFETY: Node vouches for start and length of a live typed array, the caller for the rest.
        unsafe { std::slice::from_raw_parts(self.start, self.bytes) }
    }

    pub fn start(self) -> *mut u8 {
        self.start
    }

    pub fn bytes(self) -> usize {
        self.bytes
    }
}

impl TypeName for Words {
    fn type_name() -> &'static str {
        "Uint8Array | Uint16Array | Uint32Array"
    }

    fn value_type() -> ValueType {
        ValueType::Object
    }
}

impl ValidateNapiValue for Words {}

impl FromNapiValue for Words {
    unsafe fn from_napi_value(env: sys::napi_env, value: sys::napi_value) -> Result<Self> {
        let (mut kind, mut length, mut offset) = (0, 0, 0);
        let (mut start, mut buffer) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: env and value come from Node for this call; every out pointer is a live local.
        let status = unsafe {
            sys::napi_get_typedarray_info(
                env,
                value,
                &mut kind,
                &mut length,
                &mut start,
                &mut buffer,
                &mut offset,
            )
        };
        check_status!(status, "expected a typed array of words")?;
        let bytes_per_item = match kind {
            sys::TypedarrayType::uint8_array => 1,
            sys::TypedarrayType::uint16_array => 2,
            sys::TypedarrayType::uint32_array => 4,
            _ => {
                let message = "expected a Uint8Array, Uint16Array or Uint32Array".to_owned();
                return Err(Error::new(Status::InvalidArg, message));
            }
        };
        Ok(Words { start: start.cast(), bytes: length * bytes_per_item })
    }
}
