// cdna3-window: products truncated and summed in i32 as in window-i32.ts, then c. One row against 16 columns.
import { block, fraction } from '../params';
import { accumulate } from './accumulate';
import { biasedExponents, byteExponents, NO_PRODUCT, shortExponents } from './exponents';
import { finish, finishLanes, HIGHEST_DIRECT } from './finish-cdna3';
import { codeBias, lowestExponent } from './params';
import { CARRIED, EXPONENTS, SCALES, SUMS } from './scratch';
import { HIGHEST_EXPONENT, slowSteps } from './slow-step';

// @ts-ignore: decorator
@inline
function place(at: usize, e: v128): void {
  v128.store(EXPONENTS + at, e);
  v128.store(SCALES + at, i32x4.shl(i32x4.sub(i32x4.splat(127 + fraction), e), 23));
}

/** Narrow formats. */
export function rowCdna3(a: usize, aCodes: usize, b: usize, bCodes: usize, k: i32, c: usize): void {
  const n = block;
  const bias = i32x4.splat(codeBias);
  const least = i8x16.splat(<i8>(codeBias + lowestExponent));
  for (let i = 0; i < k; i += n) {
    // A lane without a product: S is 0, and c a multiple of its unit.
    const codes = i8x16.max_u(byteExponents(aCodes, bCodes, n), least);
    const low = i16x8.extend_low_i8x16_u(codes);
    const high = i16x8.extend_high_i8x16_u(codes);
    place(0, i32x4.sub(i32x4.extend_low_i16x8_u(low), bias));
    place(16, i32x4.sub(i32x4.extend_high_i16x8_u(low), bias));
    place(32, i32x4.sub(i32x4.extend_low_i16x8_u(high), bias));
    place(48, i32x4.sub(i32x4.extend_high_i16x8_u(high), bias));
    accumulate(a, b, n, SUMS);
    finish(c, false);
    aCodes += n;
    bCodes += n << 4;
    a += n << 2;
    b += n << 6;
  }
}

/** Scales from the products' exponents in EXPONENTS. False where a lane has no product or one that finish does not take. */
// @ts-ignore: decorator
@inline
function placeInRange(): bool {
  const top = i32x4.splat(127 + fraction);
  const e0 = v128.load(EXPONENTS);
  const e1 = v128.load(EXPONENTS, 16);
  const e2 = v128.load(EXPONENTS, 32);
  const e3 = v128.load(EXPONENTS, 48);
  v128.store(SCALES, i32x4.shl(i32x4.sub(top, e0), 23));
  v128.store(SCALES, i32x4.shl(i32x4.sub(top, e1), 23), 16);
  v128.store(SCALES, i32x4.shl(i32x4.sub(top, e2), 23), 32);
  v128.store(SCALES, i32x4.shl(i32x4.sub(top, e3), 23), 48);
  const least = i32x4.min_s(i32x4.min_s(e0, e1), i32x4.min_s(e2, e3));
  const most = i32x4.max_s(i32x4.max_s(e0, e1), i32x4.max_s(e2, e3));
  const below = i32x4.lt_s(least, i32x4.splat(lowestExponent));
  return i32x4.bitmask(v128.or(below, i32x4.gt_s(most, i32x4.splat(HIGHEST_DIRECT)))) === 0;
}

/** Every lane on its own: no product leaves c, an infinite or NaN c stays, others out of range go the slow way. */
function stepOutOfRange(a: usize, b: usize, n: i32, c: usize): void {
  let outside = 0;
  for (let at: usize = 0; at < 64; at += 16) {
    const e = v128.load(EXPONENTS + at);
    const before = v128.load(c + at);
    const above = i32x4.gt_s(e, i32x4.splat(HIGHEST_EXPONENT));
    const below = v128.andnot(i32x4.lt_s(e, i32x4.splat(lowestExponent)), i32x4.eq(e, i32x4.splat(NO_PRODUCT)));
    const special = i32x4.eq(biasedExponents(before), i32x4.splat(255));
    outside |= i32x4.bitmask(v128.andnot(v128.or(above, below), special)) << (<i32>at >> 2);
    v128.store(CARRIED + at, before);
  }
  accumulate(a, b, n, SUMS);
  for (let at: usize = 0; at < 64; at += 16) finishLanes(c, at, false);
  for (let at: usize = 0; at < 64; at += 16) {
    const before = v128.load(CARRIED + at);
    const kept = v128.or(
      i32x4.eq(biasedExponents(before), i32x4.splat(255)),
      i32x4.eq(v128.load(EXPONENTS + at), i32x4.splat(NO_PRODUCT)),
    );
    // c + 0: -0 becomes +0.
    const alone = f32x4.add(before, f32x4.splat(0));
    v128.store(c + at, v128.bitselect(alone, v128.load(c + at), kept));
  }
  slowSteps(outside, a, b, n, c, true);
}

/** Formats of fp32's exponent range. Codes are i16. An infinite or NaN c stays one through the sums. */
export function rowCdna3Shorts(a: usize, aCodes: usize, b: usize, bCodes: usize, k: i32, c: usize): void {
  const n = block;
  for (let i = 0; i < k; i += n) {
    shortExponents(aCodes, bCodes, n);
    if (placeInRange()) {
      accumulate(a, b, n, SUMS);
      finish(c, false);
    } else stepOutOfRange(a, b, n, c);
    aCodes += n << 1;
    bCodes += n << 5;
    a += n << 2;
    b += n << 6;
  }
}
