import * as addend from '../number/addend';
import { block, firstHalf, instruction, NONE } from '../params';
import { fusedStep } from './fused-window';
import { addLate } from './late-window';

/** One half of an instruction in steps of `block`, from the word `sum`. */
function half(a: usize, b: usize, n: i32, sum: u64): u64 {
  for (let j = 0; j < n; j += block) {
    const at = usize(j) << 3;
    addend.take(sum);
    sum = fusedStep(a + at, b + at, min(block, n - j), NONE, NONE);
  }
  return sum;
}

/** Numerics section 7; operands are packed half by half. */
export function splitWindow(a: usize, b: usize, k: i32, word: u64): u64 {
  for (let i = 0; i < k; i += instruction) {
    const at = usize(i) << 3;
    const second = usize(i + firstHalf) << 3;
    const sum = half(a + at, b + at, firstHalf, 0);
    word = addLate(half(a + second, b + second, instruction - firstHalf, sum), word);
  }
  return word;
}
