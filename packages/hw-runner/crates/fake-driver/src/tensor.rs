//! wgmma and tcgen05 from the PTX ISA: matrix descriptors, accumulator fragments, tensor memory.

use crate::exec::{Block, Fault, ILLEGAL_ADDRESS, ILLEGAL_INSTRUCTION};
use crate::fragments::{element_bits, Mma};
use crate::numbers::decode;
use crate::product::Product;
use crate::ptx::Operand;

/// Tensor memory of one SM: 128 lanes x 512 columns; what is allocated, and whether a commit reached the barrier.
pub struct Tensor {
    cells: Vec<u32>,
    /// First column and number of columns.
    allocated: Option<(u32, u32)>,
    pending: bool,
    arrived: bool,
}

/// Allocations begin here, so that an address is never a plain column number.
const FIRST_COLUMN: u32 = 64;

impl Tensor {
    pub fn new() -> Tensor {
        Tensor { cells: vec![0xdead_beef; 128 * 512], allocated: None, pending: false, arrived: false }
    }

    fn at(&self, lane: usize, column: u32) -> Result<usize, Fault> {
        match self.allocated {
            Some((first, count)) if lane < 128 && column >= first && column < first + count => {
                Ok(lane * 512 + column as usize)
            }
            _ => Err((ILLEGAL_ADDRESS, format!("tensor memory lane {lane}, column {column} is not allocated"))),
        }
    }

    fn get(&self, lane: usize, column: u32) -> Result<u32, Fault> {
        Ok(self.cells[self.at(lane, column)?])
    }
}

/// How elements lie in 16 bytes of shared memory.
fn smem_bits(token: &str, fp4_packed: bool) -> (usize, usize) {
    match token {
        "f32" | "tf32" => (4, 32),
        "f16" | "bf16" => (8, 16),
        // Sixteen elements, packed contiguously, then padding to 16 bytes.
        "e3m2" | "e2m3" => (16, 6),
        "e2m1" if !fp4_packed => (16, 4),
        "e2m1" => (32, 4),
        _ => (16, 8),
    }
}

impl Block<'_> {
    /// Element (row, k) of a K-major operand without swizzle: start address in bits 0-13, leading byte offset 16-29,
    /// stride byte offset 32-45, all in units of 16 bytes.
    fn operand_element(
        &self,
        descriptor: u64,
        token: &str,
        fp4_packed: bool,
        row: usize,
        k: usize,
    ) -> Result<u64, Fault> {
        if descriptor >> 61 != 0 {
            return Err((ILLEGAL_INSTRUCTION, "a swizzled operand".into()));
        }
        let field = |at: u32| (descriptor >> at & 0x3fff) * 16;
        let (per, bits) = smem_bits(token, fp4_packed);
        let bit = k % per * bits;
        let address = field(0)
            + (row / 8) as u64 * field(32)
            + (row % 8) as u64 * 16
            + (k / per) as u64 * field(16)
            + (bit / 8) as u64;
        let bytes = (bit % 8 + bits).div_ceil(8);
        let at = self.shared_at(address, bytes)?;
        let word = self.shared[at..at + bytes].iter().rev().fold(0u64, |v, b| v << 8 | u64::from(*b));
        Ok(word >> (bit % 8) & ((1 << bits) - 1))
    }

    fn operand(
        &self,
        descriptor: u64,
        token: &str,
        packed: bool,
        rows: usize,
        k: usize,
        transposed: bool,
    ) -> Result<Vec<f64>, Fault> {
        let mut out = vec![0.0; rows * k];
        let table: Vec<f64> =
            if element_bits(token) <= 8 { (0..256).map(|w| decode(token, w)).collect() } else { Vec::new() };
        for row in 0..rows {
            for kk in 0..k {
                let word = self.operand_element(descriptor, token, packed, row, kk)?;
                let number = table.get(word as usize).copied().unwrap_or_else(|| decode(token, word));
                out[if transposed { kk * rows + row } else { row * k + kk }] = number;
            }
        }
        Ok(out)
    }

    pub fn wgmma(&mut self, name: &str, o: &[Operand]) -> Result<(), Fault> {
        let mma = Mma::parse(name).map_err(|e| (ILLEGAL_INSTRUCTION, e))?;
        let (m, n, k) = (mma.m, mma.n, mma.k);
        if self.value(0, &o[3]) != 1 {
            return Err((ILLEGAL_INSTRUCTION, "scale-d must be 1 for c to be added".into()));
        }
        if k * element_bits(&mma.a) != 256 {
            return Err((ILLEGAL_INSTRUCTION, format!("K of {name}")));
        }
        let a = self.operand(self.value(0, &o[1]), &mma.a, false, m, k, false)?;
        let b = self.operand(self.value(0, &o[2]), &mma.b, false, n, k, true)?;
        let bits = if mma.d == "f16" { 16 } else { 32 };
        // "row = 16 * warp + groupID for i % 4 < 2, + 8 otherwise; col = 8 * (i / 4) + threadID_in_group * 2 + (i & 1)"
        let position = |thread: usize, i: usize| {
            let (warp, lane) = (thread / 32, thread % 32);
            let row = warp * 16 + (lane >> 2) + if i % 4 < 2 { 0 } else { 8 };
            (row, i / 4 * 8 + lane % 4 * 2 + (i & 1))
        };
        let mut c = vec![0; m * n];
        for thread in 0..128 {
            for i in 0..m * n / 128 {
                let (row, col) = position(thread, i);
                c[row * n + col] = self.element(thread, &o[0], i, bits, 0, bits);
            }
        }
        let words = Product { m, n, k, a, b, c, c_type: &mma.d, d_type: &mma.d, saturate: mma.saturate }.words();
        for thread in 0..128 {
            for i in 0..m * n / 128 {
                let (row, col) = position(thread, i);
                self.set_element(thread, &o[0], i, bits, words[row * n + col]);
            }
        }
        Ok(())
    }

    pub fn tcgen05(&mut self, name: &str, o: &[Operand], live: &[usize]) -> Result<(), Fault> {
        let first = live[0];
        if name.starts_with("tcgen05.fence") || name.starts_with("tcgen05.wait") || name.contains("relinquish") {
            return Ok(());
        }
        if name.starts_with("tcgen05.alloc") {
            let columns = self.value(first, &o[1]) as u32;
            if !columns.is_power_of_two() || columns < 32 || FIRST_COLUMN + columns > 512 || live.len() != 32 {
                return Err((
                    ILLEGAL_INSTRUCTION,
                    format!("allocation of {columns} columns by {} threads", live.len()),
                ));
            }
            self.tensor.allocated = Some((FIRST_COLUMN, columns));
            let at = self.shared_at(self.value(first, &o[0]), 4)?;
            self.shared[at..at + 4].copy_from_slice(&FIRST_COLUMN.to_le_bytes());
            return Ok(());
        }
        if name.starts_with("tcgen05.dealloc") {
            self.tensor.allocated = None;
            return Ok(());
        }
        if name.starts_with("tcgen05.st") || name.starts_with("tcgen05.ld") {
            return self.move_columns(name, o);
        }
        if name.starts_with("tcgen05.commit") {
            self.tensor.arrived = self.tensor.pending;
            return Ok(());
        }
        if name.starts_with("mbarrier.init") {
            return Ok(());
        }
        if name.starts_with("mbarrier.try_wait") {
            let done = u64::from(self.tensor.arrived);
            for &thread in live {
                self.set(thread, &o[0], done);
            }
            return Ok(());
        }
        if name.starts_with("tcgen05.mma") {
            if live.len() != 1 {
                return Err((ILLEGAL_INSTRUCTION, format!("tcgen05.mma issued by {} threads", live.len())));
            }
            self.tensor.pending = true;
            return self.tcgen05_mma(name, o, first);
        }
        Err((ILLEGAL_INSTRUCTION, format!("unknown instruction {name}")))
    }

    /// .32x32b.xN: thread t of warp w reads or writes lane 32w + t, N columns.
    fn move_columns(&mut self, name: &str, o: &[Operand]) -> Result<(), Fault> {
        let store = name.starts_with("tcgen05.st");
        let (memory, vector) = if store { (&o[0], &o[1]) } else { (&o[1], &o[0]) };
        let Operand::Vector(items) = vector else { panic!("not a vector") };
        let count = name.split(".x").nth(1).and_then(|t| t.split('.').next()).and_then(|t| t.parse().ok());
        if !name.contains(".32x32b.") || count != Some(items.len()) {
            return Err((ILLEGAL_INSTRUCTION, format!("{name} with {} registers", items.len())));
        }
        for thread in 0..self.registers.len() {
            let address = self.value(thread, memory);
            let (lane, column) = ((address >> 16) as usize, (address & 0xffff) as u32);
            if lane != thread / 32 * 32 {
                return Err((ILLEGAL_ADDRESS, format!("warp {} at tensor memory lane {lane}", thread / 32)));
            }
            for (i, item) in items.iter().enumerate() {
                let at = self.tensor.at(thread, column + i as u32)?;
                if store {
                    self.tensor.cells[at] = self.value(thread, item) as u32;
                } else {
                    let value = u64::from(self.tensor.cells[at]);
                    self.set(thread, item, value);
                }
            }
        }
        Ok(())
    }

    fn tcgen05_mma(&mut self, name: &str, o: &[Operand], t: usize) -> Result<(), Fault> {
        let bad = |why: &str| Err((ILLEGAL_INSTRUCTION, format!("{name}: {why}")));
        let sparse = name.contains(".sp.");
        let scaled = name.contains("block_scale");
        let kind = name.split("kind::").nth(1).and_then(|k| k.split('.').next()).unwrap_or("");
        let mut rest = o.iter();
        let mut next = || rest.next().map_or(0, |operand| self.value(t, operand));
        let (d, desc_a, desc_b) = (next(), next(), next());
        let metadata = if sparse { next() } else { 0 };
        let idesc = next() as u32;
        let (scale_a, scale_b) = if scaled { (next(), next()) } else { (0, 0) };
        if next() != 1 {
            return bad("enable-input-d must be true for c to be added");
        }
        let bits = |at: u32, count: u32| idesc >> at & ((1 << count) - 1);
        if (bits(2, 1) == 1) != sparse || desc_a >> 46 & 7 != 1 || desc_b >> 46 & 7 != 1 {
            return bad("descriptor");
        }
        let f8f6f4 = |code: u32| match code {
            0 => Some("e4m3"),
            1 => Some("e5m2"),
            3 => Some("e2m3"),
            4 => Some("e3m2"),
            5 => Some("e2m1"),
            _ => None,
        };
        let multiplicand = |code: u32| match (kind, code) {
            ("tf32", 2) => Some("tf32"),
            ("f16", 0) => Some("f16"),
            ("f16", 1) => Some("bf16"),
            ("i8", 0) => Some("u8"),
            ("i8", 1) => Some("s8"),
            ("mxf4" | "mxf4nvf4", 1) => Some("e2m1"),
            ("f8f6f4" | "mxf8f6f4", code) => f8f6f4(code),
            _ => None,
        };
        let b_bits = if kind.starts_with("mxf4") { 2 } else { 3 };
        let (Some(a_type), Some(b_type)) = (multiplicand(bits(7, 3)), multiplicand(bits(10, b_bits))) else {
            return bad("operand types");
        };
        let d_type = match (scaled, kind, bits(4, 2)) {
            (true, _, 0) | (false, "tf32" | "f16" | "f8f6f4", 1) => "f32",
            (false, "f16" | "f8f6f4", 0) => "f16",
            (false, "i8", 2) => "s32",
            _ => return bad("result type"),
        };
        let n = bits(17, 6) as usize * 8;
        let m = if scaled { bits(27, 2) as usize * 128 } else { bits(24, 5) as usize * 16 };
        if m != 128 || !n.is_multiple_of(16) || n == 0 {
            return bad("shape");
        }
        let packed = kind.starts_with("mxf4");
        let dense = if packed { 64 } else { 256 / element_bits_in_smem(a_type) };
        let k = if sparse { 2 * dense } else { dense };
        let stored = self.operand(desc_a, a_type, packed, m, dense, false)?;
        let mut b = self.operand(desc_b, b_type, packed, n, k, true)?;
        let mut a = if sparse { self.expand(&stored, kind, metadata, m, k)? } else { stored };
        if scaled {
            let count: usize = match name.split("scale_vec::").nth(1).and_then(|v| v.chars().next()) {
                Some(c @ ('1' | '2' | '4')) => c as usize - '0' as usize,
                _ => return bad("scale_vec"),
            };
            let stype = if bits(23, 1) == 1 { "ue8m0" } else { "ue4m3" };
            if bits(29, 2) != 0 || bits(4, 2) != 0 {
                return bad("scale factor ids other than 0");
            }
            // Lane r % 32 (the partition of row r reads its own copy), column r / 32, byte j.
            for row in 0..m {
                let word =
                    self.tensor.get(row % 32 + 32 * (row / 32 % 4), (scale_a & 0xffff) as u32 + (row / 32) as u32)?;
                for kk in 0..k {
                    a[row * k + kk] *= decode(stype, u64::from(word >> (8 * (kk * count / k)) & 0xff));
                }
            }
            for col in 0..n {
                let word = self.tensor.get(col % 32 + 96, (scale_b & 0xffff) as u32 + (col / 32) as u32)?;
                for kk in 0..k {
                    b[kk * n + col] *= decode(stype, u64::from(word >> (8 * (kk * count / k)) & 0xff));
                }
            }
        }
        let column = (d & 0xffff) as u32;
        let width = if d_type == "f16" { 0xffff } else { u32::MAX };
        let mut c = Vec::with_capacity(m * n);
        for row in 0..m {
            for col in 0..n {
                c.push(u64::from(self.tensor.get(row, column + col as u32)? & width));
            }
        }
        let words = Product { m, n, k, a, b, c, c_type: d_type, d_type, saturate: bits(3, 1) == 1 }.words();
        for row in 0..m {
            for col in 0..n {
                let at = self.tensor.at(row, column + col as u32)?;
                self.tensor.cells[at] = words[row * n + col] as u32;
            }
        }
        Ok(())
    }

    /// Spreads the stored half of A over its logical positions. Metadata for tf32 and f16, selector 0: the word of
    /// lane l holds, low half, row l % 8 + 16 * (l / 16), high half the row 8 further; bit 3 of l tells which half of
    /// K. Other kinds: lane = row, k 0-31 (mxf4: 0-63) in the first column, the rest in the second.
    fn expand(&self, stored: &[f64], kind: &str, address: u64, m: usize, k: usize) -> Result<Vec<f64>, Fault> {
        let column = (address & 0xffff) as u32;
        let chunk = match kind {
            "tf32" => 2,
            "mxf4" | "mxf4nvf4" => 8,
            _ => 4,
        };
        let keep = chunk / 2;
        let mut out = vec![0.0; m * k];
        for row in 0..m {
            for c in 0..k / chunk {
                let selector = if matches!(kind, "tf32" | "f16") {
                    let second_half = c * chunk >= k / 2;
                    let lane = row / 16 * 16 + if second_half { 8 } else { 0 } + row % 8;
                    let half = self.tensor.get(lane, column)? >> (if row % 16 < 8 { 0 } else { 16 });
                    half >> (4 * (c % (k / chunk / 2))) & 15
                } else {
                    self.tensor.get(row, column + (c / 8) as u32)? >> (4 * (c % 8)) & 15
                } as usize;
                let (low, high) = (selector & 3, selector >> 2);
                let positions: Vec<usize> = match kind {
                    "tf32" if selector == 0b0100 => vec![0],
                    "tf32" if selector == 0b1110 => vec![1],
                    "tf32" => return Err((ILLEGAL_INSTRUCTION, format!("selector {selector:x}"))),
                    "mxf4" | "mxf4nvf4" => vec![low * 2, low * 2 + 1, high * 2, high * 2 + 1],
                    _ => vec![low, high],
                };
                for (j, p) in positions.into_iter().enumerate() {
                    out[row * k + c * chunk + p] = stored[row * (k / 2) + c * keep + j];
                }
            }
        }
        Ok(out)
    }
}

/// Container bits along K in shared memory: 6- and 4-bit elements of the f8f6f4 kinds take a byte with padding.
fn element_bits_in_smem(token: &str) -> usize {
    match token {
        "tf32" => 32,
        "f16" | "bf16" => 16,
        _ => 8,
    }
}
