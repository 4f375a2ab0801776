import { block, fraction, precision } from '../params';
import { byteExponents } from './exponents';
import { roundHalf } from './finish-i32';
import { codeBias, halfOutput } from './params';
import { windowExponent } from './window-exponent';

/** The exact sum to the output: p fraction bits kept, or fp16. */
// @ts-ignore: decorator
@inline
function rounded(sum: v128, mask: v128): v128 {
  return halfOutput !== 0 ? roundHalf(sum) : v128.and(sum, mask);
}

/**
 * fused-window of narrow formats whose window sums stay below 2^24 quanta: products, their scaling by 2^(F-E) and the
 * sum of their truncations are all exact in fp32. One row against 16 columns, k positions, c and d as 16 fp32 words.
 */
export function rowF32(a: usize, aCodes: usize, b: usize, bCodes: usize, k: i32, c: usize): void {
  const n = block;
  const mask = i32x4.splat(-1 << (23 - precision));
  // Exponents are product codes, E + codeBias; 127 is fp32's bias.
  const scale = i32x4.splat(127 + fraction + codeBias);
  const unscale = i32x4.splat(127 - fraction - codeBias);
  let c0 = v128.load(c);
  let c1 = v128.load(c, 16);
  let c2 = v128.load(c, 32);
  let c3 = v128.load(c, 48);
  for (let i = 0; i < k; i += n) {
    const codes = byteExponents(aCodes, bCodes, n);
    aCodes += n;
    bCodes += n << 4;
    const low = i16x8.extend_low_i8x16_u(codes);
    const high = i16x8.extend_high_i8x16_u(codes);
    const e0 = windowExponent(i32x4.extend_low_i16x8_u(low), c0);
    const e1 = windowExponent(i32x4.extend_high_i16x8_u(low), c1);
    const e2 = windowExponent(i32x4.extend_low_i16x8_u(high), c2);
    const e3 = windowExponent(i32x4.extend_high_i16x8_u(high), c3);
    const s0 = i32x4.shl(i32x4.sub(scale, e0), 23);
    const s1 = i32x4.shl(i32x4.sub(scale, e1), 23);
    const s2 = i32x4.shl(i32x4.sub(scale, e2), 23);
    const s3 = i32x4.shl(i32x4.sub(scale, e3), 23);
    let t0 = f32x4.splat(0);
    let t1 = f32x4.splat(0);
    let t2 = f32x4.splat(0);
    let t3 = f32x4.splat(0);
    for (let j = 0; j < n; j += 2) {
      const x = v128.load32_splat(a);
      t0 = f32x4.add(t0, f32x4.trunc(f32x4.mul(f32x4.mul(x, v128.load(b)), s0)));
      t1 = f32x4.add(t1, f32x4.trunc(f32x4.mul(f32x4.mul(x, v128.load(b, 16)), s1)));
      t2 = f32x4.add(t2, f32x4.trunc(f32x4.mul(f32x4.mul(x, v128.load(b, 32)), s2)));
      t3 = f32x4.add(t3, f32x4.trunc(f32x4.mul(f32x4.mul(x, v128.load(b, 48)), s3)));
      const y = v128.load32_splat(a, 4);
      t0 = f32x4.add(t0, f32x4.trunc(f32x4.mul(f32x4.mul(y, v128.load(b, 64)), s0)));
      t1 = f32x4.add(t1, f32x4.trunc(f32x4.mul(f32x4.mul(y, v128.load(b, 80)), s1)));
      t2 = f32x4.add(t2, f32x4.trunc(f32x4.mul(f32x4.mul(y, v128.load(b, 96)), s2)));
      t3 = f32x4.add(t3, f32x4.trunc(f32x4.mul(f32x4.mul(y, v128.load(b, 112)), s3)));
      a += 8;
      b += 128;
    }
    t0 = f32x4.add(t0, f32x4.trunc(f32x4.mul(c0, s0)));
    t1 = f32x4.add(t1, f32x4.trunc(f32x4.mul(c1, s1)));
    t2 = f32x4.add(t2, f32x4.trunc(f32x4.mul(c2, s2)));
    t3 = f32x4.add(t3, f32x4.trunc(f32x4.mul(c3, s3)));
    c0 = rounded(f32x4.mul(t0, i32x4.shl(i32x4.add(unscale, e0), 23)), mask);
    c1 = rounded(f32x4.mul(t1, i32x4.shl(i32x4.add(unscale, e1), 23)), mask);
    c2 = rounded(f32x4.mul(t2, i32x4.shl(i32x4.add(unscale, e2), 23)), mask);
    c3 = rounded(f32x4.mul(t3, i32x4.shl(i32x4.add(unscale, e3), 23)), mask);
  }
  v128.store(c, c0);
  v128.store(c, c1, 16);
  v128.store(c, c2, 32);
  v128.store(c, c3, 48);
}
