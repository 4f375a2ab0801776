//! Operands in shared memory: K-major, no swizzle (PTX ISA, "Shared memory matrix layout" of wgmma and tcgen05).
//!
//! Core matrices of 8 rows x 16 bytes, each 128 contiguous bytes; the leading byte offset steps to the next core
//! matrix along K, the stride byte offset to the next 8 rows: ((8,m),(T,2)) : ((1T,SBO),(1,LBO)), T elements of 16
//! bytes.

use super::Matrix;
use crate::format::Format;

/// Bytes between core matrices that are adjacent along K.
pub const LEADING: usize = 128;

/// Bytes between groups of 8 rows whose K extent is `k_bytes`.
pub const fn stride(k_bytes: usize) -> usize {
    k_bytes / 16 * LEADING
}

/// How elements fill 16 bytes of K: 6- and 4-bit elements of the f8f6f4 kinds are packed from the low end, sixteen
/// of them followed by padding ("Packing formats"); the mxf4 kinds pack thirty-two e2m1.
#[derive(Debug, Clone, Copy)]
pub struct Packing {
    pub bits: usize,
    pub per_chunk: usize,
}

impl Packing {
    pub fn of(format: Format, packed_fp4: bool) -> Packing {
        let bits = format.bits() as usize;
        let per_chunk = if packed_fp4 { 32 } else { 128 / format.word_bits() as usize };
        Packing { bits, per_chunk }
    }

    pub fn k_bytes(&self, k: usize) -> usize {
        16 * k.div_ceil(self.per_chunk)
    }
}

/// Bit of element (row, k) of an operand with `k_total` positions, from the operand's first byte.
pub fn bit(p: &Packing, row: usize, k: usize, k_total: usize) -> usize {
    let (chunk, within) = (k / p.per_chunk, k % p.per_chunk);
    8 * ((row / 8) * stride(p.k_bytes(k_total)) + chunk * LEADING + (row % 8) * 16) + within * p.bits
}

/// Bytes of an operand of `rows` rows (a multiple of 8).
pub fn bytes(p: &Packing, rows: usize, k_total: usize) -> usize {
    rows / 8 * stride(p.k_bytes(k_total))
}

/// A (rows of M) and B (columns of N, transposed) from `base` bytes on.
pub fn place(matrix: &mut Matrix, p: &Packing, base: usize, rows: usize, k_total: usize, transposed: bool) {
    for row in 0..rows {
        for k in 0..k_total {
            let at = 8 * base + bit(p, row, k, k_total);
            if transposed {
                matrix.put(0, k, row, at);
            } else {
                matrix.put(0, row, k, at);
            }
        }
    }
}
