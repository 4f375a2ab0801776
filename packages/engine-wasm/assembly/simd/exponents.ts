import { EXPONENTS } from './scratch';

/**
 * Largest product code of n terms in each of 16 columns: a's byte code plus b's, codes of zero below 64 and of all else
 * in 64..127, so that a product of nonzero factors has 128 or more. Other lanes become 0. n is a multiple of 4.
 */
// @ts-ignore: decorator
@inline
export function byteExponents(a: usize, b: usize, n: i32): v128 {
  let x = i8x16.splat(0);
  let y = i8x16.splat(0);
  for (let i = 0; i < n; i += 4) {
    x = i8x16.max_u(x, i8x16.add(v128.load8_splat(a), v128.load(b)));
    y = i8x16.max_u(y, i8x16.add(v128.load8_splat(a, 1), v128.load(b, 16)));
    x = i8x16.max_u(x, i8x16.add(v128.load8_splat(a, 2), v128.load(b, 32)));
    y = i8x16.max_u(y, i8x16.add(v128.load8_splat(a, 3), v128.load(b, 48)));
    a += 4;
    b += 64;
  }
  x = i8x16.max_u(x, y);
  return v128.and(x, i8x16.lt_s(x, i8x16.splat(0)));
}

/** Exponent of a lane without a nonzero product, from zero's 16-bit code -0x4000; real ones are above -300. */
export const NO_PRODUCT: i32 = -300;

/** Stores the largest product exponents of n terms, 16-bit codes, in EXPONENTS; NO_PRODUCT where there is none. */
// @ts-ignore: decorator
@inline
export function shortExponents(a: usize, b: usize, n: i32): void {
  const none = i16x8.splat(<i16>NO_PRODUCT);
  let x = none;
  let y = none;
  for (let i = 0; i < n; i += 2) {
    const first = v128.load16_splat(a);
    x = i16x8.max_s(x, i16x8.add(first, v128.load(b)));
    y = i16x8.max_s(y, i16x8.add(first, v128.load(b, 16)));
    const second = v128.load16_splat(a, 2);
    x = i16x8.max_s(x, i16x8.add(second, v128.load(b, 32)));
    y = i16x8.max_s(y, i16x8.add(second, v128.load(b, 48)));
    a += 4;
    b += 64;
  }
  v128.store(EXPONENTS, i32x4.extend_low_i16x8_s(x));
  v128.store(EXPONENTS, i32x4.extend_high_i16x8_s(x), 16);
  v128.store(EXPONENTS, i32x4.extend_low_i16x8_s(y), 32);
  v128.store(EXPONENTS, i32x4.extend_high_i16x8_s(y), 48);
}

/** fp32 biased exponents; 0 for zero. */
// @ts-ignore: decorator
@inline
export function biasedExponents(c: v128): v128 {
  return i32x4.shr_u(i32x4.shl(c, 1), 24);
}
