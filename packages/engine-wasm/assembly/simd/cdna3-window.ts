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

/** High word of the f64 2^e. */
// @ts-ignore: decorator
@inline
function power(e: v128): v128 {
  return i32x4.shl(i32x4.add(e, i32x4.splat(1023)), 20);
}

/**
 * d = round(cut(floor(s * x) + floor(c * y)) * u) of two lanes. In units of 2^u one of the floors leaves its argument,
 * and the cut to 31 bits below the leading one changes nothing where e_p >= e_c.
 */
// @ts-ignore: decorator
@inline
function join(s: v128, x: v128, c: v128, y: v128, u: v128): v128 {
  const sum = f64x2.add(f64x2.floor(f64x2.mul(s, x)), f64x2.floor(f64x2.mul(c, y)));
  const cut = v128.and(sum, i64x2.splat(-1 << CUT_BITS));
  const down = v128.and(f64x2.gt(cut, sum), i64x2.splat(1 << CUT_BITS));
  return f32x4.demote_f64x2_zero(f64x2.mul(i64x2.add(cut, down), u));
}

function finish(c: usize): void {
  for (let at: usize = 0; at < 64; at += 16) {
    const sums = v128.load(SUMS + at);
    const e = v128.load(EXPONENTS + at);
    const before = v128.load(c + at);
    const biased = biasedExponents(before);
    const ce = i32x4.max_s(i32x4.sub(biased, i32x4.splat(127)), i32x4.splat(-126));
    const own = i32x4.sub(e, i32x4.splat(fraction));
    const unit = v128.bitselect(own, i32x4.sub(ce, i32x4.splat(SUM_FRACTION)), i32x4.ge_s(e, ce));
    const x = power(i32x4.sub(own, unit));
    const y = power(i32x4.neg(unit));
    const u = power(unit);
    const low = join(
      f64x2.convert_low_i32x4_s(sums),
      lowPowers(x),
      f64x2.promote_low_f32x4(before),
      lowPowers(y),
      lowPowers(u),
    );
    const high = join(
      f64x2.convert_low_i32x4_s(v128.shuffle<i64>(sums, sums, 1, 1)),
      highPowers(x),
      f64x2.promote_low_f32x4(v128.shuffle<i64>(before, before, 1, 1)),
      highPowers(y),
      highPowers(u),
    );
    const d = v128.shuffle<i32>(low, high, 0, 1, 4, 5);
    // An infinite or NaN c stays what it is.
    v128.store(c + at, v128.bitselect(before, d, i32x4.eq(biased, i32x4.splat(255))));
  }
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

/** Scales from the products' exponents in EXPONENTS; bits of the lanes whose products fp32 does not hold. */
function placeInRange(c: usize): i32 {
  let outside = 0;
  for (let at: usize = 0; at < 64; at += 16) {
    const e = v128.load(EXPONENTS + at);
    const before = v128.load(c + at);
    const above = i32x4.gt_s(e, i32x4.splat(HIGHEST_EXPONENT));
    const below = v128.andnot(i32x4.lt_s(e, i32x4.splat(lowestExponent)), i32x4.eq(e, i32x4.splat(NO_PRODUCT)));
    const special = i32x4.eq(biasedExponents(before), i32x4.splat(255));
    outside |= i32x4.bitmask(v128.andnot(v128.or(above, below), special)) << (<i32>at >> 2);
    place(at, e);
    v128.store(CARRIED + at, before);
  }
  return outside;
}

/** Formats of fp32's exponent range. Codes are i16. */
export function rowCdna3Shorts(a: usize, aCodes: usize, b: usize, bCodes: usize, k: i32, c: usize): void {
  const n = block;
  for (let i = 0; i < k; i += n) {
    shortExponents(aCodes, bCodes, n);
    const outside = placeInRange(c);
    accumulate(a, b, n, SUMS);
    finish(c);
    if (outside !== 0) slowSteps(outside, a, b, n, c, true);
    aCodes += n << 1;
    bCodes += n << 5;
    a += n << 2;
    b += n << 6;
  }
}
