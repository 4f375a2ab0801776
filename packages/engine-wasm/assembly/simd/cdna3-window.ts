// cdna3-window: products truncated and summed in i32 as in window-i32.ts, c in f64. One row against 16 columns.
import { block, fraction } from '../params';
import { accumulate } from './accumulate';
import { biasedExponents, byteExponents, NO_PRODUCT, shortExponents } from './exponents';
import { codeBias, lowestExponent } from './params';
import { CARRIED, EXPONENTS, SCALES, SUMS } from './scratch';
import { HIGHEST_EXPONENT, slowSteps } from './slow-step';

/** Fraction bits of the rule: c's cut to E, S's to e_c, and the normalised sum's (numerics 4.5). */
const SUM_FRACTION: i32 = 32;
/** f64's 52 fraction bits less the 31 that the normalised sum keeps. */
const CUT_BITS: i64 = 21;

// @ts-ignore: decorator
@inline
function place(at: usize, e: v128): void {
  v128.store(EXPONENTS + at, e);
  v128.store(SCALES + at, i32x4.shl(i32x4.sub(i32x4.splat(127 + fraction), e), 23));
}

// @ts-ignore: decorator
@inline
function lowPowers(biased: v128): v128 {
  return v128.shuffle<i32>(i32x4.splat(0), biased, 0, 4, 1, 5);
}

// @ts-ignore: decorator
@inline
function highPowers(biased: v128): v128 {
  return v128.shuffle<i32>(i32x4.splat(0), biased, 2, 6, 3, 7);
}

/**
 * round(cut(floor(s * x) + floor(c * y))) of two lanes. In units of 2^u one of the floors leaves its argument,
 * and the cut to 31 bits below the leading one changes nothing where e_p >= e_c.
 */
// @ts-ignore: decorator
@inline
function join(s: v128, x: v128, c: v128, y: v128): v128 {
  const sum = f64x2.add(f64x2.floor(f64x2.mul(s, x)), f64x2.floor(f64x2.mul(c, y)));
  const cut = v128.and(sum, i64x2.splat(-1 << CUT_BITS));
  const down = v128.and(f64x2.gt(cut, sum), i64x2.splat(1 << CUT_BITS));
  return f32x4.demote_f64x2_zero(i64x2.add(cut, down));
}

// @ts-ignore: decorator
@inline
function finishLanes(c: usize, at: usize): void {
  const sums = v128.load(SUMS + at);
  const before = v128.load(c + at);
  const e = v128.load(EXPONENTS + at);
  const ce = i32x4.max_s(i32x4.sub(biasedExponents(before), i32x4.splat(127)), i32x4.splat(-126));
  const own = i32x4.sub(e, i32x4.splat(fraction));
  // From the products' unit to the step's: 0 where e_p >= e_c.
  const gap = i32x4.sub(i32x4.sub(ce, i32x4.splat(SUM_FRACTION)), own);
  const up = v128.and(gap, i32x4.gt_s(ce, e));
  const unit = i32x4.add(own, up);
  const x = i32x4.shl(i32x4.sub(i32x4.splat(1023), up), 20);
  const y = i32x4.shl(i32x4.sub(i32x4.splat(1023), unit), 20);
  const low = join(
    f64x2.convert_low_i32x4_s(sums),
    lowPowers(x),
    f64x2.promote_low_f32x4(before),
    lowPowers(y),
  );
  const high = join(
    f64x2.convert_low_i32x4_s(v128.shuffle<i64>(sums, sums, 1, 1)),
    highPowers(x),
    f64x2.promote_low_f32x4(v128.shuffle<i64>(before, before, 1, 1)),
    highPowers(y),
  );
  // The rounded sum's own scale: a sum of more than 24 bits is no subnormal, and one of fewer is exact.
  const u = i32x4.shl(i32x4.add(i32x4.splat(127), i32x4.max_s(unit, i32x4.splat(-126))), 23);
  v128.store(c + at, f32x4.mul(v128.shuffle<i32>(low, high, 0, 1, 4, 5), u));
}

function finish(c: usize): void {
  finishLanes(c, 0);
  finishLanes(c, 16);
  finishLanes(c, 32);
  finishLanes(c, 48);
}

/** Narrow formats. */
export function rowCdna3(a: usize, aCodes: usize, b: usize, bCodes: usize, k: i32, c: usize): void {
  const n = block;
  const bias = i32x4.splat(codeBias);
  for (let i = 0; i < k; i += n) {
    const codes = byteExponents(aCodes, bCodes, n);
    const low = i16x8.extend_low_i8x16_u(codes);
    const high = i16x8.extend_high_i8x16_u(codes);
    place(0, i32x4.sub(i32x4.extend_low_i16x8_u(low), bias));
    place(16, i32x4.sub(i32x4.extend_high_i16x8_u(low), bias));
    place(32, i32x4.sub(i32x4.extend_low_i16x8_u(high), bias));
    place(48, i32x4.sub(i32x4.extend_high_i16x8_u(high), bias));
    accumulate(a, b, n, SUMS);
    finish(c);
    aCodes += n;
    bCodes += n << 4;
    a += n << 2;
    b += n << 6;
  }
}

/**
 * Scales from the products' exponents in EXPONENTS. False where a lane has no product or one that is out of fp32's range.
 */
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
  return i32x4.bitmask(v128.or(below, i32x4.gt_s(most, i32x4.splat(HIGHEST_EXPONENT)))) === 0;
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
  finish(c);
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
      finish(c);
    } else stepOutOfRange(a, b, n, c);
    aCodes += n << 1;
    bCodes += n << 5;
    a += n << 2;
    b += n << 6;
  }
}
