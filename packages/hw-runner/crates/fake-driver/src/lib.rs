//! A machine without a GPU that behaves like one with: the CUDA driver API, the HIP runtime and hiprtc. Kernels are
//! interpreted from their text, fragments and descriptors from the vendors' documentation, never from the tables of
//! the program under test. `config.rs` says how tests choose the device and its faults.

mod config;
mod cublaslt;
mod cuda;
mod exec;
mod fragments;
mod hip;
mod numbers;
mod product;
mod ptx;
mod tensor;

/// `corrupt=N`: changes the last word of every N-th case's output, as a broken extraction would.
fn corrupt(allocations: &[(u64, usize)], output: u64, cases: u32) {
    let every = config::Config::get().number("corrupt", 0);
    let Some((base, size)) = allocations.iter().find(|(base, _)| *base == output) else { return };
    let each = size / cases.max(1) as usize;
    // Probe launches are left alone: they have fewer cases than any test's batch.
    if every == 0 || cases < 100 {
        return;
    }
    for case in (0..cases as u64).filter(|c| c % every == 0) {
        // SAFETY: the last four bytes of this case's image, within the allocation.
        unsafe { *((base + (case + 1) * each as u64 - 4) as *mut u32) ^= 1 };
    }
}
