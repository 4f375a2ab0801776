import * as addend from '../number/addend';
import { cut } from '../number/cut';
import { round } from '../number/round';
import { FINITE, special, specialWord } from '../number/special';
import { maxExponent, minLsb, wideSum, wideTerm, windowSum } from '../number/terms';
import * as wide from '../number/wide';
import { fraction, instruction, NONE, narrow, RZ } from '../params';

/** mxf8f6f4 (numerics section 6), one instruction; the scales are folded into the packed elements. */
function step(a: usize, b: usize, word: u64): u64 {
  const found = special(a, b, instruction);
  if (found !== FINITE) return specialWord(found);
  let e = maxExponent(a, b, instruction, 8);
  if (e === NONE) return word;
  const zero = addend.sig === 0;
  if (!zero && addend.e > e) e = addend.e;
  const quantum = e - fraction;
  const cLsb = addend.e - addend.bits;
  if (narrow !== 0) {
    let sum = windowSum(a, b, instruction, 8, e, fraction, RZ);
    if (!zero) {
      const kept = i64(cut(addend.sig, quantum - cLsb, false, RZ));
      sum += addend.negative ? -kept : kept;
    }
    return round(sum < 0, u64(sum < 0 ? -sum : sum), quantum, false);
  }
  const low = minLsb(a, b, instruction, 8, zero ? i32.MAX_VALUE : cLsb);
  wide.open(max(low, quantum), max(e + 4, quantum + 1) + 32);
  wide.select(false);
  wideSum(a, b, instruction, 8, quantum, RZ);
  if (!zero) wideTerm(addend.negative, addend.sig, cLsb, quantum, RZ);
  return wide.roundWide();
}

export function scaledWindow(a: usize, b: usize, k: i32, word: u64): u64 {
  for (let i = 0; i < k; i += instruction) {
    const at = usize(i) << 3;
    addend.take(word);
    word = step(a + at, b + at, word);
  }
  return word;
}
