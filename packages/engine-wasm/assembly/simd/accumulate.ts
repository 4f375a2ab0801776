import { SCALES } from './scratch';

// @ts-ignore: decorator
@inline
function term(sum: v128, x: v128, y: v128, scale: v128): v128 {
  return i32x4.add(sum, i32x4.trunc_sat_f32x4_s(f32x4.mul(f32x4.mul(x, y), scale)));
}

/** Stores the sums over n positions of a * b * SCALES, each truncated, as i32 at `sums`; n is even. */
// @ts-ignore: decorator
@inline
export function accumulate(a: usize, b: usize, n: i32, sums: usize): void {
  const s0 = v128.load(SCALES);
  const s1 = v128.load(SCALES, 16);
  const s2 = v128.load(SCALES, 32);
  const s3 = v128.load(SCALES, 48);
  let t0 = i32x4.splat(0);
  let t1 = i32x4.splat(0);
  let t2 = i32x4.splat(0);
  let t3 = i32x4.splat(0);
  for (let j = 0; j < n; j += 2) {
    const x = v128.load32_splat(a);
    t0 = term(t0, x, v128.load(b), s0);
    t1 = term(t1, x, v128.load(b, 16), s1);
    t2 = term(t2, x, v128.load(b, 32), s2);
    t3 = term(t3, x, v128.load(b, 48), s3);
    const y = v128.load32_splat(a, 4);
    t0 = term(t0, y, v128.load(b, 64), s0);
    t1 = term(t1, y, v128.load(b, 80), s1);
    t2 = term(t2, y, v128.load(b, 96), s2);
    t3 = term(t3, y, v128.load(b, 112), s3);
    a += 8;
    b += 128;
  }
  v128.store(sums, t0);
  v128.store(sums, t1, 16);
  v128.store(sums, t2, 32);
  v128.store(sums, t3, 48);
}
