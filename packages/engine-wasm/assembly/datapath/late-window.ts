import * as addend from '../number/addend';
import * as ieee from '../number/ieee';
import { addition, block, instruction, NONE, outFractionBits } from '../params';
import { fusedStep } from './fused-window';

/** The window sum s as a word plus the chain's c, one IEEE addition at the format's own precision. */
export function addLate(sum: u64, word: u64): u64 {
  addend.take(sum);
  const negative = addend.negative;
  const sig = addend.sig;
  const e = addend.e;
  const lsb = e - addend.bits;
  addend.take(word);
  return ieee.addTaken(negative, sig, e, lsb, addition, outFractionBits);
}

/** Numerics 4.2. */
export function lateWindow(a: usize, b: usize, k: i32, word: u64): u64 {
  for (let i = 0; i < k; i += instruction) {
    for (let j = 0; j < instruction; j += block) {
      const at = usize(i + j) << 3;
      addend.takeZero();
      const sum = fusedStep(a + at, b + at, min(block, instruction - j), NONE, NONE);
      word = addLate(sum, word);
    }
  }
  return word;
}
