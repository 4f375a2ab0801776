//! Selection: which micro-kernel serves an op on an instruction set.

use crate::detect::Isa;
use crate::gemm::Kernel;
use crate::params::Params;

/// The micro-kernel of `isa` for this op; None where there is none, or where the machine lacks `isa`.
pub fn select(params: &Params, isa: Isa) -> Option<Kernel> {
    let _ = params;
    if !isa.available() {
        return None;
    }
    None
}
