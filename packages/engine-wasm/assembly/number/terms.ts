import { NONE, productBits, RZ } from '../params';
import { cut } from './cut';
import { LIMIT, MAGNITUDE } from './element';
import * as wide from './wide';

/** Largest exponent of the nonzero products; NONE where there is none. `step`: bytes from one term to the next. */
// @ts-ignore: decorator
@inline
export function maxExponent(a: usize, b: usize, n: i32, step: usize): i32 {
  let max = NONE;
  for (let i = 0; i < n; i++) {
    const e = load<i32>(a, 4) + load<i32>(b, 4);
    max = e > max ? e : max;
    a += step;
    b += step;
  }
  return max > -LIMIT ? max : NONE;
}

/**
 * Sum of the products, each cut to 2^(E - F), in quanta. A term of exponent e <= E is sig * 2^(F - bits - (E - e)):
 * with `pre` = max(F - bits, 0) the shift is to the right only.
 */
// @ts-ignore: decorator
@inline
export function windowSum(a: usize, b: usize, n: i32, step: usize, e: i32, f: i32, mode: i32): i64 {
  const pre = f > productBits ? f - productBits : 0;
  const top = e + pre - (f - productBits);
  let sum: i64 = 0;
  if (mode === RZ) {
    for (let i = 0; i < n; i++) {
      const x = load<u32>(a);
      const y = load<u32>(b);
      const shift = top - load<i32>(a, 4) - load<i32>(b, 4);
      const mag = (u64(x & MAGNITUDE) * u64(y & MAGNITUDE)) << u64(pre);
      const sign = i64(i32(x ^ y) >> 31);
      // A zero product has the shift of about 2^20 and the magnitude 0.
      sum += (i64(mag >> u64(shift > 63 ? 63 : shift)) ^ sign) - sign;
      a += step;
      b += step;
    }
    return sum;
  }
  for (let i = 0; i < n; i++) {
    const x = load<u32>(a);
    const y = load<u32>(b);
    const shift = top - load<i32>(a, 4) - load<i32>(b, 4);
    const mag = (u64(x & MAGNITUDE) * u64(y & MAGNITUDE)) << u64(pre);
    const negative = i32(x ^ y) < 0;
    const kept = i64(cut(mag, shift, negative, mode));
    sum += negative ? -kept : kept;
    a += step;
    b += step;
  }
  return sum;
}

/** Smallest lsb of the nonzero products, not above `low`. */
export function minLsb(a: usize, b: usize, n: i32, step: usize, low: i32): i32 {
  for (let i = 0; i < n; i++) {
    const e = load<i32>(a, 4) + load<i32>(b, 4);
    if (e > -LIMIT && e - productBits < low) low = e - productBits;
    a += step;
    b += step;
  }
  return low;
}

/** Adds the products, each cut to 2^quantum, to the selected wide accumulator. */
export function wideSum(a: usize, b: usize, n: i32, step: usize, quantum: i32, mode: i32): void {
  for (let i = 0; i < n; i++) {
    const x = load<u32>(a);
    const y = load<u32>(b);
    const lsb = load<i32>(a, 4) + load<i32>(b, 4) - productBits;
    wideTerm(i32(x ^ y) < 0, u64(x & MAGNITUDE) * u64(y & MAGNITUDE), lsb, quantum, mode);
    a += step;
    b += step;
  }
}

/** Adds one value, cut to 2^quantum. */
export function wideTerm(negative: bool, mag: u64, lsb: i32, quantum: i32, mode: i32): void {
  if (mag === 0) return;
  if (lsb >= quantum) wide.add(negative, mag, lsb);
  else wide.add(negative, cut(mag, quantum - lsb, negative, mode), quantum);
}

