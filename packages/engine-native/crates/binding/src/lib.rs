//! The native engine's Node binding: words in, words out, one call a tile.
//!
//! Every call is synchronous and reads typed arrays where they lie, on shared buffers too. What its callers keep:
//! operands and packed panels do not change while loaded, and tiles that run at the same time write disjoint
//! elements of d.

mod fp32;
mod guard;
mod words;

use bitmma_kernel::cells::Cells;
use bitmma_kernel::gemm;
use bitmma_kernel::operand::{self, Matrix};
use bitmma_kernel::session::{self, Refusal};
use napi::{Error, Result, Status};
use napi_derive::napi;
use std::collections::HashMap;
use std::ops::Range;
use words::Words;

fn error(refusal: Refusal) -> Error {
    match refusal {
        Refusal::Input(message) => Error::new(Status::InvalidArg, message),
        Refusal::Unsupported(message) => Error::new(Status::GenericFailure, message),
    }
}

fn guarded<T>(work: impl FnOnce() -> std::result::Result<T, Refusal>) -> Result<T> {
    guard::guarded(work).map_err(|message| Error::new(Status::Unknown, message))?.map_err(error)
}

/// A matrix view over words.
#[napi(object, object_to_js = false)]
pub struct Operand {
    #[napi(ts_type = "Uint8Array | Uint16Array | Uint32Array")]
    pub words: Words,
    pub offset: i64,
    pub row_stride: i64,
    pub col_stride: i64,
}

impl Operand {
    /// # Safety
    /// As Words::read.
    unsafe fn matrix<'a>(&self) -> Matrix<'a> {
        let Operand { words, offset, row_stride, col_stride } = *self;
        // SAFETY: the caller's.
        Matrix { bytes: unsafe { words.read() }, offset, row_stride, col_stride }
    }

    /// # Safety
    /// As Cells::new, for as long as the call lasts.
    unsafe fn cells(&self) -> Cells {
        // SAFETY: the caller's.
        unsafe {
            Cells::new(self.words.start(), self.words.bytes(), self.offset, self.row_stride, self.col_stride)
        }
    }
}

/// The operands of one GEMM.
#[napi(object, object_to_js = false)]
pub struct Inputs {
    pub m: u32,
    pub n: u32,
    pub k: u32,
    pub a: Operand,
    pub b: Operand,
    pub scale_a: Option<Operand>,
    pub scale_b: Option<Operand>,
    pub sparse: Option<Operand>,
}

impl Inputs {
    /// # Safety
    /// As Words::read, for every operand.
    unsafe fn view<'a>(&self) -> operand::Inputs<'a> {
        // SAFETY: the caller's.
        let matrix = |operand: &Operand| unsafe { operand.matrix() };
        operand::Inputs {
            m: self.m as usize,
            n: self.n as usize,
            k: self.k as usize,
            a: matrix(&self.a),
            b: matrix(&self.b),
            scale_a: self.scale_a.as_ref().map(matrix),
            scale_b: self.scale_b.as_ref().map(matrix),
            sparse: self.sparse.as_ref().map(matrix),
        }
    }
}

/// A half-open range of k positions.
#[napi(object, object_to_js = false)]
pub struct KRange {
    pub k0: u32,
    pub k1: u32,
}

/// A rectangle of the result and the chain that leads to it.
#[napi(object, object_to_js = false)]
pub struct Tile {
    pub m0: u32,
    pub m1: u32,
    pub n0: u32,
    pub n1: u32,
    pub chain: Vec<KRange>,
    pub c: Option<Operand>,
    pub d: Operand,
}

/// A batch of independent dot products.
#[napi(object, object_to_js = false)]
pub struct DotBatch {
    pub count: u32,
    pub k: u32,
    #[napi(ts_type = "Uint8Array | Uint16Array | Uint32Array")]
    pub a: Words,
    #[napi(ts_type = "Uint8Array | Uint16Array | Uint32Array")]
    pub b: Words,
    #[napi(ts_type = "Uint8Array | Uint16Array | Uint32Array")]
    pub c: Option<Words>,
    #[napi(ts_type = "Uint8Array")]
    pub scale_a: Option<Words>,
    #[napi(ts_type = "Uint8Array")]
    pub scale_b: Option<Words>,
    #[napi(ts_type = "Uint32Array")]
    pub sparse: Option<Words>,
    #[napi(ts_type = "Uint8Array | Uint16Array | Uint32Array")]
    pub d: Words,
}

/// Kernels for an op on this machine, or the reason why there is none.
#[napi(object, object_from_js = false)]
pub struct Support {
    pub kernels: Vec<String>,
    pub reason: Option<String>,
}

/// Elements by kernel and by rare path since the session was opened.
#[napi(object, object_from_js = false)]
pub struct Report {
    pub kernels: HashMap<String, f64>,
    pub rare_paths: HashMap<String, f64>,
}

/// What this build and machine do with an op, given as JSON.
#[napi]
pub fn supports(op: String) -> Result<Support> {
    guarded(|| {
        Ok(match session::supports(&op) {
            Ok(kernels) => Support { kernels: kernels.into_iter().map(String::from).collect(), reason: None },
            Err(reason) => Support { kernels: Vec::new(), reason: Some(reason) },
        })
    })
}

/// One op on one kernel.
#[napi]
pub struct Session {
    inner: session::Session,
}

/// The 64-byte aligned `len` u64 words inside `packed`, which has room for the alignment; none where it has not.
fn aligned(packed: Words, len: usize) -> Option<*mut u64> {
    let skip = packed.start().align_offset(64);
    (len > 0 && skip + 8 * len <= packed.bytes()).then(|| packed.start().wrapping_add(skip).cast())
}

#[napi]
impl Session {
    /// Opens an op, given as JSON; `kernel` forces one of supports().
    #[napi(factory)]
    pub fn open(op: String, kernel: Option<String>) -> Result<Session> {
        guarded(|| session::Session::open(&op, kernel.as_deref()).map(|inner| Session { inner }))
    }

    /// Name of the kernel in use.
    #[napi(getter)]
    pub fn kernel(&self) -> &'static str {
        self.inner.kernel()
    }

    /// Checks every operand and metadata selector; returns the bytes for a packed b, 0 where none is needed.
    #[napi]
    pub fn check(&self, inputs: Inputs) -> Result<f64> {
        // SAFETY: operands do not change while they are loaded (module's contract).
        let view = unsafe { inputs.view() };
        guarded(|| {
            self.inner.check(&view)?;
            Ok(match self.inner.shared_len(&view) {
                0 => 0.0,
                len => (8 * len + 64) as f64,
            })
        })
    }

    /// Runs one tile. `packed`: bytes as many as check() said, zero at first, the same for every thread; those that
    /// run the first tiles of these inputs pack b there together. Empty where check() said 0.
    #[napi]
    pub fn tile(
        &mut self,
        inputs: Inputs,
        #[napi(ts_arg_type = "Uint8Array")] packed: Words,
        tile: Tile,
    ) -> Result<()> {
        // SAFETY: operands do not change while they are loaded; concurrent tiles write disjoint elements of d, and
        // c's elements are those of d or do not change (module's contract).
        let (view, c, d) = unsafe { (inputs.view(), tile.c.as_ref().map(|c| c.cells()), tile.d.cells()) };
        let chain: Vec<Range<usize>> =
            tile.chain.iter().map(|range| range.k0 as usize..range.k1 as usize).collect();
        let work = gemm::Tile {
            rows: tile.m0 as usize..tile.m1 as usize,
            cols: tile.n0 as usize..tile.n1 as usize,
            chain: &chain,
            c,
            d,
        };
        guarded(|| {
            let packed = match aligned(packed, self.inner.shared_len(&view)) {
                // SAFETY: the bytes were zero, and only tiles of these inputs write them (module's contract).
                Some(memory) => unsafe { self.inner.pack_shared(&view, memory)? },
                None => &[],
            };
            self.inner.tile(&view, packed, &work)
        })
    }

    /// Runs a batch of independent dot products.
    #[napi]
    pub fn dots(&mut self, batch: DotBatch) -> Result<()> {
        // SAFETY: nobody else touches a batch while it runs (module's contract).
        let read = |words: Words| unsafe { words.read() };
        let column = |words: Words| {
            // SAFETY: as above.
            unsafe { Cells::new(words.start(), words.bytes(), 0, 1, 1) }
        };
        let work = gemm::Dots {
            count: batch.count as usize,
            k: batch.k as usize,
            a: read(batch.a),
            b: read(batch.b),
            c: batch.c.map(column),
            scale_a: batch.scale_a.map(read),
            scale_b: batch.scale_b.map(read),
            sparse: batch.sparse.map(read),
            d: column(batch.d),
        };
        guarded(|| self.inner.dots(&work))
    }

    /// Counts since the session was opened.
    #[napi]
    pub fn report(&self) -> Report {
        let map = |counts: Vec<(&'static str, u64)>| {
            counts.into_iter().map(|(name, count)| (name.to_owned(), count as f64)).collect()
        };
        Report { kernels: map(self.inner.kernel_counts()), rare_paths: map(self.inner.rare_counts()) }
    }
}
