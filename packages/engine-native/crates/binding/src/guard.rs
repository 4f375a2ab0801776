//! Panics become errors.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `work`; a panic in it is an error that carries its message. What `work` borrowed may be half written then.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        format!("native engine: panic: {}", text.unwrap_or("no message"))
    })
}

#[cfg(test)]
mod tests {
    use super::guarded;

    #[test]
    fn a_panic_is_an_error_with_its_message() {
        assert_eq!(guarded(|| 3), Ok(3));
        let error = guarded(|| -> u32 { panic!("index {} outside", 7) }).unwrap_err();
        assert_eq!(error, "native engine: panic: index 7 outside");
    }
}
