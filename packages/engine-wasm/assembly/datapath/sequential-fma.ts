import * as addend from '../number/addend';
import { INFINITE, MAGNITUDE, NOT_A_NUMBER, ZERO } from '../number/element';
import * as ieee from '../number/ieee';
import { infinity, nanWord } from '../number/round';
import { flushInputs, instruction, precision, productBits, rounding } from '../params';

/** Numerics 4.7 on packed elements, in integers: inputs of up to 31 significand bits, any output and rounding. */
export function sequentialFma(a: usize, b: usize, k: i32, word: u64): u64 {
  for (let i = 0; i < k; i++) {
    addend.take(word);
    if (flushInputs !== 0 && i % instruction === 0) addend.flushSubnormal();
    const x = load<u32>(a);
    const y = load<u32>(b);
    const mag = u64(x & MAGNITUDE) * u64(y & MAGNITUDE);
    word = fuse(i32(x ^ y) < 0, load<i32>(a, 4), load<i32>(b, 4), 0, mag, productBits);
    a += 8;
    b += 8;
  }
  return word;
}

/** A product, exponents of its factors and its 128-bit magnitude, plus the addend taken last. */
function fuse(n: bool, xe: i32, ye: i32, high: u64, low: u64, fractionBits: i32): u64 {
  if (xe === NOT_A_NUMBER || ye === NOT_A_NUMBER || addend.e === NOT_A_NUMBER) return nanWord();
  if (xe === INFINITE || ye === INFINITE) {
    if (xe === ZERO || ye === ZERO || (addend.e === INFINITE && addend.negative !== n)) return nanWord();
    return infinity(n);
  }
  if (addend.e === INFINITE) return infinity(addend.negative);
  return ieee.flush(ieee.addFinite(n, high, low, xe + ye - fractionBits, rounding, precision));
}

/** fp32 rounded RNE without flushing. Elements are f32 values at offset 0. */
export function sequentialFmaNative(a: usize, b: usize, k: i32, word: u64): u64 {
  let sum = reinterpret<f32>(u32(word));
  for (let i = 0; i < k; i++) {
    sum = fma32(load<f32>(a), load<f32>(b), sum);
    a += 8;
    b += 8;
  }
  return sum !== sum ? nanWord() : u64(reinterpret<u32>(sum));
}

/**
 * x * y + z in fp32. The product is exact in f64 (48 bits, 2^-298...2^256); the f64 sum, made odd where inexact,
 * rounds to fp32 as the exact sum does because 53 >= 24 + 2.
 */
// @ts-ignore: decorator
@inline
function fma32(x: f32, y: f32, z: f32): f32 {
  const p = f64(x) * f64(y);
  const c = f64(z);
  const s = p + c;
  const v = s - p;
  const error = p - (s - v) + (c - v);
  const bits = reinterpret<i64>(s);
  // NaN compares false, so an infinite sum (whose error is NaN) stays.
  if ((bits & 1) === 0 && (error > 0 || error < 0))
    return f32(reinterpret<f64>(bits + (error > 0 === bits > 0 ? 1 : -1)));
  return f32(s);
}

/** fp64: elements are fp64 words. */
export function sequentialFma64(a: usize, b: usize, k: i32, word: u64): u64 {
  for (let i = 0; i < k; i++) {
    const x = load<u64>(a);
    const y = load<u64>(b);
    const xm = significand(x);
    const ym = significand(y);
    addend.take(word);
    if (flushInputs !== 0 && i % instruction === 0) addend.flushSubnormal();
    word = fuse(i64(x ^ y) < 0, exponent(x), exponent(y), high(xm, ym), xm * ym, 104);
    a += 8;
    b += 8;
  }
  return word;
}

function significand(x: u64): u64 {
  const m = x & 0xfffffffffffff;
  if (((x >> 52) & 0x7ff) !== 0) return m | 0x10000000000000;
  return flushInputs !== 0 ? 0 : m;
}

function exponent(x: u64): i32 {
  const e = i32((x >> 52) & 0x7ff);
  const m = x & 0xfffffffffffff;
  if (e === 0x7ff) return m === 0 ? INFINITE : NOT_A_NUMBER;
  return e !== 0 ? e - 1023 : m === 0 || flushInputs !== 0 ? ZERO : -1022;
}

/** High 64 bits of the product. */
function high(x: u64, y: u64): u64 {
  const x0 = x & 0xffffffff;
  const x1 = x >> 32;
  const y0 = y & 0xffffffff;
  const y1 = y >> 32;
  const mid = x1 * y0 + ((x0 * y0) >> 32);
  const cross = x0 * y1 + (mid & 0xffffffff);
  return x1 * y1 + (mid >> 32) + (cross >> 32);
}
