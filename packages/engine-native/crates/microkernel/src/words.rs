//! Views of word buffers. No float crosses this boundary.

use std::ops::Range;

/// A read-only word buffer, one element an item.
#[derive(Clone, Copy, Debug)]
pub enum Words<'a> {
    U8(&'a [u8]),
    U16(&'a [u16]),
    U32(&'a [u32]),
}

impl Words<'_> {
    pub fn len(&self) -> usize {
        match self {
            Words::U8(w) => w.len(),
            Words::U16(w) => w.len(),
            Words::U32(w) => w.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A matrix over words: element (row, col) at `offset + row * row_stride + col * col_stride`.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub words: Words<'a>,
    pub offset: usize,
    pub row_stride: usize,
    pub col_stride: usize,
}

impl View<'_> {
    #[inline(always)]
    pub fn index(&self, row: usize, col: usize) -> usize {
        self.offset + row * self.row_stride + col * self.col_stride
    }

    /// The element's word, zero-extended.
    #[inline(always)]
    pub fn get(&self, row: usize, col: usize) -> u32 {
        let i = self.index(row, col);
        match self.words {
            Words::U8(w) => u32::from(w[i]),
            Words::U16(w) => u32::from(w[i]),
            Words::U32(w) => w[i],
        }
    }

    /// Whether every element of a rows x cols matrix lies in the buffer.
    pub fn holds(&self, rows: usize, cols: usize) -> bool {
        rows == 0 || cols == 0 || self.index(rows - 1, cols - 1) < self.words.len()
    }
}

#[derive(Clone, Copy, Debug)]
enum Target {
    U16(*mut u16),
    U32(*mut u32),
}

/// The words of D. Other threads may write other elements of the same buffer meanwhile, so it is a raw pointer.
#[derive(Debug)]
pub struct Out {
    target: Target,
    len: usize,
    pub offset: usize,
    pub row_stride: usize,
    pub col_stride: usize,
}

impl Out {
    /// D as 16-bit words.
    ///
    /// # Safety
    /// `ptr` is valid for writes of `len` items while the value lives; no other code touches the elements of the
    /// tiles written through it meanwhile.
    pub unsafe fn u16(
        ptr: *mut u16,
        len: usize,
        offset: usize,
        row_stride: usize,
        col_stride: usize,
    ) -> Self {
        Out { target: Target::U16(ptr), len, offset, row_stride, col_stride }
    }

    /// D as 32-bit words.
    ///
    /// # Safety
    /// As [`Out::u16`].
    pub unsafe fn u32(
        ptr: *mut u32,
        len: usize,
        offset: usize,
        row_stride: usize,
        col_stride: usize,
    ) -> Self {
        Out { target: Target::U32(ptr), len, offset, row_stride, col_stride }
    }

    /// Item of an element. The offset may be a negative number in two's complement, where the buffer holds one tile
    /// alone; an index outside wraps beyond every length.
    #[inline(always)]
    fn index(&self, row: usize, col: usize) -> usize {
        self.offset.wrapping_add(row * self.row_stride).wrapping_add(col * self.col_stride)
    }

    /// Whether every element of rows x cols lies in the buffer.
    pub fn holds(&self, rows: &Range<usize>, cols: &Range<usize>) -> bool {
        if rows.is_empty() || cols.is_empty() {
            return true;
        }
        let (first, last) = (self.index(rows.start, cols.start), self.index(rows.end - 1, cols.end - 1));
        first <= last && last < self.len
    }

    /// Bits of one word: 16 or 32.
    pub fn width(&self) -> u32 {
        match self.target {
            Target::U16(_) => 16,
            Target::U32(_) => 32,
        }
    }

    /// Writes consecutive columns of a row.
    pub(crate) fn put_row(&mut self, row: usize, col: usize, words: &[u32]) {
        let i = self.index(row, col);
        assert!(words.is_empty() || i + (words.len() - 1) * self.col_stride < self.len);
        if let (Target::U32(p), 1) = (self.target, self.col_stride) {
            // SAFETY: the last index was just asserted, and the constructor's contract makes the buffer writable; it
            // shares no memory with `words`, which the caller's thread owns.
            unsafe { core::ptr::copy_nonoverlapping(words.as_ptr(), p.add(i), words.len()) };
            return;
        }
        for (n, word) in words.iter().enumerate() {
            let at = i + n * self.col_stride;
            match self.target {
                // SAFETY: at <= the index just asserted, and the constructor's contract makes it writable.
                Target::U16(p) => unsafe { *p.add(at) = *word as u16 },
                // SAFETY: as above.
                Target::U32(p) => unsafe { *p.add(at) = *word },
            }
        }
    }

    #[inline(always)]
    pub(crate) fn put(&mut self, row: usize, col: usize, word: u32) {
        let i = self.index(row, col);
        assert!(i < self.len);
        match self.target {
            // SAFETY: i < len, and the constructor's contract makes the buffer writable there.
            Target::U16(p) => unsafe { *p.add(i) = word as u16 },
            // SAFETY: as above.
            Target::U32(p) => unsafe { *p.add(i) = word },
        }
    }
}
