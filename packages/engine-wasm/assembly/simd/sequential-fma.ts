// sequential-fma in fp32 rounded RNE, by f64 sums rounded to odd. One row against 16 columns, two at a time.

/**
 * c + x * y of two lanes, c an fp32 value in f64. The product is exact; the f64 sum s and its error (2Sum) give the sum
 * rounded to odd: one less where s lies beyond the exact sum, then an odd last bit where s is inexact. Rounding that to
 * fp32 is rounding the exact sum, as 53 >= 24 + 2. The error of an infinite s is NaN and compares false.
 */
// @ts-ignore: decorator
@inline
function fused(c: v128, x: v128, y: v128): v128 {
  const p = f64x2.mul(x, y);
  const s = f64x2.add(p, c);
  const v = f64x2.sub(s, p);
  const error = f64x2.add(f64x2.sub(p, f64x2.sub(s, v)), f64x2.sub(c, v));
  // |error * s| is between 2^-700 and 2^470.
  const side = f64x2.mul(error, s);
  const beyond = f64x2.lt(side, f64x2.splat(0));
  const inexact = v128.or(beyond, f64x2.gt(side, f64x2.splat(0)));
  const odd = v128.or(i64x2.add(s, beyond), v128.and(inexact, i64x2.splat(1)));
  return f64x2.promote_low_f32x4(f32x4.demote_f64x2_zero(odd));
}

// @ts-ignore: decorator
@inline
function column(b: usize): v128 {
  return f64x2.promote_low_f32x4(v128.load64_zero(b));
}

export function rowFma(a: usize, b: usize, k: i32, c: usize): void {
  for (let at: usize = 0; at < 64; at += 32) {
    const from = c + at;
    let c0 = f64x2.promote_low_f32x4(v128.load64_zero(from));
    let c1 = f64x2.promote_low_f32x4(v128.load64_zero(from, 8));
    let c2 = f64x2.promote_low_f32x4(v128.load64_zero(from, 16));
    let c3 = f64x2.promote_low_f32x4(v128.load64_zero(from, 24));
    let x = a;
    let y = b + at;
    for (let i = 0; i < k; i++) {
      const left = f64x2.promote_low_f32x4(v128.load32_splat(x));
      c0 = fused(c0, left, column(y));
      c1 = fused(c1, left, column(y + 8));
      c2 = fused(c2, left, column(y + 16));
      c3 = fused(c3, left, column(y + 24));
      x += 4;
      y += 64;
    }
    // Each lane is an fp32 value: the conversions are exact.
    v128.store64_lane(from, f32x4.demote_f64x2_zero(c0), 0);
    v128.store64_lane(from, f32x4.demote_f64x2_zero(c1), 0, 8);
    v128.store64_lane(from, f32x4.demote_f64x2_zero(c2), 0, 16);
    v128.store64_lane(from, f32x4.demote_f64x2_zero(c3), 0, 24);
  }
}
