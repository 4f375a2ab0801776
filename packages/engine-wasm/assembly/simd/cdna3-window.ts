// cdna3-window: products truncated and summed in i32 as in window-i32.ts, c in fp32 or, where the cut acts, in f64. One
// row against 16 columns.
import { block, fraction } from '../params';
import { accumulate } from './accumulate';
import { biasedExponents, byteExponents, NO_PRODUCT, shortExponents } from './exponents';
import { codeBias, lowestExponent } from './params';
import { CARRIED, EXPONENTS, SCALES, SUMS } from './scratch';
import { HIGHEST_EXPONENT, slowSteps } from './slow-step';

/** Fraction bits that the rule keeps below c's exponent where c is the larger, as floor(S) (numerics 4.5). */
const SUM_FRACTION: i32 = 32;
/** f64's 52 fraction bits less the 31 that the normalised sum keeps. */
const CUT_BITS: i64 = 21;
/** fp32 word of 2^32. */
const CUT_BEGINS: i32 = (127 + 32) << 23;
/** c * 2^(F-E) is exact and no zero where c is none: F - E >= 0, whatever subnormal c is. */
const HIGHEST_DIRECT: i32 = 24;

// @ts-ignore: decorator
@inline
function place(at: usize, e: v128): void {
  v128.store(EXPONENTS + at, e);
  v128.store(SCALES + at, i32x4.shl(i32x4.sub(i32x4.splat(127 + fraction), e), 23));
}

/**
 * RNE(S + floor(c / 2^(E-F))) to 24 bits, in units of 2^(E-F), for E <= HIGHEST_DIRECT: the rule where the sum is below
 * 2^32 units, for then the floors of S and of c to 2^(e_c-32) and the cut to 31 bits drop nothing. S has at most 30 bits:
 * 22 upper ones and 8 lower ones are fp32 numbers. 2Sum makes the first addition exact, its error is an integer of at most
 * 2^7 below 2^32, and the last addition rounds the exact sum once.
 */
// @ts-ignore: decorator
@inline
function direct(c: usize, at: usize): v128 {
  const sums = v128.load(SUMS + at);
  const x = f32x4.floor(f32x4.mul(v128.load(c + at), v128.load(SCALES + at)));
  const lower = v128.and(sums, i32x4.splat(0xff));
  const y = f32x4.convert_i32x4_s(i32x4.sub(sums, lower));
  const r = f32x4.add(x, y);
  const z = f32x4.sub(r, x);
  const error = f32x4.add(f32x4.sub(x, f32x4.sub(r, z)), f32x4.sub(y, z));
  return f32x4.add(r, f32x4.add(error, f32x4.convert_i32x4_s(lower)));
}

// @ts-ignore: decorator
@inline
function magnitude(d: v128): v128 {
  return v128.and(d, i32x4.splat(0x7fffffff));
}

/** Whether the cut acts in a lane, or c is infinite or NaN. */
// @ts-ignore: decorator
@inline
function beyond(magnitudes: v128): bool {
  return i32x4.bitmask(i32x4.ge_s(magnitudes, i32x4.splat(CUT_BEGINS))) !== 0;
}

/** d, a multiple of 2^(E-F), as the new c. */
// @ts-ignore: decorator
@inline
function put(c: usize, at: usize, d: v128): void {
  const unit = i32x4.sub(i32x4.splat(254 << 23), v128.load(SCALES + at));
  v128.store(c + at, f32x4.mul(d, unit));
}

/** The end of a step, E <= HIGHEST_DIRECT. */
function finish(c: usize): void {
  const d0 = direct(c, 0);
  const d1 = direct(c, 16);
  const d2 = direct(c, 32);
  const d3 = direct(c, 48);
  const m0 = i32x4.max_s(magnitude(d0), magnitude(d1));
  const m1 = i32x4.max_s(magnitude(d2), magnitude(d3));
  if (beyond(i32x4.max_s(m0, m1))) {
    finishEither(c);
    return;
  }
  put(c, 0, d0);
  put(c, 16, d1);
  put(c, 32, d2);
  put(c, 48, d3);
}

function finishEither(c: usize): void {
  for (let at: usize = 0; at < 64; at += 16) {
    const d = direct(c, at);
    if (beyond(magnitude(d))) finishLanes(c, at);
    else put(c, at, d);
  }
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
 * round(cut(floor(s * x) + floor(c * y))) of two lanes. In units of 2^u one of the floors leaves its argument, and the cut
 * to 31 bits below the leading one changes nothing where e_p >= e_c.
 */
// @ts-ignore: decorator
@inline
function join(s: v128, x: v128, c: v128, y: v128): v128 {
  const sum = f64x2.add(f64x2.floor(f64x2.mul(s, x)), f64x2.floor(f64x2.mul(c, y)));
  const cut = v128.and(sum, i64x2.splat(-1 << CUT_BITS));
  const down = v128.and(f64x2.gt(cut, sum), i64x2.splat(1 << CUT_BITS));
  return f32x4.demote_f64x2_zero(i64x2.add(cut, down));
}

/**
 * Any E and c. The unit 2^u of the rule is 2^(E-F) where e_p >= e_c, else 2^(e_c-32); up to e_c = e_p + 8 both S and c are
 * multiples of the first as well, so that u is the larger exponent of the two.
 */
// @ts-ignore: decorator
@inline
function finishLanes(c: usize, at: usize): void {
  const sums = v128.load(SUMS + at);
  const before = v128.load(c + at);
  const own = i32x4.sub(v128.load(EXPONENTS + at), i32x4.splat(fraction));
  const ce = i32x4.max_s(i32x4.sub(biasedExponents(before), i32x4.splat(127)), i32x4.splat(-126));
  const unit = i32x4.max_s(i32x4.sub(ce, i32x4.splat(SUM_FRACTION)), own);
  const x = i32x4.shl(i32x4.sub(i32x4.splat(1023), i32x4.sub(unit, own)), 20);
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
    finish(c);
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
  for (let at: usize = 0; at < 64; at += 16) finishLanes(c, at);
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
