// The end of a block step on i32 sums: c joins, the sum is rounded and scaled back; c becomes d. Each function does four
// times four lanes without a loop: V8 builds vector constants anew in every round of one (three instructions each).
import { fraction } from '../params';
import { codeBias } from './params';
import { EXPONENTS, SCALES, SUMS } from './scratch';

const SIGN: i32 = -0x80000000;

// @ts-ignore: decorator
@inline
function unscale(at: usize): v128 {
  return i32x4.shl(i32x4.add(v128.load(EXPONENTS + at), i32x4.splat(127 - fraction - codeBias)), 23);
}

// @ts-ignore: decorator
@inline
function addend(c: v128, at: usize): v128 {
  return i32x4.trunc_sat_f32x4_s(f32x4.mul(c, v128.load(SCALES + at)));
}

/**
 * All ones where x + y is negative, r their wrapped sum: |x| < 2^31 and |y| <= 2^26, so that the sum's magnitude fits
 * u32 and, where the signs agree, its sign is x's.
 */
// @ts-ignore: decorator
@inline
function negative(x: v128, y: v128, r: v128): v128 {
  return i32x4.shr_s(v128.bitselect(r, x, v128.xor(x, y)), 31);
}

// @ts-ignore: decorator
@inline
function magnitude(r: v128, sign: v128): v128 {
  return i32x4.sub(v128.xor(r, sign), sign);
}

/**
 * u32 to fp32 toward zero: with the first discarded bit cleared, the conversion's rounding to nearest goes down. For
 * m = 2^L..., m >> 24 has its leading bit at L - 24 and none above.
 */
// @ts-ignore: decorator
@inline
function truncated(m: v128): v128 {
  const y = v128.andnot(m, i32x4.shr_u(m, 24));
  // The signed conversion is one instruction, the unsigned one about seven.
  return i32x4.bitmask(m) === 0 ? f32x4.convert_i32x4_s(y) : f32x4.convert_i32x4_u(y);
}

// @ts-ignore: decorator
@inline
function signed(x: v128, sign: v128): v128 {
  return v128.or(x, v128.and(sign, i32x4.splat(SIGN)));
}

/** fp32 output, RZ, p = 23. */
// @ts-ignore: decorator
@inline
function finishSingleLanes(c: usize, at: usize): void {
  const x = v128.load(SUMS + at);
  const y = addend(v128.load(c + at), at);
  const r = i32x4.add(x, y);
  const sign = negative(x, y, r);
  v128.store(c + at, signed(f32x4.mul(truncated(magnitude(r, sign)), unscale(at)), sign));
}

export function finishSingle(c: usize): void {
  finishSingleLanes(c, 0);
  finishSingleLanes(c, 16);
  finishSingleLanes(c, 32);
  finishSingleLanes(c, 48);
}

// The halves of a sum of two runs and c: value = 2 * upper + bit.
// @ts-ignore: decorator
@inline
function upperOf(x: v128, y: v128, z: v128): v128 {
  // x + y = 2 * (x >> 1) + 2 * (y >> 1) + (x & 1) + (y & 1)
  const half = i32x4.add(i32x4.add(i32x4.shr_s(x, 1), i32x4.shr_s(y, 1)), v128.and(v128.and(x, y), i32x4.splat(1)));
  const bit = v128.and(v128.xor(x, y), i32x4.splat(1));
  return i32x4.add(i32x4.add(half, i32x4.shr_s(z, 1)), v128.and(bit, z));
}

// @ts-ignore: decorator
@inline
function lowBit(x: v128, y: v128, z: v128): v128 {
  return v128.and(v128.xor(v128.xor(x, y), z), i32x4.splat(1));
}

/** Magnitude's upper part: -(2u + b) = 2(-u - b) + b. */
// @ts-ignore: decorator
@inline
function upperMagnitude(upper: v128, bit: v128, sign: v128): v128 {
  return i32x4.sub(magnitude(upper, sign), v128.and(bit, sign));
}

/** Two runs of products, each below 2^31, and c. */
// @ts-ignore: decorator
@inline
function finishTwoSingleLanes(c: usize, at: usize): void {
  const x = v128.load(SUMS + at);
  const y = v128.load(SUMS + 64 + at);
  const z = addend(v128.load(c + at), at);
  const upper = upperOf(x, y, z);
  const bit = lowBit(x, y, z);
  const sign = i32x4.shr_s(upper, 31);
  const m = upperMagnitude(upper, bit, sign);
  // The bit is one of the 24 kept only where the upper part has at most 23.
  const kept = v128.and(bit, i32x4.lt_u(m, i32x4.splat(0x800000)));
  const f = truncated(m);
  const value = f32x4.add(f32x4.add(f, f), f32x4.convert_i32x4_s(kept));
  v128.store(c + at, signed(f32x4.mul(value, unscale(at)), sign));
}

export function finishTwoSingle(c: usize): void {
  finishTwoSingleLanes(c, 0);
  finishTwoSingleLanes(c, 16);
  finishTwoSingleLanes(c, 32);
  finishTwoSingleLanes(c, 48);
}

/** 2^(e + 13) * 1.5, e the exponent of |x| and at least fp16's emin: adding it rounds x to fp16's 2^(e - 10). */
// @ts-ignore: decorator
@inline
function halfMagic(x: v128): v128 {
  const e = i32x4.max_s(v128.and(x, i32x4.splat(0x7f800000)), i32x4.splat(113 << 23));
  return v128.or(i32x4.add(e, i32x4.splat(13 << 23)), i32x4.splat(0x400000));
}

/**
 * fp32 values to fp16 values, RNE, as fp32 words; a result of zero is +0. x has odd low bits where it stands for a
 * longer sum: 24 bits against 11, so that rounding to odd and then to nearest is rounding to nearest. An infinite c has
 * E = 128 and saturates the sum, which is infinite again.
 */
// @ts-ignore: decorator
@inline
export function roundHalf(x: v128): v128 {
  const magic = halfMagic(x);
  const r = f32x4.sub(f32x4.add(x, magic), magic);
  const over = f32x4.ge(f32x4.abs(r), f32x4.splat(65536));
  const infinite = v128.or(v128.and(x, i32x4.splat(SIGN)), i32x4.splat(0x7f800000));
  return v128.bitselect(infinite, r, over);
}

/** fp16 output, RNE. */
// @ts-ignore: decorator
@inline
function finishHalfLanes(c: usize, at: usize): void {
  const x = v128.load(SUMS + at);
  const y = addend(v128.load(c + at), at);
  const r = i32x4.add(x, y);
  const sign = negative(x, y, r);
  const m = magnitude(r, sign);
  const f = f32x4.convert_i32x4_u(v128.andnot(m, i32x4.shr_u(m, 24)));
  const odd = v128.and(i32x4.ne(i32x4.trunc_sat_f32x4_u(f), m), i32x4.splat(1));
  const value = signed(f32x4.mul(v128.or(f, odd), unscale(at)), sign);
  v128.store(c + at, roundHalf(value));
}

export function finishHalf(c: usize): void {
  finishHalfLanes(c, 0);
  finishHalfLanes(c, 16);
  finishHalfLanes(c, 32);
  finishHalfLanes(c, 48);
}

/** fp16 output of two runs. */
// @ts-ignore: decorator
@inline
function finishTwoHalfLanes(c: usize, at: usize): void {
  const x = v128.load(SUMS + at);
  const y = v128.load(SUMS + 64 + at);
  const z = addend(v128.load(c + at), at);
  const upper = upperOf(x, y, z);
  const bit = lowBit(x, y, z);
  const sign = i32x4.shr_s(upper, 31);
  const m = upperMagnitude(upper, bit, sign);
  const few = i32x4.lt_u(m, i32x4.splat(0x800000));
  const f = f32x4.convert_i32x4_u(v128.andnot(m, i32x4.shr_u(m, 24)));
  const value = f32x4.add(f32x4.add(f, f), f32x4.convert_i32x4_s(v128.and(bit, few)));
  const cut = i32x4.ne(i32x4.trunc_sat_f32x4_u(f), m);
  const odd = v128.or(v128.and(cut, i32x4.splat(1)), v128.andnot(bit, few));
  const scaled = signed(f32x4.mul(v128.or(value, odd), unscale(at)), sign);
  v128.store(c + at, roundHalf(scaled));
}

export function finishTwoHalf(c: usize): void {
  finishTwoHalfLanes(c, 0);
  finishTwoHalfLanes(c, 16);
  finishTwoHalfLanes(c, 32);
  finishTwoHalfLanes(c, 48);
}
