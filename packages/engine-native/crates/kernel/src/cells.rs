//! Words of c and d, which several threads hold at once.

use crate::operand::{Matrix, check_span};
use bitmma_microkernel as micro;
use std::ops::Range;

/// Words that several threads may hold at once: c, which may be d itself, and d.
#[derive(Clone, Copy, Debug)]
pub struct Cells {
    start: *mut u8,
    bytes: usize,
    pub offset: i64,
    pub row_stride: i64,
    pub col_stride: i64,
}

impl Cells {
    /// # Safety
    /// `start` points to `bytes` bytes that stay readable, and writable where `set` is called, as long as the value
    /// lives; no other thread touches the elements that this one reads or writes meanwhile.
    pub unsafe fn new(start: *mut u8, bytes: usize, offset: i64, row_stride: i64, col_stride: i64) -> Cells {
        Cells { start, bytes, offset, row_stride, col_stride }
    }

    /// The same cells, `rows` further down.
    pub fn moved(&self, rows: usize) -> Cells {
        Cells { offset: self.offset + rows as i64 * self.row_stride, ..*self }
    }

    /// The cells as a micro-kernel reads them; None where a stride is negative or the items unaligned.
    pub fn view(&self, word_bytes: usize) -> Option<micro::View<'_>> {
        // SAFETY: `new` vouches for the bytes as long as the value lives.
        let bytes = unsafe { std::slice::from_raw_parts(self.start, self.bytes) };
        let Cells { offset, row_stride, col_stride, .. } = *self;
        crate::micro::view(&Matrix { bytes, offset, row_stride, col_stride }, word_bytes)
    }

    /// The cells as a micro-kernel writes them; None where `view` is None, or where items are not 16 or 32 bits.
    pub fn out(&self, word_bytes: usize) -> Option<micro::Out> {
        // Negative where the words hold one tile alone: two's complement, as Out takes it.
        let offset = self.offset as usize;
        let rows = usize::try_from(self.row_stride).ok()?;
        let cols = usize::try_from(self.col_stride).ok()?;
        let len = self.bytes / word_bytes;
        let aligned = self.start.addr().is_multiple_of(word_bytes);
        match word_bytes {
            // SAFETY: aligned; `len` items lie inside the bytes that `new` vouches for, as long and as exclusively.
            2 if aligned => Some(unsafe { micro::Out::u16(self.start.cast(), len, offset, rows, cols) }),
            // SAFETY: as above.
            4 if aligned => Some(unsafe { micro::Out::u32(self.start.cast(), len, offset, rows, cols) }),
            _ => None,
        }
    }

    /// Checks that rows x cols lie inside the bytes.
    pub fn check(
        &self,
        name: &str,
        word_bytes: usize,
        rows: Range<usize>,
        cols: Range<usize>,
    ) -> Result<(), String> {
        let offset = self.offset + rows.start as i64 * self.row_stride + cols.start as i64 * self.col_stride;
        let (rows, cols) = ((rows.len(), self.row_stride), (cols.len(), self.col_stride));
        check_span(name, self.bytes / word_bytes, offset, rows, cols)
    }

    fn at(&self, word_bytes: usize, row: usize, col: usize) -> *mut u8 {
        let index = self.offset + row as i64 * self.row_stride + col as i64 * self.col_stride;
        let byte = index as usize * word_bytes;
        assert!(
            index >= 0 && byte + word_bytes <= self.bytes,
            "element {index} outside {} bytes",
            self.bytes
        );
        self.start.wrapping_add(byte)
    }

    pub fn get(&self, word_bytes: usize, row: usize, col: usize) -> u64 {
        let mut word = [0; 8];
        let at = self.at(word_bytes, row, col);
        // SAFETY: `at` lies inside the bytes that `new` vouches for, asserted above; `word` is a separate local of 8
        // bytes and word_bytes is at most 8.
        unsafe { std::ptr::copy_nonoverlapping(at, word.as_mut_ptr(), word_bytes) };
        u64::from_le_bytes(word)
    }

    pub fn set(&self, word_bytes: usize, row: usize, col: usize, word: u64) {
        let at = self.at(word_bytes, row, col);
        // SAFETY: as in `get`; `new` vouches that nobody else touches this element.
        unsafe { std::ptr::copy_nonoverlapping(word.to_le_bytes().as_ptr(), at, word_bytes) };
    }
}
