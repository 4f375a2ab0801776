//! cuBLASLt, faked: TN FP8 GEMMs over fake device memory, one algorithm.

use crate::config::Config;
use crate::numbers::{decode, encode};
use std::ffi::{c_int, c_void};

const NOT_SUPPORTED: c_int = 15;
const INVALID_VALUE: c_int = 7;

#[derive(Default)]
struct Desc {
    transpose_a: i32,
    scale_a: u64,
    scale_b: u64,
    scale_d: u64,
    fast: i8,
}

struct MatrixLayout {
    kind: c_int,
    rows: u64,
    cols: u64,
    ld: i64,
}

/// The fake algorithm's attributes, as cublasLtMatmulAlgoConfigAttributes_t numbers them.
const CONFIG: [u32; 9] = [66, 20, 3, 1, 0, 2, 35, 0, 2];

macro_rules! exports {
    ($(fn $name:ident($($arg:ident: $type:ty),*) $body:block)*) => {
        $(
            /// # Safety: as cublasLt.h.
            #[no_mangle]
            pub unsafe extern "C" fn $name($($arg: $type),*) -> c_int $body
        )*
    };
}

/// # Safety: as cublasLt.h.
#[no_mangle]
pub unsafe extern "C" fn cublasLtGetVersion() -> usize {
    120_803
}

fn token(kind: c_int) -> &'static str {
    match kind {
        0 => "f32",
        2 => "f16",
        14 => "bf16",
        28 => "e4m3",
        29 => "e5m2",
        _ => panic!("no data type {kind}"),
    }
}

exports! {
    fn cublasLtCreate(handle: *mut *mut c_void) {
        *handle = std::ptr::dangling_mut();
        0
    }
    fn cublasLtMatmulDescCreate(desc: *mut *mut c_void, compute: c_int, scale: c_int) {
        if (compute, scale) != (68, 0) { return INVALID_VALUE; }
        *desc = Box::into_raw(Box::<Desc>::default()).cast();
        0
    }
    fn cublasLtMatmulDescSetAttribute(desc: *mut c_void, attribute: c_int, value: *const c_void, size: usize) {
        let desc = &mut *desc.cast::<Desc>();
        match (attribute, size) {
            (3, 4) => desc.transpose_a = value.cast::<i32>().read(),
            (17, 8) => desc.scale_a = value.cast::<u64>().read(),
            (18, 8) => desc.scale_b = value.cast::<u64>().read(),
            (20, 8) => desc.scale_d = value.cast::<u64>().read(),
            (25, 1) => desc.fast = value.cast::<i8>().read(),
            _ => return INVALID_VALUE,
        }
        0
    }
    fn cublasLtMatmulDescDestroy(desc: *mut c_void) { drop(Box::from_raw(desc.cast::<Desc>())); 0 }
    fn cublasLtMatrixLayoutCreate(layout: *mut *mut c_void, kind: c_int, rows: u64, cols: u64, ld: i64) {
        *layout = Box::into_raw(Box::new(MatrixLayout { kind, rows, cols, ld })).cast();
        0
    }
    fn cublasLtMatrixLayoutDestroy(layout: *mut c_void) { drop(Box::from_raw(layout.cast::<MatrixLayout>())); 0 }
    fn cublasLtMatmulPreferenceCreate(preference: *mut *mut c_void) {
        *preference = Box::into_raw(Box::new(0usize)).cast();
        0
    }
    fn cublasLtMatmulPreferenceSetAttribute(preference: *mut c_void, attribute: c_int, value: *const c_void, size: usize) {
        if (attribute, size) != (1, 8) { return INVALID_VALUE; }
        *preference.cast::<usize>() = value.cast::<usize>().read();
        0
    }
    fn cublasLtMatmulPreferenceDestroy(preference: *mut c_void) { drop(Box::from_raw(preference.cast::<usize>())); 0 }
    fn cublasLtMatmulAlgoGetHeuristic(_handle: *mut c_void, desc: *mut c_void, a: *mut c_void, b: *mut c_void, _c: *mut c_void,
                                      d: *mut c_void, preference: *mut c_void, requested: c_int, results: *mut u64, count: *mut c_int) {
        let (desc, a, b, d) = (&*desc.cast::<Desc>(), &*a.cast::<MatrixLayout>(), &*b.cast::<MatrixLayout>(), &*d.cast::<MatrixLayout>());
        *count = 0;
        // Both FP8 operands K-major, sizes multiples of 16, not both e5m2.
        let fits = desc.transpose_a == 1 && a.rows == b.rows && d.rows == a.cols && d.cols == b.cols
            && a.ld as u64 == a.rows && b.ld as u64 == b.rows && d.ld as u64 == d.rows && requested == 1;
        if !fits { return INVALID_VALUE; }
        if (a.kind, b.kind) == (29, 29) || a.rows % 16 != 0 || a.cols % 16 != 0 { return NOT_SUPPORTED; }
        for i in 0..8 { *results.add(i) = 0xa190 + i as u64; }
        // workspaceSize; then state and wavesCount share a word.
        *results.add(8) = (*preference.cast::<usize>()).min(4096) as u64;
        *results.add(9) = u64::from(0.5f32.to_bits()) << 32;
        *count = 1;
        0
    }
    fn cublasLtMatmulAlgoConfigGetAttribute(algorithm: *const u64, attribute: c_int, value: *mut c_void, size: usize, written: *mut usize) {
        if *algorithm != 0xa190 || size != if attribute >= 7 { 2 } else { 4 } { return INVALID_VALUE; }
        let Some(word) = CONFIG.get(attribute as usize) else { return INVALID_VALUE };
        std::ptr::copy_nonoverlapping(word.to_le_bytes().as_ptr(), value.cast(), size);
        *written = size;
        0
    }
    fn cublasLtMatmul(_handle: *mut c_void, desc: *mut c_void, alpha: *const f32, a: u64, a_layout: *mut c_void, b: u64, b_layout: *mut c_void,
                      beta: *const f32, _c: u64, _c_layout: *mut c_void, d: u64, d_layout: *mut c_void, algorithm: *const u64,
                      _workspace: u64, _size: usize, _stream: *mut c_void) {
        if Config::get().fault("launch", 0) { return 14; }
        let (desc, la, lb, ld) = (&*desc.cast::<Desc>(), &*a_layout.cast::<MatrixLayout>(), &*b_layout.cast::<MatrixLayout>(), &*d_layout.cast::<MatrixLayout>());
        if (*alpha, *beta, *algorithm) != (1.0, 0.0, 0xa190) || desc.fast == 0 && Config::get().number("fast-only", 0) == 1 { return INVALID_VALUE; }
        let scale = |at: u64| if at == 0 { 1.0 } else { f64::from(*(at as *const f32)) };
        let factor = scale(desc.scale_a) * scale(desc.scale_b) * scale(desc.scale_d);
        let numbers = |l: &MatrixLayout, base: u64| -> Vec<f64> {
            let table: Vec<f64> = (0..256).map(|w| decode(token(l.kind), w)).collect();
            (0..l.rows * l.cols).map(|i| table[*((base + i) as *const u8) as usize]).collect()
        };
        let (a, b) = (numbers(la, a), numbers(lb, b));
        let k = la.rows as usize;
        for col in 0..ld.cols {
            for row in 0..ld.rows {
                // Column-major, A transposed: D[row][col] = sum over k of A[k][row] * B[k][col].
                let (x, y) = (&a[row as usize * k..][..k], &b[col as usize * k..][..k]);
                let sum: f64 = x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>() * factor;
                let at = row + col * ld.ld as u64;
                match token(ld.kind) {
                    "f32" => *((d + 4 * at) as *mut u32) = encode("f32", sum, false) as u32,
                    "bf16" => *((d + 2 * at) as *mut u16) = (encode("f32", sum, false) >> 16) as u16,
                    "f16" => *((d + 2 * at) as *mut u16) = encode("f16", sum, false) as u16,
                    _ => return NOT_SUPPORTED,
                }
            }
        }
        0
    }
}
