// cdna3-odd-even: two windows of products as in cdna3-window.ts, merged, then c. One row against 16 columns; packing puts
// a block's even positions before its odd ones.
import { block, fraction } from '../params';
import { accumulate } from './accumulate';
import { byteExponents } from './exponents';
import { finish, highPowers, lowPowers } from './finish-cdna3';
import { codeBias, lowestExponent } from './params';
import { EXPONENTS, SCALES, SUMS, WINDOWS } from './scratch';

/** Adding 2^52 + 2^51 to an f64 integer of 32 bits puts it, in two's complement, in the low half of the word. */
const TO_LOW: f64 = 6755399441055744;

// @ts-ignore: decorator
@inline
function place(window: usize, at: usize, e: v128): void {
  v128.store(window + at, e);
  v128.store(SCALES + at, i32x4.shl(i32x4.sub(i32x4.splat(127 + fraction), e), 23));
}

/** One window of n products: exponents at `window`, sums at `sums`. A window without a product has the lowest exponent. */
function products(a: usize, aCodes: usize, b: usize, bCodes: usize, n: i32, window: usize, sums: usize): void {
  const bias = i32x4.splat(codeBias);
  const codes = i8x16.max_u(byteExponents(aCodes, bCodes, n), i8x16.splat(<i8>(codeBias + lowestExponent)));
  const low = i16x8.extend_low_i8x16_u(codes);
  const high = i16x8.extend_high_i8x16_u(codes);
  place(window, 0, i32x4.sub(i32x4.extend_low_i16x8_u(low), bias));
  place(window, 16, i32x4.sub(i32x4.extend_high_i16x8_u(low), bias));
  place(window, 32, i32x4.sub(i32x4.extend_low_i16x8_u(high), bias));
  place(window, 48, i32x4.sub(i32x4.extend_high_i16x8_u(high), bias));
  accumulate(a, b, n, sums);
}

// @ts-ignore: decorator
@inline
function floored(s: v128, power: v128): v128 {
  return f64x2.add(f64x2.floor(f64x2.mul(s, power)), f64x2.splat(TO_LOW));
}

/** S = S0 + S1 in units of 2^(E-F), E the larger exponent: the other window's sum is floored. */
// @ts-ignore: decorator
@inline
function mergeLanes(at: usize): void {
  const even = v128.load(SUMS + at);
  const odd = v128.load(SUMS + 64 + at);
  const e0 = v128.load(WINDOWS + at);
  const e1 = v128.load(WINDOWS + 64 + at);
  const less = i32x4.gt_s(e1, e0);
  const larger = v128.bitselect(odd, even, less);
  const other = v128.bitselect(even, odd, less);
  const power = i32x4.shl(i32x4.sub(i32x4.splat(1023), i32x4.abs(i32x4.sub(e0, e1))), 20);
  const low = floored(f64x2.convert_low_i32x4_s(other), lowPowers(power));
  const high = floored(f64x2.convert_low_i32x4_s(v128.shuffle<i64>(other, other, 1, 1)), highPowers(power));
  v128.store(SUMS + at, i32x4.add(larger, v128.shuffle<i32>(low, high, 0, 2, 4, 6)));
  place(EXPONENTS, at, i32x4.max_s(e0, e1));
}

export function rowCdna3OddEven(a: usize, aCodes: usize, b: usize, bCodes: usize, k: i32, c: usize): void {
  const n = block >> 1;
  for (let i = 0; i < k; i += n << 1) {
    products(a, aCodes, b, bCodes, n, WINDOWS, SUMS);
    a += n << 2;
    aCodes += n;
    b += n << 6;
    bCodes += n << 4;
    products(a, aCodes, b, bCodes, n, WINDOWS + 64, SUMS + 64);
    a += n << 2;
    aCodes += n;
    b += n << 6;
    bCodes += n << 4;
    mergeLanes(0);
    mergeLanes(16);
    mergeLanes(32);
    mergeLanes(48);
    finish(c, true);
  }
}
