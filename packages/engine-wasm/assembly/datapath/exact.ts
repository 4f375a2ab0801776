import * as addend from '../number/addend';
import { LIMIT, MAGNITUDE } from '../number/element';
import { round } from '../number/round';
import { FINITE, special, specialWord } from '../number/special';
import { wideSum, wideTerm } from '../number/terms';
import * as wide from '../number/wide';
import { block, instruction, NONE, productBits, RZ } from '../params';

/** Bits that a sum of the terms needs above the largest exponent: 2 for a product, 5 for up to 31 of them. */
const HEADROOM: i32 = 7;

/** Numerics 4.3, one block step: in 62 bits where the terms' exponents lie close enough, in limbs elsewhere. */
function step(a: usize, b: usize, n: i32): u64 {
  const found = special(a, b, n);
  if (found !== FINITE) return specialWord(found);
  const zero = addend.sig === 0;
  const cLsb = addend.e - addend.bits;
  let low = zero ? i32.MAX_VALUE : cLsb;
  let high = zero ? NONE : addend.e;
  for (let i = 0; i < n; i++) {
    const e = load<i32>(a + (usize(i) << 3), 4) + load<i32>(b + (usize(i) << 3), 4);
    if (e <= -LIMIT) continue;
    low = min(low, e - productBits);
    high = max(high, e);
  }
  if (high === NONE) return 0;
  if (n < 32 && high - low <= 62 - HEADROOM) {
    let sum: i64 = 0;
    for (let i = 0; i < n; i++) {
      const x = load<u32>(a + (usize(i) << 3));
      const y = load<u32>(b + (usize(i) << 3));
      const e = load<i32>(a + (usize(i) << 3), 4) + load<i32>(b + (usize(i) << 3), 4);
      const term = i64((u64(x & MAGNITUDE) * u64(y & MAGNITUDE)) << u64((e - productBits - low) & 63));
      sum += i32(x ^ y) < 0 ? -term : term;
    }
    if (!zero) {
      const term = i64(addend.sig << u64(cLsb - low));
      sum += addend.negative ? -term : term;
    }
    return round(sum < 0, u64(sum < 0 ? -sum : sum), low, false);
  }
  wide.open(low, high + 40);
  wide.select(false);
  wideSum(a, b, n, 8, low, RZ);
  if (!zero) wideTerm(addend.negative, addend.sig, cLsb, low, RZ);
  return wide.roundWide();
}

export function exact(a: usize, b: usize, k: i32, word: u64): u64 {
  for (let i = 0; i < k; i += instruction) {
    for (let j = 0; j < instruction; j += block) {
      const at = usize(i + j) << 3;
      addend.take(word);
      word = step(a + at, b + at, min(block, instruction - j));
    }
  }
  return word;
}
