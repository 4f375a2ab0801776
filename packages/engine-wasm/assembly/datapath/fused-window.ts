import * as addend from '../number/addend';
import { cut } from '../number/cut';
import { round } from '../number/round';
import { FINITE, overflowSpecial, special, specialWord } from '../number/special';
import { maxExponent, minLsb, wideSum, wideTerm, windowSum } from '../number/terms';
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
  zeroAddendExponent,
} from '../params';

/** Numerics 4.1, one block step of n terms and the addend taken last. */
export function fusedStep(a: usize, b: usize, n: i32, zeroExponent: i32, overflow: i32): u64 {
  let found = special(a, b, n);
  if (found === FINITE && overflow !== NONE) found = overflowSpecial(a, b, n, overflow, productBits);
  if (found !== FINITE) return specialWord(found);
  let e = maxExponent(a, b, n, 8);
  const zero = addend.sig === 0;
  if (!zero && addend.e > e) e = addend.e;
  if (e === NONE) return 0;
  if (zero && zeroExponent > e) e = zeroExponent;
  if (floor > e) e = floor;
  const quantum = e - fraction;
  const cLsb = addend.e - addend.bits;
  if (narrow !== 0) {
    let sum = windowSum(a, b, n, 8, e, fraction, alignment);
    if (!zero) {
      const kept = i64(cut(addend.sig, quantum - cLsb, addend.negative, alignment));
      sum += addend.negative ? -kept : kept;
    }
    return round(sum < 0, u64(sum < 0 ? -sum : sum), quantum, false);
  }
  const low = minLsb(a, b, n, 8, zero ? i32.MAX_VALUE : cLsb);
  wide.open(max(low, quantum), max(e + 4, quantum + 1) + 32);
  wide.select(false);
  wideSum(a, b, n, 8, quantum, alignment);
  if (!zero) wideTerm(addend.negative, addend.sig, cLsb, quantum, alignment);
  return wide.roundWide();
}

export function fusedWindow(a: usize, b: usize, k: i32, word: u64): u64 {
  for (let i = 0; i < k; i += instruction) {
    for (let j = 0; j < instruction; j += block) {
      const at = usize(i + j) << 3;
      addend.take(word);
      word = fusedStep(a + at, b + at, min(block, instruction - j), zeroAddendExponent, productOverflow);
    }
  }
  return word;
}
