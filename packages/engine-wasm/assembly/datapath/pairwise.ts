import * as addend from '../number/addend';
import * as ieee from '../number/ieee';
import { nanWord } from '../number/round';
import { FINITE, scan, special, specialWord } from '../number/special';
import {
  block,
  flushInputs,
  flushResults,
  instruction,
  precision,
  productBits,
  rounding,
} from '../params';

/** Words of a block's products and of the tree above them. */
const TREE: usize = memory.data(8192);
export const TREE_TERMS: i32 = 1024;

/** Numerics 4.4 on packed elements, in integers: any output format and rounding. */
export function pairwise(a: usize, b: usize, k: i32, word: u64): u64 {
  for (let i = 0; i < k; i += instruction) {
    for (let j = 0; j < instruction; j += block) {
      const at = usize(i + j) << 3;
      word = step(a + at, b + at, min(block, instruction - j), word);
    }
  }
  return word;
}

function step(a: usize, b: usize, n: i32, word: u64): u64 {
  addend.take(word);
  const found = special(a, b, n);
  if (found !== FINITE) return specialWord(found);
  for (let i = 0; i < n; i++) {
    const at = usize(i) << 3;
    const product = ieee.multiply(load<u32>(a + at), load<i32>(a + at, 4), load<u32>(b + at), load<i32>(b + at, 4), productBits);
    store<u64>(TREE + at, ieee.flush(product));
  }
  for (let length = n; length > 1; length = (length + 1) >> 1) {
    for (let i = 0; i < length; i += 2) {
      const x = load<u64>(TREE + (usize(i) << 3));
      const y = load<u64>(TREE + (usize(i + 1) << 3));
      const sum = i + 1 < length ? ieee.flush(ieee.add(x, y, rounding, precision)) : x;
      store<u64>(TREE + (usize(i >> 1) << 3), sum);
    }
  }
  addend.take(load<u64>(TREE));
  const negative = addend.negative;
  const sig = addend.sig;
  const e = addend.e;
  const lsb = e - addend.bits;
  addend.take(word);
  if (flushInputs !== 0) addend.flushSubnormal();
  return ieee.flush(ieee.addTaken(negative, sig, e, lsb, rounding, precision));
}

const LEAST_NORMAL: f32 = 1.1754943508222875e-38;

// @ts-ignore: decorator
@inline
function flushed(x: f32): f32 {
  return Mathf.abs(x) < LEAST_NORMAL ? copysign<f32>(0, x) : x;
}

/** Numerics 4.4 for fp32 rounded RNE: WebAssembly's own f32 arithmetic. Elements are f32 values at offset 0. */
export function pairwiseNative(a: usize, b: usize, k: i32, word: u64): u64 {
  let sum = reinterpret<f32>(u32(word));
  for (let i = 0; i < k; i += instruction) {
    for (let j = 0; j < instruction; j += block) {
      const n = min(block, instruction - j);
      const at = usize(i + j) << 3;
      if (flushInputs !== 0) sum = flushed(sum);
      if (scan || Mathf.abs(sum) === Infinity) {
        const decided = specialSum(a + at, b + at, n, sum);
        if (decided !== 0) {
          sum = decided;
          continue;
        }
      }
      sum = n === 4 && flushResults !== 0 ? sum4(a + at, b + at, sum) : sumTree(a + at, b + at, n, sum);
    }
  }
  return sum !== sum ? nanWord() : u64(reinterpret<u32>(sum));
}

/** Numerics section 3 over the operands and c: the infinity or NaN that they decide, or 0. */
function specialSum(a: usize, b: usize, n: i32, c: f32): f32 {
  // An infinite c, or 0; NaN stays NaN.
  let sum: f32 = c - c === 0 ? 0 : c;
  for (let i = 0; i < n; i++) {
    const x = load<f32>(a + (usize(i) << 3));
    const y = load<f32>(b + (usize(i) << 3));
    if (x - x !== 0 || y - y !== 0) sum += x * y;
  }
  return sum;
}

// @ts-ignore: decorator
@inline
function product(a: usize, b: usize, at: usize): f32 {
  return flushed(load<f32>(a + at) * load<f32>(b + at));
}

// @ts-ignore: decorator
@inline
function sum4(a: usize, b: usize, c: f32): f32 {
  const low = flushed(product(a, b, 0) + product(a, b, 8));
  const high = flushed(product(a, b, 16) + product(a, b, 24));
  return flushed(c + flushed(low + high));
}

function sumTree(a: usize, b: usize, n: i32, c: f32): f32 {
  for (let i = 0; i < n; i++) {
    const p = load<f32>(a + (usize(i) << 3)) * load<f32>(b + (usize(i) << 3));
    store<f32>(TREE + (usize(i) << 2), flushResults !== 0 ? flushed(p) : p);
  }
  for (let length = n; length > 1; length = (length + 1) >> 1) {
    for (let i = 0; i < length; i += 2) {
      const x = load<f32>(TREE + (usize(i) << 2));
      const s = x + load<f32>(TREE + (usize(i + 1) << 2));
      store<f32>(TREE + (usize(i >> 1) << 2), i + 1 < length ? (flushResults !== 0 ? flushed(s) : s) : x);
    }
  }
  const s = c + load<f32>(TREE);
  return flushResults !== 0 ? flushed(s) : s;
}
