// The outputs' words between the host and the kernels.
import { nan } from '../params';

/** fp16 words to the fp32 words of their values; Inf and NaN become fp32's. */
export function widen(words: usize, count: i32): void {
  for (let i = 0; i < count; i++) {
    const at = words + (<usize>i << 2);
    const word = load<u32>(at);
    const m = word & 0x7fff;
    const power = reinterpret<f32>((112 + 127) << 23);
    const value = reinterpret<u32>(reinterpret<f32>(m << 13) * power);
    store<u32>(at, ((word & 0x8000) << 16) | (m >= 0x7c00 ? 0x7f800000 | (m << 13) : value));
  }
}

/** fp32 words of fp16 values to fp16 words; any NaN to the op's. */
export function narrow(words: usize, count: i32): void {
  for (let i = 0; i < count; i++) {
    const at = words + (<usize>i << 2);
    const word = load<u32>(at);
    const m = word & 0x7fffffff;
    const power = reinterpret<f32>((127 - 112) << 23);
    const bits = reinterpret<u32>(reinterpret<f32>(m) * power) >> 13;
    store<u32>(at, ((word >> 16) & 0x8000) | (m === 0x7f800000 ? 0x7c00 : bits));
    if (m > 0x7f800000) store<u32>(at, <u32>nan);
  }
}

/** fp32 NaN of any kind to the op's. */
export function unifyNaN(words: usize, count: i32): void {
  for (let i = 0; i < count; i++) {
    const at = words + (<usize>i << 2);
    if ((load<u32>(at) & 0x7fffffff) > 0x7f800000) store<u32>(at, <u32>nan);
  }
}

/**
 * Marks the addends that a kernel does not take: NaN, Inf, and nonzero ones whose magnitude is below the word `least`.
 * A byte an output at `marks`; returns how many.
 */
export function markAddends(words: usize, count: i32, least: u32, marks: usize): i32 {
  let found = 0;
  for (let i = 0; i < count; i++) {
    const m = load<u32>(words + (<usize>i << 2)) & 0x7fffffff;
    const mark = m >= 0x7f800000 || (m !== 0 && m < least);
    store<u8>(marks + <usize>i, mark);
    found += <i32>mark;
  }
  return found;
}
