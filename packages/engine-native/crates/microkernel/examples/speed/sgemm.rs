//! OpenBLAS, loaded at run time.

use std::ffi::{CStr, c_char, c_int};

use libloading::{Library, Symbol};

type Cblas = unsafe extern "C" fn(
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    f32,
    *const f32,
    c_int,
    *const f32,
    c_int,
    f32,
    *mut f32,
    c_int,
);

pub struct Sgemm {
    library: Library,
}

impl Sgemm {
    pub fn load() -> Option<Sgemm> {
        // SAFETY: OpenBLAS's initialisers read the environment and the processor's features only.
        let library = unsafe { Library::new("libopenblas.so.0") }.ok()?;
        Some(Sgemm { library })
    }

    /// Core type in use and number of threads.
    pub fn config(&self) -> (String, c_int) {
        // SAFETY: the signatures are those of OpenBLAS's cblas.h.
        unsafe {
            let name: Symbol<'_, unsafe extern "C" fn() -> *const c_char> =
                self.library.get(b"openblas_get_corename\0").unwrap();
            let threads: Symbol<'_, unsafe extern "C" fn() -> c_int> =
                self.library.get(b"openblas_get_num_threads\0").unwrap();
            (CStr::from_ptr(name()).to_string_lossy().into_owned(), threads())
        }
    }

    /// c = a b, row-major n x n.
    pub fn run(&self, n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
        assert!(a.len() >= n * n && b.len() >= n * n && c.len() >= n * n);
        let i = n as c_int;
        // SAFETY: the signature is cblas_sgemm's, the buffers hold n x n elements.
        unsafe {
            let f: Symbol<'_, Cblas> = self.library.get(b"cblas_sgemm\0").unwrap();
            f(101, 111, 111, i, i, i, 1.0, a.as_ptr(), i, b.as_ptr(), i, 0.0, c.as_mut_ptr(), i);
        }
    }
}
