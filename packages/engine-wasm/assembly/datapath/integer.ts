import { instruction, saturate } from '../params';

/** Numerics 4.8; elements are i16 values. K * 2^16 + 2^31 of one instruction fits i64 whatever K. */
export function integer(a: usize, b: usize, k: i32, word: u64): u64 {
  let sum: i64 = i32(word);
  for (let i = 0; i < k; i += instruction) {
    for (let j = 0; j < instruction; j++) {
      const at = usize(i + j) << 1;
      sum += load<i16>(a + at) * load<i16>(b + at);
    }
    if (saturate !== 0) sum = max(min(sum, i64(i32.MAX_VALUE)), i64(i32.MIN_VALUE));
    else sum = i64(i32(sum));
  }
  return u64(u32(sum));
}
