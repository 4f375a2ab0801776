// Tiles of fp64 FMAs rounded RNE without flushing, four columns at a time in f64: each chain waits for its own last sum.
import { sequentialFma64 } from './sequential-fma';

const COLUMNS: i32 = 4;
/** Rows and positions of a tile at most; the host's jobs have no more (src/scalar-runner.ts). */
const ROWS: i32 = 128;
const POSITIONS: i32 = 1024;

/** Exponents of each row's nonzero elements: the least << 16 and the largest, biased. */
const RANGES: usize = memory.data(512, 16);
/** Four columns' elements at each position: the value and its halves of 26 bits. */
const HALVES: usize = memory.data(98304, 16);
const STEP: usize = 96;

/** Veltkamp's 2^27 + 1. */
const SPLITTER: f64 = 134217729;

// Products of 2^-960 to 2^991 have exact errors; factors below 2^991 split, and chains of 1024 such products from c below
// 2^1001 stay finite. Sums of two biased exponents.
const LEAST_PRODUCT: i32 = 2046 - 960;
const LARGEST_PRODUCT: i32 = 2046 + 990;
const LARGEST_FACTOR: i32 = 1023 + 990;
const LARGEST_ADDEND: i32 = 1023 + 1000;

function range(vector: usize, k: i32): u32 {
  let least: u32 = 0x7ff;
  let most: u32 = 0;
  for (let i = 0; i < k; i++) {
    const word = load<u64>(vector + (<usize>i << 3));
    if (word << 1 === 0) continue;
    const e = <u32>(word >> 52) & 0x7ff;
    least = min(least, e);
    most = max(most, e);
  }
  return (least << 16) | most;
}

function join(x: u32, y: u32): u32 {
  return (min(x >> 16, y >> 16) << 16) | max(x & 0xffff, y & 0xffff);
}

/** Whether f64 holds every step of products of the two ranges. */
function holds(x: u32, y: u32): bool {
  const xm = <i32>(x & 0xffff);
  const ym = <i32>(y & 0xffff);
  if (max(xm, ym) > LARGEST_FACTOR || xm + ym > LARGEST_PRODUCT) return false;
  return <i32>(x >> 16) + <i32>(y >> 16) >= LEAST_PRODUCT;
}

/** A chain from -0 may end in -0, which the sums below lose. */
function takes(c: u64): bool {
  return (<i32>(c >> 52) & 0x7ff) <= LARGEST_ADDEND && c !== 0x8000000000000000;
}

function split(column: usize, k: i32, at: usize): void {
  for (let i = 0; i < k; i++) {
    const x = load<f64>(column + (<usize>i << 3));
    const t = x * SPLITTER;
    const high = t - (t - x);
    store<f64>(at, x);
    store<f64>(at, high, 8);
    store<f64>(at, x - high, 16);
    at += STEP;
  }
}

/** s = RN(x + y) to odd: one more or less where the sum is inexact. Only called for s of even significand. */
function odd(x: f64, y: f64, s: f64): f64 {
  const z = s - x;
  const error = x - (s - z) + (y - z);
  if (error === 0) return s;
  return reinterpret<f64>(reinterpret<i64>(s) + (error > 0 === s > 0 ? 1 : -1));
}

/**
 * RNE(x * y + c): x * y = p + u and p + c = v + vl exactly, and v + RO(vl + u), rounded to odd, rounds as the exact sum
 * does. Where vl is 0, vl + u is exact. Elsewhere |v| is at least half of |p|, so that |vl + u| is at most 3/2 of v's last
 * place, and a tie of v + vl + u has a vl + u of at most three significant bits: any other may as well be rounded to nearest.
 */
// @ts-ignore: decorator
@inline
function fma(x: f64, xh: f64, xl: f64, at: usize, c: f64): f64 {
  const y = load<f64>(at);
  const yh = load<f64>(at, 8);
  const yl = load<f64>(at, 16);
  const p = x * y;
  const u = xh * yh - p + xh * yl + xl * yh + xl * yl;
  const v = p + c;
  const w = v - p;
  const vl = p - (v - w) + (c - w);
  let s = vl + u;
  if (reinterpret<u64>(s) << 16 === 0) s = odd(vl, u, s);
  return v + s;
}

/** A row against the four columns in HALVES; c: fp64 words, the first `count` of them stored. */
function row(a: usize, k: i32, c: usize, count: i32): void {
  let c0 = load<f64>(c);
  let c1 = count > 1 ? load<f64>(c, 8) : c0;
  let c2 = count > 2 ? load<f64>(c, 16) : c0;
  let c3 = count > 3 ? load<f64>(c, 24) : c0;
  let at = HALVES;
  for (let i = 0; i < k; i++) {
    const x = load<f64>(a);
    const t = x * SPLITTER;
    const xh = t - (t - x);
    const xl = x - xh;
    c0 = fma(x, xh, xl, at, c0);
    c1 = fma(x, xh, xl, at + 24, c1);
    c2 = fma(x, xh, xl, at + 48, c2);
    c3 = fma(x, xh, xl, at + 72, c3);
    a += 8;
    at += STEP;
  }
  store<f64>(c, c0);
  if (count > 1) store<f64>(c, c1, 8);
  if (count > 2) store<f64>(c, c2, 16);
  if (count > 3) store<f64>(c, c3, 24);
}

/** Outputs (i, j), or (i, i) where `diagonal`, as run() of assembly/chain.ts has them; what f64 does not hold in integers. */
export function runDoubles(
  rows: i32,
  columns: i32,
  diagonal: bool,
  k: i32,
  a: usize,
  aStride: usize,
  b: usize,
  bStride: usize,
  c: usize,
  cStride: usize,
): void {
  if (rows > ROWS || k > POSITIONS) unreachable();
  for (let i = 0; i < rows; i++) store<u32>(RANGES + (<usize>i << 2), range(a + <usize>i * aStride, k));
  const width = diagonal ? 1 : COLUMNS;
  const vectors = diagonal ? rows : columns;
  for (let j = 0; j < vectors; j += width) {
    const count = diagonal ? 1 : min(COLUMNS, columns - j);
    let right: u32 = 0x7ff << 16;
    for (let t = 0; t < COLUMNS; t++) {
      const column = b + <usize>(j + min(t, count - 1)) * bStride;
      right = join(right, range(column, k));
      split(column, k, HALVES + <usize>t * 24);
    }
    const first = diagonal ? j : 0;
    const end = diagonal ? j + 1 : rows;
    for (let i = first; i < end; i++) {
      const at = c + <usize>i * cStride + (diagonal ? 0 : <usize>j << 3);
      let fits = holds(load<u32>(RANGES + (<usize>i << 2)), right);
      for (let t = 0; t < count; t++) fits = fits && takes(load<u64>(at + (<usize>t << 3)));
      if (fits) {
        row(a + <usize>i * aStride, k, at, count);
        continue;
      }
      for (let t = 0; t < count; t++) {
        const word = at + (<usize>t << 3);
        store<u64>(word, sequentialFma64(a + <usize>i * aStride, b + <usize>(j + t) * bStride, k, load<u64>(word)));
      }
    }
  }
}
