//! Chains without windows: one accumulator word an element, one multiply-add a unit of K, in order. Shared by fp32
//! fused multiply-adds (a unit is one k) and by integers (a unit is 2 or 4 k of one 32-bit word).
//!
//! Packed A: [block of KC units][4 rows][unit][row]; packed panel of B: [unit][64 columns]. A block of B stays in the
//! L1 cache while the rows pass. Behind both, where the unit is sticky, lie words that tell of non-finite operands: one
//! for each group of 4 rows, one for the panel.

use core::marker::PhantomData;
use core::ops::Range;

use crate::PANEL;
use crate::gemm::ROW_BLOCK;
use crate::lanes::{gather, prefetch};
use crate::microkernel::{Block, Micro};
use crate::params::Format;
use crate::words::View;

/// Rows of one register tile.
pub const ROWS: usize = 4;

/// One multiply-add of an instruction set.
pub(crate) trait Unit: Send + Sync + 'static {
    const NAME: &'static str;
    /// k of one unit.
    const PER: usize;
    /// Units of one block.
    const KC: usize;

    /// The unit word of A, or of B, that holds up to PER words.
    fn a(words: &[u32], format: Format) -> u32;
    fn b(words: &[u32], format: Format) -> u32;

    /// c += a b over `units` units, 4 rows by 64 columns.
    ///
    /// # Safety
    /// The machine has the instruction set; `a` covers 4 `units` words, `b` 64 `units`, `c` 256.
    unsafe fn step(a: *const u32, b: *const u32, c: *mut u32, units: usize);

    /// What the sums of a range lack: c[row][column] for the offsets that `a` and `b` added.
    fn correct(_: &Block<'_>, _: Range<usize>, _: usize, _: (Format, Format)) -> Option<Vec<u32>> {
        None
    }

    /// Whether a non-finite accumulator stays as it is beside finite operands.
    const STICKY: bool = false;

    /// Whether the caller has to compute rows and columns with non-finite operands.
    const FINITE: bool = false;

    /// Whether the unit takes this initial accumulator word.
    fn addend_ok(_: u32) -> bool {
        true
    }

    /// Result words that the caller has to compute.
    fn refuse(word: u32) -> bool;
}

pub(crate) struct Plain<U: Unit> {
    a: Format,
    b: Format,
    /// K is packed to a multiple of this, so that padding takes part in the chain.
    multiple: usize,
    unit: PhantomData<U>,
}

impl<U: Unit> Plain<U> {
    pub fn new(a: Format, b: Format, k: usize) -> Self {
        Plain { a, b, multiple: k.next_multiple_of(U::PER), unit: PhantomData }
    }

    fn units(&self, k: usize) -> usize {
        k.next_multiple_of(self.multiple) / U::PER
    }

    /// Words of packed A before its tail.
    fn a_words(&self, groups: usize, k: usize) -> usize {
        groups * ROWS * self.units(k).next_multiple_of(U::KC)
    }
}

/// Exponent field of a format with infinities.
fn field(f: Format) -> u32 {
    match f {
        Format::Bf16 => 0x7F80,
        Format::Fp16 => 0x7C00,
        _ => 0x7F80_0000,
    }
}

/// Lanes whose exponent field is full.
#[inline(always)]
fn nonfinite(words: &[u32; PANEL], f: Format) -> u64 {
    let field = field(f);
    if words.iter().fold(0, |any, w| any | u32::from(w & field == field)) == 0 {
        return 0;
    }
    words.iter().enumerate().map(|(j, w)| u64::from(w & field == field) << j).sum()
}

impl<U: Unit> Micro for Plain<U> {
    fn name(&self) -> &'static str {
        U::NAME
    }

    fn a_len(&self, rows: usize, k: usize) -> usize {
        let groups = rows.div_ceil(ROWS);
        self.a_words(groups, k) / 2 + if U::STICKY { groups } else { 0 }
    }

    fn b_len(&self, k: usize) -> usize {
        self.units(k) * PANEL / 2 + usize::from(U::STICKY)
    }

    fn pack_a(&self, a: &View<'_>, rows: Range<usize>, k: usize, out: &mut [u64], bad: &mut [u64]) {
        let groups = rows.len().div_ceil(ROWS);
        let units = self.units(k);
        let (out, tail) = out.split_at_mut(self.a_words(groups, k) / 2);
        let out = super::as_words(out);
        for group in 0..groups {
            let mut special = [0u64; ROWS];
            for k0 in (0..units * U::PER).step_by(PANEL) {
                let words: [[u32; PANEL]; ROWS] = core::array::from_fn(|r| {
                    let local = group * ROWS + r;
                    let live = if local < rows.len() { k.saturating_sub(k0).min(PANEL) } else { 0 };
                    gather(a, rows.start + local, k0, live)
                });
                if U::STICKY {
                    for r in 0..ROWS {
                        special[r] |= nonfinite(&words[r], self.a);
                    }
                }
                let first = k0 / U::PER;
                for u in first..units.min(first + PANEL / U::PER) {
                    let at = ((u / U::KC * groups + group) * U::KC + u % U::KC) * ROWS;
                    for r in 0..ROWS {
                        out[at + r] = U::a(&words[r][(u - first) * U::PER..][..U::PER], self.a);
                    }
                }
            }
            if U::STICKY {
                tail[group] = special.iter().fold(0, |any, x| any | x);
            }
            for (bad, special) in bad[group * ROWS..].iter_mut().zip(special) {
                if U::FINITE && special != 0 {
                    *bad = u64::MAX;
                }
            }
        }
    }

    fn pack_b(&self, b: &View<'_>, cols: Range<usize>, k: usize, out: &mut [u64]) -> u64 {
        let (out, tail) = out.split_at_mut(self.units(k) * PANEL / 2);
        let mut special = 0;
        for (u, out) in super::as_words(out).chunks_exact_mut(PANEL).enumerate() {
            let live = |i: usize| if u * U::PER + i < k { cols.len() } else { 0 };
            if U::PER == 1 {
                prefetch(b, u + 12, cols.start);
                let words = gather(b, u, cols.start, live(0));
                if U::STICKY {
                    special |= nonfinite(&words, self.b);
                }
                for (out, word) in out.iter_mut().zip(&words) {
                    *out = U::b(core::slice::from_ref(word), self.b);
                }
                continue;
            }
            let rows: [[u32; PANEL]; 4] = core::array::from_fn(|i| {
                let live = if i < U::PER { live(i) } else { 0 };
                gather(b, u * U::PER + i, cols.start, live)
            });
            for (j, out) in out.iter_mut().enumerate() {
                let words = [rows[0][j], rows[1][j], rows[2][j], rows[3][j]];
                *out = U::b(&words[..U::PER], self.b);
            }
        }
        if U::STICKY {
            tail[0] = special;
        }
        if U::FINITE { special } else { 0 }
    }

    fn addend_ok(&self, word: u32) -> bool {
        U::addend_ok(word)
    }

    fn run(&self, block: Block<'_>) -> bool {
        let groups = block.rows.div_ceil(ROWS);
        let mut done = [false; ROW_BLOCK / ROWS];
        // Groups that may be done early: non-finite operands lie in rows or columns of the caller's, or nowhere.
        let finite = |g: usize| {
            let (a, b) =
                (&block.a[self.a_words(groups, block.k) / 2..], &block.b[self.units(block.k) * PANEL / 2..]);
            U::STICKY && (U::FINITE || a[g] | b[0] == 0)
        };
        for range in block.chain {
            let units = range.start / U::PER..range.start / U::PER + self.units(range.len());
            let (a, b) = (block.a.as_ptr().cast::<u32>(), block.b.as_ptr().cast::<u32>());
            let mut u = units.start;
            while u < units.end {
                let n = (U::KC - u % U::KC).min(units.end - u);
                for g in 0..groups {
                    if done[g] {
                        continue;
                    }
                    let at = ((u / U::KC * groups + g) * U::KC + u % U::KC) * ROWS;
                    let c = &mut block.c[g * ROWS * PANEL..][..ROWS * PANEL];
                    // SAFETY: dispatch made this kernel on a machine with the instruction set; the units lie in the
                    // packed buffers, whose lengths Kernel::tile takes from `a_len` and `b_len`.
                    unsafe { U::step(a.add(at), b.add(u * PANEL), c.as_mut_ptr(), n) };
                    let ends = |(i, word): (usize, &u32)| {
                        is_nonfinite(*word) || block.bad[g * ROWS + i / PANEL] >> (i % PANEL) & 1 != 0
                    };
                    done[g] = U::STICKY && c.iter().enumerate().all(ends) && finite(g);
                }
                u += n;
            }
            if let Some(lack) = U::correct(&block, units, groups, (self.a, self.b)) {
                for (c, lack) in block.c.iter_mut().zip(lack) {
                    *c = c.wrapping_add(lack);
                }
            }
        }
        for (row, bad) in block.bad[..block.rows.min(ROW_BLOCK)].iter_mut().enumerate() {
            let words = &block.c[row * PANEL..][..PANEL];
            if words.iter().fold(false, |any, word| any | U::refuse(*word)) {
                for (j, word) in words.iter().enumerate() {
                    *bad |= u64::from(U::refuse(*word)) << j;
                }
            }
        }
        false
    }
}

/// Two 8-bit integers of a unit, widened to 16 bits.
pub fn pair(words: &[u32], format: Format) -> u32 {
    let wide = |w: u32| if format == Format::S8 { w as u8 as i8 as i16 as u16 } else { u16::from(w as u8) };
    u32::from(wide(words[0])) | u32::from(wide(words[1])) << 16
}

/// fp32 and 8-bit words of a unit as they are.
pub fn bytes(words: &[u32]) -> u32 {
    words.iter().enumerate().fold(0, |x, (i, w)| x | (w & 255) << (8 * i))
}

pub fn is_nan(word: u32) -> bool {
    word << 1 > 0xFF00_0000
}

pub fn is_nonfinite(word: u32) -> bool {
    word << 1 >= 0xFF00_0000
}

/// The fp32 word of a bf16 or fp16 word, a subnormal as a zero of its sign.
pub fn flushed_fp32(word: u32, format: Format) -> u32 {
    let (bits, fraction) = if format == Format::Bf16 { (8, 7) } else { (5, 10) };
    let sign = (word >> (bits + fraction) & 1) << 31;
    let x = word >> fraction & ((1 << bits) - 1);
    let m = (word & ((1 << fraction) - 1)) << (23 - fraction);
    if x == 0 {
        sign
    } else if x + 1 == 1 << bits {
        sign | 0x7F80_0000 | m
    } else {
        sign | (x + 128 - (1 << (bits - 1))) << 23 | m
    }
}

/// The fp32 word of a bf16 or fp16 word.
pub fn exact_fp32(word: u32, format: Format) -> u32 {
    let m = word & 0x3FF;
    if format == Format::Bf16 || word & 0x7C00 != 0 || m == 0 {
        return if format == Format::Bf16 { word << 16 } else { flushed_fp32(word, format) };
    }
    // An fp16 subnormal m 2^-24 is normal in fp32.
    (m as f32 * 2f32.powi(-24)).to_bits() | (word & 0x8000) << 16
}
