import { outExponentBits, outFractionBits } from '../params';
import { INFINITE, NOT_A_NUMBER, ZERO } from './element';

// The addend of the last take(): value (-1)^negative * sig * 2^(e - bits), or a special e.
export let negative: bool = false;
export let sig: u64 = 0;
export let e: i32 = 0;
export let bits: i32 = 0;

function decode(word: u64, exponentBits: i32, fractionBits: i32): void {
  const m = word & ((u64(1) << u64(fractionBits)) - 1);
  const x = i32((word >> u64(fractionBits)) & ((u64(1) << u64(exponentBits)) - 1));
  const bias = (1 << (exponentBits - 1)) - 1;
  negative = ((word >> u64(fractionBits + exponentBits)) & 1) === 1;
  bits = fractionBits;
  sig = m;
  if (x === (1 << exponentBits) - 1) e = m === 0 ? INFINITE : NOT_A_NUMBER;
  else if (x !== 0) {
    sig |= u64(1) << u64(fractionBits);
    e = x - bias;
  } else e = m === 0 ? ZERO : 1 - bias;
}

/** Decodes a word of the output format, which c has too (the host widens m8n8k4's fp16 c first). */
export function take(word: u64): void {
  decode(word, outExponentBits, outFractionBits);
}

/** +0 as the addend. */
export function takeZero(): void {
  take(0);
}

/** A subnormal addend becomes zero of its sign. */
export function flushSubnormal(): void {
  if (sig >> u64(bits) === 0 && e < INFINITE) {
    sig = 0;
    e = ZERO;
  }
}
