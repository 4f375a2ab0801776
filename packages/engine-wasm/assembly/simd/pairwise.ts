// pairwise of 2 or 4 terms with fp32 results rounded RNE, inputs and results flushed. One row against 16 columns.
import { block } from '../params';

const LEAST_NORMAL: f32 = 1.1754943508222875e-38;
const MAGNITUDE: i32 = 0x7fffffff;

/** A subnormal becomes zero of its sign; NaN compares false and stays. */
// @ts-ignore: decorator
@inline
function flushed(x: v128): v128 {
  const small = f32x4.lt(f32x4.abs(x), f32x4.splat(LEAST_NORMAL));
  return v128.andnot(x, v128.and(small, i32x4.splat(MAGNITUDE)));
}

// @ts-ignore: decorator
@inline
function product(a: usize, b: usize): v128 {
  return flushed(f32x4.mul(v128.load32_splat(a), v128.load(b)));
}

// @ts-ignore: decorator
@inline
function sum(x: v128, y: v128): v128 {
  return flushed(f32x4.add(x, y));
}

/** Operands are finite, so that an infinite c decides the step (numerics section 3). */
// @ts-ignore: decorator
@inline
function joined(c: v128, tree: v128): v128 {
  const infinite = i32x4.eq(v128.and(c, i32x4.splat(MAGNITUDE)), i32x4.splat(0x7f800000));
  return v128.bitselect(c, sum(c, tree), infinite);
}

export function rowPairwise(a: usize, b: usize, k: i32, c: usize): void {
  const n = block;
  for (let at: usize = 0; at < 64; at += 16) {
    let x = a;
    let y = b + at;
    let d = flushed(v128.load(c + at));
    if (n === 4) {
      for (let i = 0; i < k; i += 4) {
        const low = sum(product(x, y), product(x + 4, y + 64));
        const high = sum(product(x + 8, y + 128), product(x + 12, y + 192));
        d = joined(d, sum(low, high));
        x += 16;
        y += 256;
      }
    } else {
      for (let i = 0; i < k; i += 2) {
        d = joined(d, sum(product(x, y), product(x + 4, y + 64)));
        x += 8;
        y += 128;
      }
    }
    v128.store(c + at, d);
  }
}
