import * as addend from '../number/addend';
import { addLateAddend, addLateAddendWide, wideTop } from '../number/late-addend';
import { FINITE, overflowSpecial, special, specialWord } from '../number/special';
import { maxExponent, minLsb, wideSum, windowSum } from '../number/terms';
import * as wide from '../number/wide';
import {
  alignment,
  block,
  floor,
  fraction,
  instruction,
  NONE,
  narrow,
  productBits,
  productOverflow,
} from '../params';

/** Smallest lsb of the terms: no bit of the step lies below it. */
export function wideLow(a: usize, b: usize, n: i32): i32 {
  return minLsb(a, b, n, 8, addend.sig === 0 ? i32.MAX_VALUE : addend.e - addend.bits);
}

export function cdna3Step(a: usize, b: usize, n: i32): u64 {
  let found = special(a, b, n);
  if (found === FINITE && productOverflow !== NONE)
    found = overflowSpecial(a, b, n, productOverflow, productBits);
  if (found !== FINITE) return specialWord(found);
  let e = maxExponent(a, b, n, 8);
  if (e !== NONE && floor > e) e = floor;
  if (narrow !== 0) {
    if (e === NONE) return addLateAddend(0, 0, NONE);
    return addLateAddend(windowSum(a, b, n, 8, e, fraction, alignment), e - fraction, e);
  }
  if (e === NONE && addend.sig === 0) return 0;
  wide.open(wideLow(a, b, n), wideTop(e));
  wide.select(false);
  if (e !== NONE) wideSum(a, b, n, 8, e - fraction, alignment);
  return addLateAddendWide(e);
}

/** Numerics 4.5. */
export function cdna3Window(a: usize, b: usize, k: i32, word: u64): u64 {
  for (let i = 0; i < k; i += instruction) {
    for (let j = 0; j < instruction; j += block) {
      const at = usize(i + j) << 3;
      addend.take(word);
      word = cdna3Step(a + at, b + at, min(block, instruction - j));
    }
  }
  return word;
}
