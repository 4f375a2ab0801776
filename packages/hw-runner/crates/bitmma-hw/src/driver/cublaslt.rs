//! cuBLASLt, by hand: libcublasLt is loaded at run time, where it is.

use super::cuda::Cuda;
use crate::error::{Error, Result};
use crate::format::Format;
use std::ffi::{c_int, c_void};

type Status = c_int;
type Handle = *mut c_void;

const COMPUTE_32F: c_int = 68;
const R_32F: c_int = 0;

/// cublasLtMatmulDescAttributes_t.
const TRANSA: c_int = 3;
const A_SCALE_POINTER: c_int = 17;
const B_SCALE_POINTER: c_int = 18;
const D_SCALE_POINTER: c_int = 20;
const FAST_ACCUM: c_int = 25;
/// cublasLtMatmulPreferenceAttributes_t.
const MAX_WORKSPACE_BYTES: c_int = 1;

/// cublasLtMatmulAlgoConfigAttributes_t, and the bytes of each.
const CONFIG: [(&str, c_int, usize); 9] = [
    ("id", 0, 4),
    ("tile", 1, 4),
    ("splitK", 2, 4),
    ("reductionScheme", 3, 4),
    ("ctaSwizzling", 4, 4),
    ("customOption", 5, 4),
    ("stages", 6, 4),
    ("innerShape", 7, 2),
    ("clusterShape", 8, 2),
];

/// cublasLtMatmulHeuristicResult_t.
#[repr(C)]
#[derive(Clone, Copy)]
struct Heuristic {
    algorithm: [u64; 8],
    workspace: usize,
    state: Status,
    waves: f32,
    reserved: [c_int; 4],
}

type SetAttribute = unsafe extern "C" fn(Handle, c_int, *const c_void, usize) -> Status;

struct Api {
    create: unsafe extern "C" fn(*mut Handle) -> Status,
    get_version: unsafe extern "C" fn() -> usize,
    desc_create: unsafe extern "C" fn(*mut Handle, c_int, c_int) -> Status,
    desc_set: SetAttribute,
    desc_destroy: unsafe extern "C" fn(Handle) -> Status,
    layout_create: unsafe extern "C" fn(*mut Handle, c_int, u64, u64, i64) -> Status,
    layout_destroy: unsafe extern "C" fn(Handle) -> Status,
    preference_create: unsafe extern "C" fn(*mut Handle) -> Status,
    preference_set: SetAttribute,
    preference_destroy: unsafe extern "C" fn(Handle) -> Status,
    #[allow(clippy::type_complexity)]
    heuristic: unsafe extern "C" fn(
        Handle,
        Handle,
        Handle,
        Handle,
        Handle,
        Handle,
        Handle,
        c_int,
        *mut Heuristic,
        *mut c_int,
    ) -> Status,
    config_get: unsafe extern "C" fn(*const u64, c_int, *mut c_void, usize, *mut usize) -> Status,
    #[allow(clippy::type_complexity)]
    matmul: unsafe extern "C" fn(
        Handle,
        Handle,
        *const c_void,
        u64,
        Handle,
        u64,
        Handle,
        *const c_void,
        u64,
        Handle,
        u64,
        Handle,
        *const u64,
        u64,
        usize,
        *mut c_void,
    ) -> Status,
    _library: libloading::Library,
}

/// One FP8 GEMM, as torch's `_scaled_mm` calls it: D (m x n) = A (m x k, row-major) * B (k x n, column-major).
pub struct Gemm {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub a: Format,
    pub b: Format,
    pub out: Format,
    pub fast: bool,
    pub scale_a: u32,
    pub scale_b: u32,
    pub scale_result: Option<u32>,
    pub workspace: usize,
    /// Rows of A; columns of B.
    pub words_a: Vec<u8>,
    pub words_b: Vec<u8>,
}

/// What came back: words of D, row-major, and the algorithm's attributes by name.
pub struct Product {
    pub d: Vec<u8>,
    pub algorithm: Vec<(&'static str, u64)>,
    pub workspace: usize,
    pub waves: f32,
}

fn data_type(f: Format) -> Result<c_int> {
    Ok(match f {
        Format::Fp32 => R_32F,
        Format::Fp16 => 2,
        Format::Bf16 => 14,
        Format::E4m3 => 28,
        Format::E5m2 => 29,
        other => {
            return Err(Error::Input(format!("out: expected f32, f16, bf16, e4m3 or e5m2, got {}", other.token())))
        }
    })
}

fn check(what: &str, status: Status) -> Result<()> {
    match status {
        0 => Ok(()),
        15 => Err(Error::Device(format!("{what}: cuBLASLt does not support this GEMM (CUBLAS_STATUS_NOT_SUPPORTED)"))),
        other => Err(Error::Device(format!("{what} failed: cuBLAS status {other}"))),
    }
}

/// A cuBLASLt object that ends with its scope.
struct Owned {
    handle: Handle,
    destroy: unsafe extern "C" fn(Handle) -> Status,
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: created by the matching function, destroyed once.
        unsafe { (self.destroy)(self.handle) };
    }
}

pub struct CublasLt {
    api: Api,
    handle: Handle,
    cuda: Cuda,
}

impl CublasLt {
    pub fn open(cuda: Cuda) -> Result<CublasLt> {
        let missing = |e: String| {
            Error::unavailable(
                format!("cuBLASLt could not be loaded ({e})"),
                "install the CUDA toolkit's libcublasLt, or put its folder on LD_LIBRARY_PATH",
            )
        };
        let library = super::library(&["libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"]).map_err(missing)?;
        macro_rules! symbol {
            ($name:literal) => {
                // SAFETY: the signatures are those of cublasLt.h for these names.
                *unsafe { library.get(concat!($name, "\0").as_bytes()) }.map_err(|e| missing(e.to_string()))?
            };
        }
        let api = Api {
            create: symbol!("cublasLtCreate"),
            get_version: symbol!("cublasLtGetVersion"),
            desc_create: symbol!("cublasLtMatmulDescCreate"),
            desc_set: symbol!("cublasLtMatmulDescSetAttribute"),
            desc_destroy: symbol!("cublasLtMatmulDescDestroy"),
            layout_create: symbol!("cublasLtMatrixLayoutCreate"),
            layout_destroy: symbol!("cublasLtMatrixLayoutDestroy"),
            preference_create: symbol!("cublasLtMatmulPreferenceCreate"),
            preference_set: symbol!("cublasLtMatmulPreferenceSetAttribute"),
            preference_destroy: symbol!("cublasLtMatmulPreferenceDestroy"),
            heuristic: symbol!("cublasLtMatmulAlgoGetHeuristic"),
            config_get: symbol!("cublasLtMatmulAlgoConfigGetAttribute"),
            matmul: symbol!("cublasLtMatmul"),
            _library: library,
        };
        let mut handle = std::ptr::null_mut();
        // SAFETY: the CUDA context of `cuda` is current in this thread.
        check("cublasLtCreate", unsafe { (api.create)(&mut handle) })?;
        Ok(CublasLt { api, handle, cuda })
    }

    /// `12.8.3`.
    pub fn version(&self) -> String {
        // SAFETY: no arguments.
        let v = unsafe { (self.api.get_version)() };
        let (major, minor, patch) =
            if v >= 100_000 { (v / 10_000, v / 100 % 100, v % 100) } else { (v / 1000, v / 100 % 10, v % 100) };
        format!("{major}.{minor}.{patch}")
    }

    pub fn cuda(&self) -> &Cuda {
        &self.cuda
    }

    fn layout(&self, kind: c_int, rows: usize, cols: usize, ld: usize) -> Result<Owned> {
        let mut handle = std::ptr::null_mut();
        // SAFETY: stores a new layout.
        let status = unsafe { (self.api.layout_create)(&mut handle, kind, rows as u64, cols as u64, ld as i64) };
        check("cublasLtMatrixLayoutCreate", status)?;
        Ok(Owned { handle, destroy: self.api.layout_destroy })
    }

    fn set<T>(&self, set: SetAttribute, object: &Owned, attribute: c_int, value: &T) -> Result<()> {
        // SAFETY: the attribute's type is T, per cublasLt.h.
        let status = unsafe { set(object.handle, attribute, std::ptr::from_ref(value).cast(), size_of::<T>()) };
        check("setting a cuBLASLt attribute", status)
    }

    /// Runs one GEMM by the algorithm that cuBLASLt's heuristic puts first.
    pub fn run(&mut self, g: &Gemm) -> Result<Product> {
        let (m, n, k) = (g.m, g.n, g.k);
        let out_bytes = m * n * g.out.word_bits() as usize / 8;
        let a = self.cuda.upload(&g.words_a)?;
        let b = self.cuda.upload(&g.words_b)?;
        let d = self.cuda.allocate(out_bytes)?;
        let workspace = self.cuda.allocate(g.workspace)?;
        let scale_a = self.cuda.upload(&g.scale_a.to_le_bytes())?;
        let scale_b = self.cuda.upload(&g.scale_b.to_le_bytes())?;
        let scale_d = g.scale_result.map(|s| self.cuda.upload(&s.to_le_bytes())).transpose()?;

        let mut handle = std::ptr::null_mut();
        // SAFETY: stores a new descriptor.
        check("cublasLtMatmulDescCreate", unsafe { (self.api.desc_create)(&mut handle, COMPUTE_32F, R_32F) })?;
        let desc = Owned { handle, destroy: self.api.desc_destroy };
        let set = self.api.desc_set;
        // cuBLAS is column-major: it computes D^T (n x m) = B^T * A^T, so its A is our B, transposed.
        self.set(set, &desc, TRANSA, &1i32)?;
        self.set(set, &desc, A_SCALE_POINTER, &scale_b.address())?;
        self.set(set, &desc, B_SCALE_POINTER, &scale_a.address())?;
        if let Some(scale) = &scale_d {
            self.set(set, &desc, D_SCALE_POINTER, &scale.address())?;
        }
        self.set(set, &desc, FAST_ACCUM, &i8::from(g.fast))?;
        let layout_a = self.layout(data_type(g.b)?, k, n, k)?;
        let layout_b = self.layout(data_type(g.a)?, k, m, k)?;
        // C is not read (beta 0); its type is fp16 where the result is FP8, the result's otherwise.
        let fp8_out = matches!(g.out, Format::E4m3 | Format::E5m2);
        let layout_c = self.layout(data_type(if fp8_out { Format::Fp16 } else { g.out })?, n, m, n)?;
        let layout_d = self.layout(data_type(g.out)?, n, m, n)?;

        let mut handle = std::ptr::null_mut();
        // SAFETY: stores a new preference.
        check("cublasLtMatmulPreferenceCreate", unsafe { (self.api.preference_create)(&mut handle) })?;
        let preference = Owned { handle, destroy: self.api.preference_destroy };
        self.set(self.api.preference_set, &preference, MAX_WORKSPACE_BYTES, &g.workspace)?;
        let mut found = Heuristic { algorithm: [0; 8], workspace: 0, state: 0, waves: 0.0, reserved: [0; 4] };
        let mut count = 0;
        // SAFETY: room for the one result asked for.
        let status = unsafe {
            (self.api.heuristic)(
                self.handle,
                desc.handle,
                layout_a.handle,
                layout_b.handle,
                layout_c.handle,
                layout_d.handle,
                preference.handle,
                1,
                &mut found,
                &mut count,
            )
        };
        check("cublasLtMatmulAlgoGetHeuristic", status)?;
        if count == 0 {
            return check("cublasLtMatmulAlgoGetHeuristic", 15).map(|()| unreachable!());
        }
        let (alpha, beta) = (1f32, 0f32);
        // SAFETY: device buffers of the sizes that the layouts state.
        let status = unsafe {
            (self.api.matmul)(
                self.handle,
                desc.handle,
                (&raw const alpha).cast(),
                b.address(),
                layout_a.handle,
                a.address(),
                layout_b.handle,
                (&raw const beta).cast(),
                d.address(),
                layout_c.handle,
                d.address(),
                layout_d.handle,
                found.algorithm.as_ptr(),
                workspace.address(),
                g.workspace,
                std::ptr::null_mut(),
            )
        };
        check("cublasLtMatmul", status)?;
        self.cuda.synchronize("the GEMM")?;
        let words = self.cuda.download(&d, out_bytes)?;
        for buffer in [a, b, d, workspace, scale_a, scale_b].into_iter().chain(scale_d) {
            self.cuda.free(buffer)?;
        }
        Ok(Product { d: words, algorithm: self.config(&found)?, workspace: found.workspace, waves: found.waves })
    }

    fn config(&self, found: &Heuristic) -> Result<Vec<(&'static str, u64)>> {
        CONFIG
            .iter()
            .map(|&(name, attribute, bytes)| {
                let (mut value, mut written) = (0u64, 0usize);
                // SAFETY: a buffer of the attribute's size.
                let status = unsafe {
                    (self.api.config_get)(
                        found.algorithm.as_ptr(),
                        attribute,
                        (&raw mut value).cast(),
                        bytes,
                        &mut written,
                    )
                };
                check(&format!("reading the algorithm's {name}"), status)?;
                Ok((name, value))
            })
            .collect()
    }
}
