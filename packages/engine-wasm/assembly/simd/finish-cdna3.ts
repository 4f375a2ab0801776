// The end of a CDNA3 step on i32 sums: c joins in fp32 or, where the cut acts, in f64; c becomes d.
import { fraction } from '../params';
import { biasedExponents } from './exponents';
import { EXPONENTS, SCALES, SUMS } from './scratch';

/** Fraction bits that the rule keeps below c's exponent where c is the larger, as floor(S) (numerics 4.5). */
const SUM_FRACTION: i32 = 32;
/** f64's 52 fraction bits less the 31 that the normalised sum keeps. */
const CUT_BITS: i64 = 21;
/** fp32 word of 2^32. */
const CUT_BEGINS: i32 = (127 + 32) << 23;
/** c * 2^(F-E) is exact and no zero where c is none: F - E >= 0, whatever subnormal c is. */
export const HIGHEST_DIRECT: i32 = 24;

/** Lanes of finite addends that cdna3-odd-even leaves out: E - e_c > 25 is |c| < 2^-1 in units of 2^(E-24). */
// @ts-ignore: decorator
@inline
function unreached(scaled: v128): v128 {
  return f32x4.lt(magnitude(scaled), f32x4.splat(0.5));
}

/**
 * RNE(S + floor(c / 2^(E-F))) to 24 bits, in units of 2^(E-F), for E <= HIGHEST_DIRECT: the rule where the sum is below
 * 2^32 units, for then the floors of S and of c to 2^(e_c-32) and the cut to 31 bits drop nothing. S has at most 30 bits:
 * 22 upper ones and 8 lower ones are fp32 numbers. 2Sum makes the first addition exact, its error is an integer of at most
 * 2^7 below 2^32, and the last addition rounds the exact sum once.
 */
// @ts-ignore: decorator
@inline
function direct(c: usize, at: usize, reach: bool): v128 {
  const sums = v128.load(SUMS + at);
  const scaled = f32x4.mul(v128.load(c + at), v128.load(SCALES + at));
  let x = f32x4.floor(scaled);
  if (reach) x = v128.andnot(x, unreached(scaled));
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

/** The end of a step, E <= HIGHEST_DIRECT. `reach`: cdna3-odd-even's rule that leaves c out. */
// @ts-ignore: decorator
@inline
export function finish(c: usize, reach: bool): void {
  const d0 = direct(c, 0, reach);
  const d1 = direct(c, 16, reach);
  const d2 = direct(c, 32, reach);
  const d3 = direct(c, 48, reach);
  const m0 = i32x4.max_s(magnitude(d0), magnitude(d1));
  const m1 = i32x4.max_s(magnitude(d2), magnitude(d3));
  if (beyond(i32x4.max_s(m0, m1))) {
    finishEither(c, reach);
    return;
  }
  put(c, 0, d0);
  put(c, 16, d1);
  put(c, 32, d2);
  put(c, 48, d3);
}

function finishEither(c: usize, reach: bool): void {
  for (let at: usize = 0; at < 64; at += 16) {
    const d = direct(c, at, reach);
    if (beyond(magnitude(d))) finishLanes(c, at, reach);
    else put(c, at, d);
  }
}

// @ts-ignore: decorator
@inline
export function lowPowers(biased: v128): v128 {
  return v128.shuffle<i32>(i32x4.splat(0), biased, 0, 4, 1, 5);
}

// @ts-ignore: decorator
@inline
export function highPowers(biased: v128): v128 {
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
export function finishLanes(c: usize, at: usize, reach: bool): void {
  const sums = v128.load(SUMS + at);
  let before = v128.load(c + at);
  if (reach) before = v128.andnot(before, unreached(f32x4.mul(before, v128.load(SCALES + at))));
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
