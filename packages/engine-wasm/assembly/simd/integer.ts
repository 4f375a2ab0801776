// integer: pairs of i16 products by i32x4.dot_i16x8_s. Rows are i16 along k; panels are [k / 2][16 columns][2] i16.
import { instruction, saturate } from '../params';
import { signed } from '../pack';

// @ts-ignore: decorator
@inline
function at(source: usize, i: i32): i32 {
  return signed !== 0 ? <i32>load<i8>(source + <usize>i) : <i32>load<u8>(source + <usize>i);
}

/** Packs k 8-bit integers, pairs `step` bytes apart, and zeros up to `padded` (even). `mask` as in packRow(). */
function packPairs(source: usize, k: i32, padded: i32, target: usize, step: usize, mask: usize): void {
  for (let i = 0; i < padded; i++) {
    const there = i < k && (mask === 0 || load<u8>(mask + <usize>i) !== 0);
    store<i16>(target + <usize>(i >> 1) * step + (<usize>(i & 1) << 1), there ? <i16>at(source, i) : 0);
  }
}

export function packIntegerRow(source: usize, k: i32, padded: i32, values: usize, mask: usize): void {
  packPairs(source, k, padded, values, 4, mask);
}

export function packIntegerColumn(source: usize, k: i32, padded: i32, values: usize, lane: usize): void {
  packPairs(source, k, padded, values + (lane << 2), 64, 0);
}

/** c + sum, clamped to s32: an overflow has the sign that both terms have. */
// @ts-ignore: decorator
@inline
function clampedSum(c: v128, t: v128): v128 {
  const s = i32x4.add(c, t);
  const over = i32x4.shr_s(v128.and(v128.xor(c, s), v128.xor(t, s)), 31);
  const limit = v128.xor(i32x4.shr_s(c, 31), i32x4.splat(i32.MAX_VALUE));
  return v128.bitselect(limit, s, over);
}

/** Each instruction's products fit i32: K <= 1024 terms of at most 2^16. */
export function rowInteger(a: usize, b: usize, k: i32, c: usize): void {
  const n = instruction;
  const clamp = saturate !== 0;
  let c0 = v128.load(c);
  let c1 = v128.load(c, 16);
  let c2 = v128.load(c, 32);
  let c3 = v128.load(c, 48);
  for (let i = 0; i < k; i += n) {
    let t0 = i32x4.splat(0);
    let t1 = i32x4.splat(0);
    let t2 = i32x4.splat(0);
    let t3 = i32x4.splat(0);
    for (let j = 0; j < n; j += 2) {
      const x = v128.load32_splat(a);
      t0 = i32x4.add(t0, i32x4.dot_i16x8_s(x, v128.load(b)));
      t1 = i32x4.add(t1, i32x4.dot_i16x8_s(x, v128.load(b, 16)));
      t2 = i32x4.add(t2, i32x4.dot_i16x8_s(x, v128.load(b, 32)));
      t3 = i32x4.add(t3, i32x4.dot_i16x8_s(x, v128.load(b, 48)));
      a += 4;
      b += 64;
    }
    c0 = clamp ? clampedSum(c0, t0) : i32x4.add(c0, t0);
    c1 = clamp ? clampedSum(c1, t1) : i32x4.add(c1, t1);
    c2 = clamp ? clampedSum(c2, t2) : i32x4.add(c2, t2);
    c3 = clamp ? clampedSum(c3, t3) : i32x4.add(c3, t3);
  }
  v128.store(c, c0);
  v128.store(c, c1, 16);
  v128.store(c, c2, 32);
  v128.store(c, c3, 48);
}
