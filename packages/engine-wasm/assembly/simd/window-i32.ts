// fused-window in i32: products scaled by 2^(F-E) in fp32 (exact: at most 22 significand bits), truncated to i32 and
// summed. One row against 16 columns; c and d as 16 fp32 words (fp16 output: the fp32 words of fp16 values).
import { block, fraction } from '../params';
import { accumulate } from './accumulate';
import { biasedExponents, byteExponents, NO_PRODUCT, shortExponents } from './exponents';
import { finishHalf, finishSingle, finishTwoHalf, finishTwoSingle } from './finish-i32';
import { accumulated, codeBias, halfOutput, lowestExponent } from './params';
import { CARRIED, EXPONENTS, SCALES, SUMS } from './scratch';
import { HIGHEST_EXPONENT, slowSteps } from './slow-step';
import { windowExponent } from './window-exponent';

// @ts-ignore: decorator
@inline
function place(at: usize, e: v128): void {
  v128.store(EXPONENTS + at, e);
  v128.store(SCALES + at, i32x4.shl(i32x4.sub(i32x4.splat(127 + fraction + codeBias), e), 23));
}

/** Window exponents, as product codes, and scales 2^(F-E) of the block. */
function exponents(a: usize, b: usize, n: i32, c: usize): void {
  const codes = byteExponents(a, b, n);
  const low = i16x8.extend_low_i8x16_u(codes);
  const high = i16x8.extend_high_i8x16_u(codes);
  place(0, windowExponent(i32x4.extend_low_i16x8_u(low), v128.load(c)));
  place(16, windowExponent(i32x4.extend_high_i16x8_u(low), v128.load(c, 16)));
  place(32, windowExponent(i32x4.extend_low_i16x8_u(high), v128.load(c, 32)));
  place(48, windowExponent(i32x4.extend_high_i16x8_u(high), v128.load(c, 48)));
}

/** One block step of n terms. */
export function stepI32(a: usize, aCodes: usize, b: usize, bCodes: usize, n: i32, c: usize): void {
  const most = accumulated;
  exponents(aCodes, bCodes, n, c);
  if (n <= most) {
    accumulate(a, b, n, SUMS);
    if (halfOutput !== 0) finishHalf(c);
    else finishSingle(c);
    return;
  }
  accumulate(a, b, most, SUMS);
  accumulate(a + (<usize>most << 2), b + (<usize>most << 6), n - most, SUMS + 64);
  if (halfOutput !== 0) finishTwoHalf(c);
  else finishTwoSingle(c);
}

/** Narrow formats. */
export function rowI32(a: usize, aCodes: usize, b: usize, bCodes: usize, k: i32, c: usize): void {
  const n = block;
  for (let i = 0; i < k; i += n) {
    stepI32(a, aCodes, b, bCodes, n, c);
    aCodes += n;
    bCodes += n << 4;
    a += n << 2;
    b += n << 6;
  }
}

/**
 * Window exponents and scales from the products' exponents in EXPONENTS. False where a lane's exponent is outside
 * lowestExponent..HIGHEST_EXPONENT, be it of a window, of an infinite c or of no term at all.
 */
// @ts-ignore: decorator
@inline
function exponentsInRange(c: usize): bool {
  const e0 = withAddend(v128.load(EXPONENTS), v128.load(c));
  const e1 = withAddend(v128.load(EXPONENTS, 16), v128.load(c, 16));
  const e2 = withAddend(v128.load(EXPONENTS, 32), v128.load(c, 32));
  const e3 = withAddend(v128.load(EXPONENTS, 48), v128.load(c, 48));
  place(0, e0);
  place(16, e1);
  place(32, e2);
  place(48, e3);
  const least = i32x4.min_s(i32x4.min_s(e0, e1), i32x4.min_s(e2, e3));
  const most = i32x4.max_s(i32x4.max_s(e0, e1), i32x4.max_s(e2, e3));
  const below = i32x4.lt_s(least, i32x4.splat(lowestExponent));
  return i32x4.bitmask(v128.or(below, i32x4.gt_s(most, i32x4.splat(HIGHEST_EXPONENT)))) === 0;
}

// @ts-ignore: decorator
@inline
function withAddend(products: v128, c: v128): v128 {
  return i32x4.max_s(products, i32x4.sub(biasedExponents(c), i32x4.splat(127)));
}

/** Every lane on its own: no term gives +0, an infinite or NaN c stays, a window out of range goes the slow way. */
function stepOutOfRange(aCodes: usize, bCodes: usize, a: usize, b: usize, n: i32, c: usize): void {
  shortExponents(aCodes, bCodes, n);
  let outside = 0;
  for (let at: usize = 0; at < 64; at += 16) {
    const products = v128.load(EXPONENTS + at);
    const addend = v128.load(c + at);
    const biased = biasedExponents(addend);
    const e = i32x4.max_s(products, i32x4.sub(biased, i32x4.splat(127)));
    const nothing = v128.and(
      i32x4.eq(products, i32x4.splat(NO_PRODUCT)),
      i32x4.eq(i32x4.shl(addend, 1), i32x4.splat(0)),
    );
    const above = i32x4.gt_s(e, i32x4.splat(HIGHEST_EXPONENT));
    const below = v128.andnot(i32x4.lt_s(e, i32x4.splat(lowestExponent)), nothing);
    const out = v128.andnot(v128.or(above, below), i32x4.eq(biased, i32x4.splat(255)));
    outside |= i32x4.bitmask(out) << (<i32>at >> 2);
    place(at, i32x4.min_s(i32x4.max_s(e, i32x4.splat(lowestExponent)), i32x4.splat(HIGHEST_EXPONENT)));
    v128.store(CARRIED + at, addend);
  }
  accumulate(a, b, n, SUMS);
  finishSingle(c);
  for (let at: usize = 0; at < 64; at += 16) {
    const before = v128.load(CARRIED + at);
    const special = i32x4.eq(biasedExponents(before), i32x4.splat(255));
    v128.store(c + at, v128.bitselect(before, v128.load(c + at), special));
  }
  slowSteps(outside, a, b, n, c);
}

/** Formats of fp32's exponent range; fp32 output. Codes are i16. */
export function rowI32Shorts(a: usize, aCodes: usize, b: usize, bCodes: usize, k: i32, c: usize): void {
  const n = block;
  for (let i = 0; i < k; i += n) {
    shortExponents(aCodes, bCodes, n);
    if (exponentsInRange(c)) {
      accumulate(a, b, n, SUMS);
      finishSingle(c);
    } else stepOutOfRange(aCodes, bCodes, a, b, n, c);
    aCodes += n << 1;
    bCodes += n << 5;
    a += n << 2;
    b += n << 6;
  }
}
