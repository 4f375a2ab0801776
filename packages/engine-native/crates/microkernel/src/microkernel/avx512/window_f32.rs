//! Fused windows narrow enough for fp32 (FP8, F = 13), as a floor chain.
//!
//! S starts at M = 1.5 * 2^(E - F + 23), so one unit in S's last place is the quantum 2^(E-F), and
//! S = fma_RD(a, b, S) adds floor(a*b) to that quantum: |sum| < (N * 4 + 2) * 2^E <= 2^(E+8) < M / 3 keeps S in M's
//! binade. A negative product that is no multiple of the quantum was cut one unit too low; such products are counted
//! and the counts added to S's bits. R = S - M is exact; clearing low bits cuts it to p fraction bits.
//!
//! Byte codes. Distances d = 100 - e of exponents: da + db is a product's, 70..128 for these formats, and the minimum
//! with c's gives E = 100 - d. A zero's code of 125 puts its products at 160 or more, which no c of the accepted
//! range (0, or e in -60..100) exceeds; results stay in that range. Lowest set bits: la + lb = L - low(a) - low(b),
//! where L is the largest low of both formats, and a product is inexact iff la + lb > T = d + F + L - 100. B holds
//! lb + 1 twice, where a > 0 and where a < 0, with 0 where the product would be positive or zero: the count is of
//! codes above the saturated T + 1 - la.

use core::arch::x86_64::*;
use core::ops::Range;

use crate::PANEL;
use crate::microkernel::avx512::count_masked;
use crate::microkernel::{Block, Micro, as_bytes};
use crate::pack::{Element, Layout};
use crate::words::View;

const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
const UP: i32 = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
/// Rows of one register tile.
const ROWS: usize = 4;
/// Bytes of one k in a block of B: 64 fp32, distances, codes for a > 0 and for a < 0.
const STEP: usize = 4 * PANEL + 3 * PANEL;
/// Bytes of one k in a block of A: for each row value, la x 4, da x 4, offset of the codes in the block of B.
const ASTEP: usize = ROWS * 16;
/// Exponent of distance 0, the largest of c: S's exponent E + 23 - F stays inside fp32.
const TOP: i32 = 100;
/// A's share of the smallest product distance, TOP - 30.
const SHARE: i32 = (TOP - 30) / 2;
/// Distance of a zero operand: with SHARE it exceeds the distance of every accepted c, twice it is a byte.
const ZERO: u8 = 125;
/// Smallest exponent of c.
const C_LEAST: i32 = TOP - SHARE - ZERO as i32;
/// Faults to be planted by tests, bits of `MUT`.
pub(crate) mod mutation {
    pub const SIGN_FIX: u32 = 1;
    pub const ADDEND_FIX: u32 = 2;
    pub const ZERO_CODE: u32 = 4;
    pub const CLAMP: u32 = 8;
    pub const AND_MASK: u32 = 16;
    pub const TAIL: u32 = 32;
    pub const ADDEND_LIMIT: u32 = 64;
}
use mutation::*;

/// `N` terms a block; both formats within e5m2's range.
pub(crate) struct WindowF32<const N: usize, const MUT: u32 = 0> {
    fraction: i32,
    precision: u32,
    /// Decoded words of A and B.
    a: [Element; 256],
    b: [Element; 256],
    emax_a: i32,
    /// L of the module's comment, by operand.
    low_a: i32,
    low_b: i32,
}

impl<const N: usize, const MUT: u32> WindowF32<N, MUT> {
    /// None where the ranges above do not hold.
    pub fn new(a: Layout, b: Layout, fraction: i32, floor: Option<i32>, precision: u32) -> Option<Self> {
        let narrow = |l: &Layout| l.bits() <= 8 && l.emin() >= -14 && l.emax() <= 15;
        // Sum below a third of M (F + 2 + log2(N + 1) + 1 < 23); c's own exponents never lie below the floor.
        let fits = fraction == 13 && N <= 32 && precision as i32 <= fraction && floor.is_none_or(|f| f <= -126);
        if !narrow(&a) || !narrow(&b) || !fits {
            return None;
        }
        let table = |l: Layout| core::array::from_fn(|w| l.decode(w as u32));
        let low = |l: &Layout| l.emax();
        Some(WindowF32 {
            fraction,
            precision,
            emax_a: a.emax(),
            low_a: low(&a),
            low_b: low(&b),
            a: table(a),
            b: table(b),
        })
    }

    fn block_bytes() -> usize {
        N * STEP + PANEL
    }
}

impl<const N: usize, const MUT: u32> Micro for WindowF32<N, MUT> {
    fn name(&self) -> &'static str {
        "avx512/fused-window-f32"
    }

    fn a_len(&self, rows: usize, k: usize) -> usize {
        rows.div_ceil(ROWS) * k.div_ceil(N) * N * ASTEP / 8
    }

    fn b_len(&self, k: usize) -> usize {
        k.div_ceil(N) * Self::block_bytes() / 8
    }

    fn pack_a(&self, a: &View<'_>, rows: Range<usize>, k: usize, out: &mut [u64], bad: &mut [u64]) {
        let blocks = k.div_ceil(N);
        let zero_row = (N * STEP) as u32;
        let item = |e: &Element, t: usize| -> [u64; 2] {
            let (la, da) = if e.zero { (0, u32::from(ZERO)) } else { ((self.low_a - e.low) as u32, (SHARE + self.emax_a - e.e) as u32) };
            let row = t * STEP + 5 * PANEL + usize::from(e.negative) * PANEL;
            let offset = if e.zero && MUT & ZERO_CODE == 0 { zero_row } else { row as u32 };
            let (la, da) = (la * 0x0101_0101, da * 0x0101_0101);
            [u64::from(e.value.to_bits()) | u64::from(la) << 32, u64::from(da) | u64::from(offset) << 32]
        };
        let table: Vec<[u64; 2]> = self.a.iter().map(|e| item(e, 0)).collect();
        let empty = item(&Element { zero: true, ..Element::default() }, 0);
        for group in 0..rows.len().div_ceil(ROWS) {
            let out = &mut out[group * blocks * N * ASTEP / 8..][..blocks * N * ASTEP / 8];
            for r in 0..ROWS {
                let local = group * ROWS + r;
                let live = local < rows.len();
                let mut finite = true;
                for t in 0..blocks * N {
                    let mut words = if MUT & TAIL != 0 { table[0x38] } else { empty };
                    if live && (t < k || MUT & TAIL != 0) {
                        let w = if t < k { a.get(rows.start + local, t) as usize & 255 } else { 0x38 };
                        words = table[w];
                        finite &= self.a[w].finite;
                        if words[1] >> 32 != u64::from(zero_row) {
                            words[1] += ((t % N * STEP) as u64) << 32;
                        }
                    }
                    out[(t * ROWS + r) * 2..][..2].copy_from_slice(&words);
                }
                if live && !finite {
                    bad[local] = u64::MAX;
                }
            }
        }
    }

    fn pack_b(&self, b: &View<'_>, cols: Range<usize>, k: usize, out: &mut [u64]) -> u64 {
        // db completes da to TOP - (e_a + e_b).
        let base = TOP - SHARE - self.emax_a;
        let codes: [(f32, [u8; 3]); 256] = core::array::from_fn(|w| {
            let e = &self.b[w];
            if e.zero {
                return (0.0, [ZERO, 0, 0]);
            }
            let code = (self.low_b - e.low + 1) as u8;
            let by_sign = if e.negative { [code, 0] } else { [0, code] };
            (e.value, [(base - e.e) as u8, by_sign[0], by_sign[1]])
        });
        let bytes = as_bytes(out);
        let mut bad = 0u64;
        let blocks = k.div_ceil(N);
        for block in 0..blocks {
            let bytes = &mut bytes[block * Self::block_bytes()..][..Self::block_bytes()];
            bytes[N * STEP..].fill(0);
            for t in 0..N {
                let step = &mut bytes[t * STEP..][..STEP];
                let row = block * N + t;
                let (values, bytes) = step.split_at_mut(4 * PANEL);
                for j in 0..PANEL {
                    let live = row < k && j < cols.len();
                    let w = if live { b.get(row, cols.start + j) as usize & 255 } else { 0x38 };
                    bad |= u64::from(!self.b[w].finite && live) << j;
                    let (value, codes) = if live || MUT & TAIL != 0 { codes[w] } else { (0.0, [ZERO, 0, 0]) };
                    values[4 * j..][..4].copy_from_slice(&value.to_bits().to_le_bytes());
                    let p = j % 16 * 4 + j / 16;
                    for (i, code) in codes.into_iter().enumerate() {
                        bytes[i * PANEL + p] = code;
                    }
                }
            }
        }
        bad
    }

    fn addend_ok(&self, word: u32) -> bool {
        let e = (word >> 23 & 0xFF) as i32 - 127;
        word << 1 == 0 || (C_LEAST..=TOP).contains(&e) || MUT & ADDEND_LIMIT != 0
    }

    fn run(&self, block: Block<'_>) -> bool {
        let Block { a, b, rows, chain, c, .. } = block;
        let groups = rows.div_ceil(ROWS);
        let per_group = a.len() / groups.max(1);
        let mut distance = [0u8; 64 * PANEL];
        // SAFETY: dispatch made this kernel on a machine with AVX-512; the pointers below stay inside `a`, `b` and
        // `c`: chain ranges end inside the packed K (Kernel::check), rows are padded to ROWS in `a` and ROW_BLOCK
        // rows exist in `c`.
        unsafe {
            for r in 0..groups * ROWS {
                distances(c.as_ptr().add(r * PANEL).cast(), distance.as_mut_ptr().add(r * PANEL));
            }
            let constants = Constants::new(self.fraction, self.low_a + self.low_b, self.precision);
            for range in chain {
                for k0 in range.clone().step_by(N) {
                    let pb: *const u8 = b.as_ptr().cast::<u8>().add(k0 / N * Self::block_bytes());
                    for g in 0..groups {
                        let pa = a.as_ptr().add(g * per_group).cast::<u8>().add(k0 * ASTEP);
                        let at = g * ROWS * PANEL;
                        step::<N, MUT>(
                            pa,
                            pb,
                            c.as_mut_ptr().add(at).cast(),
                            distance.as_mut_ptr().add(at),
                            &constants,
                        );
                    }
                }
            }
        }
        false
    }
}

struct Constants {
    /// M's biased exponent is this minus d.
    m_base: i8,
    /// T + 1 = d - t_base, saturated at 0.
    t_base: i8,
    keep: i32,
}

impl Constants {
    fn new(fraction: i32, low: i32, precision: u32) -> Self {
        Constants {
            m_base: (127 + TOP + 23 - fraction) as u8 as i8,
            t_base: (TOP - 1 - fraction - low) as i8,
            keep: -1 << (23 - precision),
        }
    }
}

/// Distance bytes of 64 accumulators, byte 4j + i that of column 16i + j; 227 for zero.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vnni")]
unsafe fn distances(c: *const f32, out: *mut u8) {
    // SAFETY: the caller's pointers cover 64 fp32 and 64 bytes.
    unsafe {
        let r = core::array::from_fn(|i| _mm512_loadu_ps(c.add(16 * i)));
        _mm512_storeu_si512(out.cast(), pack_distances(r));
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vnni")]
fn pack_distances(r: [__m512; 4]) -> __m512i {
    let [x0, x1, x2, x3] = r.map(|x| _mm512_castps_si512(x));
    let b0 = _mm512_srli_epi32::<23>(x0);
    let b1 = _mm512_srli_epi32::<15>(x1);
    let b2 = _mm512_srli_epi32::<7>(x2);
    let b3 = _mm512_slli_epi32::<1>(x3);
    // Select by mask: (mask & y) | (!mask & x).
    let x = _mm512_ternarylogic_epi32::<0xD8>(b0, b1, _mm512_set1_epi32(0xFF00));
    let x = _mm512_ternarylogic_epi32::<0xD8>(x, b2, _mm512_set1_epi32(0x00FF_0000));
    let x = _mm512_ternarylogic_epi32::<0xD8>(x, b3, _mm512_set1_epi32(0xFF00_0000_u32 as i32));
    _mm512_sub_epi8(_mm512_set1_epi8((127 + TOP) as u8 as i8), x)
}

/// One block step of 4 rows by 64 columns.
///
/// # Safety
/// `a` covers N * ASTEP bytes, `b` a block, `c` and `distance` 4 x 64 elements; AVX-512 present.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vnni")]
unsafe fn step<const N: usize, const MUT: u32>(
    a: *const u8,
    b: *const u8,
    c: *mut f32,
    distance: *mut u8,
    constants: &Constants,
) {
    // SAFETY: all offsets below stay inside the ranges named above.
    unsafe {
        let mut d: [__m512i; ROWS] =
            core::array::from_fn(|r| _mm512_loadu_si512(distance.add(r * PANEL).cast()));
        for t in 0..N {
            let db = _mm512_loadu_si512(b.add(t * STEP + 4 * PANEL).cast());
            for r in 0..ROWS {
                let da = _mm512_set1_epi32(a.add(t * ASTEP + r * 16 + 8).cast::<i32>().read());
                d[r] = _mm512_min_epu8(d[r], _mm512_add_epi8(da, db));
            }
        }
        let m_base = _mm512_set1_epi8(constants.m_base);
        let field = _mm512_set1_epi32(0x7F80_0000);
        let half = _mm512_set1_epi32(0x0040_0000);
        let mut s = [[_mm512_setzero_ps(); 4]; ROWS];
        for r in 0..ROWS {
            let c: [__m512; 4] = core::array::from_fn(|i| _mm512_loadu_ps(c.add(r * PANEL + 16 * i)));
            let m = start(_mm512_sub_epi8(m_base, d[r]), field, half);
            for i in 0..4 {
                let sum = _mm512_add_round_ps::<DOWN>(m[i], c[i]);
                let negative = _mm512_movepi32_mask(_mm512_castps_si512(c[i]));
                s[r][i] = if MUT & ADDEND_FIX == 0 {
                    _mm512_mask_add_round_ps::<UP>(sum, negative, m[i], c[i])
                } else {
                    sum
                };
            }
        }
        let t_base = _mm512_set1_epi8(constants.t_base);
        let threshold: [__m512i; ROWS] = core::array::from_fn(|r| {
            if MUT & CLAMP == 0 { _mm512_subs_epu8(d[r], t_base) } else { _mm512_sub_epi8(d[r], t_base) }
        });
        let mut count = [_mm512_setzero_si512(); ROWS];
        let ones = _mm512_set1_epi8(1);
        for t in 0..N {
            let v: [__m512; 4] = core::array::from_fn(|i| _mm512_loadu_ps(b.add(t * STEP).cast::<f32>().add(16 * i)));
            for r in 0..ROWS {
                let item = a.add(t * ASTEP + r * 16);
                let value = _mm512_set1_ps(item.cast::<f32>().read());
                let la = _mm512_set1_epi32(item.add(4).cast::<i32>().read());
                let codes = b.add(item.add(12).cast::<u32>().read() as usize);
                for i in 0..4 {
                    s[r][i] = _mm512_fmadd_round_ps::<DOWN>(value, v[i], s[r][i]);
                }
                let limit = _mm512_subs_epu8(threshold[r], la);
                let inexact = _mm512_cmpgt_epu8_mask(_mm512_loadu_si512(codes.cast()), limit);
                if MUT & SIGN_FIX == 0 {
                    count[r] = count_masked(count[r], inexact, ones);
                }
            }
        }
        let keep = _mm512_set1_epi32(constants.keep);
        for r in 0..ROWS {
            let m = start(_mm512_sub_epi8(m_base, d[r]), field, half);
            let mut out = [_mm512_setzero_ps(); 4];
            for i in 0..4 {
                let one_hot = _mm512_set1_epi32(1 << (8 * i));
                let bits = _mm512_dpbusd_epi32(_mm512_castps_si512(s[r][i]), count[r], one_hot);
                let exact = _mm512_sub_ps(_mm512_castsi512_ps(bits), m[i]);
                out[i] = if MUT & AND_MASK == 0 {
                    _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(exact), keep))
                } else {
                    exact
                };
                _mm512_storeu_ps(c.add(r * PANEL + 16 * i), out[i]);
            }
            _mm512_storeu_si512(distance.add(r * PANEL).cast(), pack_distances(out));
        }
    }
}

/// M of 64 columns from the bytes of its biased exponents.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vnni")]
fn start(bytes: __m512i, field: __m512i, half: __m512i) -> [__m512; 4] {
    // (x & field) | half
    let shape = |x| _mm512_castsi512_ps(_mm512_ternarylogic_epi32::<0xF8>(half, x, field));
    [
        shape(_mm512_slli_epi32::<23>(bytes)),
        shape(_mm512_slli_epi32::<15>(bytes)),
        shape(_mm512_slli_epi32::<7>(bytes)),
        shape(_mm512_srli_epi32::<1>(bytes)),
    ]
}
