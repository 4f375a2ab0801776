// A packed element is 8 bytes: u32 sign (bit 31) and significand, i32 encoded exponent e. lsb = e - fraction bits.

/** Exponents of elements that are no nonzero number; sums with a real exponent stay outside +-LIMIT. */
export const ZERO: i32 = -0x100000;
/** A position that sparse metadata leaves out: absent from everything, special values included. */
export const ABSENT: i32 = -0x1000000;
export const INFINITE: i32 = 0x100000;
export const NOT_A_NUMBER: i32 = 0x400000;
export const LIMIT: i32 = 0x80000;

export const SIGN: u32 = 0x80000000;
export const MAGNITUDE: u32 = 0x7fffffff;

// Special codes of a format, as the host numbers them.
const IEEE: i32 = 0;
const NAN_ONLY: i32 = 1;
const FNUZ: i32 = 2;

/** e and significand of the last decode(). */
export let e: i32 = 0;
export let sig: u32 = 0;

/** Decodes a word of up to 32 bits whose dropped low bits are already shifted out. */
export function decode(word: u32, exponentBits: i32, fractionBits: i32, bias: i32, specials: i32): void {
  const m = word & ((1 << fractionBits) - 1);
  const x = (word >> fractionBits) & ((1 << exponentBits) - 1);
  const sign = (word >> (fractionBits + exponentBits)) << 31;
  const top = (1 << exponentBits) - 1;
  sig = sign | m;
  if (specials === IEEE && x === top) {
    e = m === 0 ? INFINITE : NOT_A_NUMBER;
    return;
  }
  if (
    (specials === NAN_ONLY && x === top && m === u32((1 << fractionBits) - 1)) ||
    (specials === FNUZ && sign !== 0 && x === 0 && m === 0)
  ) {
    e = NOT_A_NUMBER;
    return;
  }
  if (x !== 0) {
    sig |= 1 << fractionBits;
    e = x - bias;
  } else e = m === 0 ? ZERO : 1 - bias;
}

/** Makes the element just decoded a zero of its sign. */
export function zero(): void {
  sig &= SIGN;
  e = ZERO;
}
