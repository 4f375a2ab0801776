// late-window and split-window: fused-window steps from +0, then c as one IEEE addition. One row against 16 columns.
import { block } from '../params';
import { roundHalf } from './finish-i32';
import { halfOutput, lateSpan } from './params';
import { HELD } from './scratch';
import { stepI32 } from './window-i32';

/**
 * x + y to nearest. fp16 values: fp32 keeps 24 >= 2 * 11 + 2 bits of their sum, so that rounding it again is harmless;
 * Inf and NaN pass.
 */
// @ts-ignore: decorator
@inline
function sum(x: v128, y: v128): v128 {
  const s = f32x4.add(x, y);
  if (halfOutput === 0) return s;
  const special = i32x4.ge_u(v128.and(s, i32x4.splat(0x7fffffff)), i32x4.splat(0x7f800000));
  return v128.bitselect(s, roundHalf(s), special);
}

/** `lateSpan`: positions between two additions of c, a block (numerics 4.2) or an instruction (section 7). */
export function rowLate(a: usize, aCodes: usize, b: usize, bCodes: usize, k: i32, c: usize): void {
  const n = block;
  const span = lateSpan;
  for (let i = 0; i < k; i += span) {
    for (let at: usize = 0; at < 64; at += 16) {
      v128.store(HELD + at, v128.load(c + at));
      v128.store(c + at, i32x4.splat(0));
    }
    for (let j = 0; j < span; j += n) {
      stepI32(a, aCodes, b, bCodes, n, c);
      aCodes += n;
      bCodes += n << 4;
      a += n << 2;
      b += n << 6;
    }
    for (let at: usize = 0; at < 64; at += 16)
      v128.store(c + at, sum(v128.load(c + at), v128.load(HELD + at)));
  }
}
