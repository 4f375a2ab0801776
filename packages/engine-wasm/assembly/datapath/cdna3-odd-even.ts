import * as addend from '../number/addend';
import { cutSigned } from '../number/cut';
import { addLateAddend, addLateAddendWide, wideTop } from '../number/late-addend';
import { FINITE, overflowSpecial, special, specialWord } from '../number/special';
import { maxExponent, wideSum, windowSum } from '../number/terms';
import * as wide from '../number/wide';
import {
  alignment,
  block,
  floor,
  fraction,
  instruction,
  mergeFraction,
  mergeRounding,
  NONE,
  narrow,
  productBits,
  productOverflow,
} from '../params';
import { wideLow } from './cdna3-window';

/** A window's sum cut to 2^quantum, in units of 2^lsb. */
function merged(sum: i64, e: i32, quantum: i32, lsb: i32): i64 {
  if (e === NONE) return 0;
  const own = e - fraction;
  return own >= quantum
    ? sum << u64(own - lsb)
    : cutSigned(sum, quantum - own, mergeRounding) << u64(quantum - lsb);
}

function step(a: usize, b: usize, n: i32): u64 {
  let found = special(a, b, n);
  if (found === FINITE && productOverflow !== NONE)
    found = overflowSpecial(a, b, n, productOverflow, productBits);
  if (found !== FINITE) return specialWord(found);
  const evens = (n + 1) >> 1;
  const odds = n >> 1;
  let e0 = maxExponent(a, b, evens, 16);
  let e1 = maxExponent(a + 8, b + 8, odds, 16);
  if (e0 !== NONE && floor > e0) e0 = floor;
  if (e1 !== NONE && floor > e1) e1 = floor;
  const e = max(e0, e1);
  if (narrow !== 0) {
    if (e === NONE) return addLateAddend(0, 0, NONE);
    const quantum = e - mergeFraction;
    const least = max(min(e0 === NONE ? e1 : e0, e1 === NONE ? e0 : e1) - fraction, quantum);
    const s0 = e0 === NONE ? 0 : windowSum(a, b, evens, 16, e0, fraction, alignment);
    const s1 = e1 === NONE ? 0 : windowSum(a + 8, b + 8, odds, 16, e1, fraction, alignment);
    return addLateAddend(merged(s0, e0, quantum, least) + merged(s1, e1, quantum, least), least, e);
  }
  if (e === NONE && addend.sig === 0) return 0;
  const q0 = e0 - fraction;
  const q1 = e1 - fraction;
  wide.open(wideLow(a, b, n), max(wideTop(e), e - mergeFraction + 40));
  wide.select(true);
  if (e1 !== NONE) {
    wideSum(a + 8, b + 8, odds, 16, q1, alignment);
    wide.cutWide(e - mergeFraction, mergeRounding);
  }
  wide.select(false);
  if (e0 !== NONE) {
    wideSum(a, b, evens, 16, q0, alignment);
    wide.cutWide(e - mergeFraction, mergeRounding);
  }
  wide.merge();
  return addLateAddendWide(e);
}

/** Numerics 4.6. */
export function cdna3OddEven(a: usize, b: usize, k: i32, word: u64): u64 {
  for (let i = 0; i < k; i += instruction) {
    for (let j = 0; j < instruction; j += block) {
      const at = usize(i + j) << 3;
      addend.take(word);
      word = step(a + at, b + at, min(block, instruction - j));
    }
  }
  return word;
}
