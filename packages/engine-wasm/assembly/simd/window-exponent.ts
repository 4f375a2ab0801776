import { biasedExponents } from './exponents';
import { codeBias, halfOutput, lowestExponent } from './params';

/** Smallest encoded exponent of fp16, which a subnormal c has. */
const HALF_EMIN: i32 = -14;

/** E as a product code: the larger of the products' and c's, not below lowestExponent. */
// @ts-ignore: decorator
@inline
export function windowExponent(products: v128, c: v128): v128 {
  let e = i32x4.max_s(products, i32x4.add(biasedExponents(c), i32x4.splat(codeBias - 127)));
  if (halfOutput !== 0) {
    const nonzero = i32x4.ne(i32x4.shl(c, 1), i32x4.splat(0));
    e = i32x4.max_s(e, v128.and(nonzero, i32x4.splat(codeBias + HALF_EMIN)));
  }
  return i32x4.max_s(e, i32x4.splat(codeBias + lowestExponent));
}
