import type { Output, Rounding } from '@bitmma/core';

/** Field widths of an output word; fp32 and fp16 are the outputs that a u32 holds. */
export interface WordLayout {
  readonly fraction: number;
  readonly emin: number;
  readonly infinity: number;
  readonly sign: number;
}

const LAYOUTS: Readonly<Record<'fp16' | 'fp32', WordLayout>> = {
  fp16: { fraction: 10, emin: -14, infinity: 0x7c00, sign: 0x8000 },
  fp32: { fraction: 23, emin: -126, infinity: 0x7f800000, sign: 0x80000000 },
};

export function layoutOf(format: Output['format']): WordLayout {
  if (format === 'fp64') throw new RangeError('expected an output of at most 32 bits, got fp64');
  return LAYOUTS[format];
}

const hex = (value: number): string => `0x${value.toString(16)}u`;

const INCREMENT: Readonly<Record<Rounding, string>> = {
  RZ: 'false',
  RNE: '((shr64(m, drop - 1u).x & 1u) == 1u) && (((sig & 1u) == 1u) || lowBits64(m, drop - 1u))',
  RU: '!negative && lowBits64(m, drop)',
  RD: 'negative && lowBits64(m, drop)',
};

export interface RoundRule {
  readonly format: Output['format'];
  readonly rounding: Rounding;
  readonly precision: number;
  readonly underflow: Output['underflow'];
}

/**
 * `fn NAME(negative, m, q)`: the word of (-1)^negative * m * 2^q, numerics section 2. The significand keeps
 * `precision` fraction bits below the leading bit, and none below 2^(emin - precision). With n the leading exponent,
 * at least emin, word = ((n - emin) << fraction) + significand: the hidden bit carries into the exponent field, and so
 * does a significand that rounds up to the next power of two, to Inf from the last one.
 */
export function roundFunction(name: string, rule: RoundRule): string {
  const { fraction, emin, infinity, sign } = layoutOf(rule.format);
  const spare = fraction - rule.precision;
  const tiny = rule.underflow === 'signed' ? `select(0u, ${hex(sign)}, negative)` : '0u';
  return `fn ${name}(negative: bool, m: vec2u, q: i32) -> u32 {
  if (isZero64(m)) { return 0u; }
  let signBit = select(0u, ${hex(sign)}, negative);
  let n = max(lead64(m) + q, ${emin});
  if (n > ${1 - emin}) { return ${hex(infinity)} | signBit; }
  let shift = n - ${rule.precision} - q;
  var sig: u32;
  if (shift <= 0) {
    sig = shl64(m, u32(-shift)).x;
  } else {
    let drop = u32(shift);
    sig = shr64(m, drop).x;
    if (${INCREMENT[rule.rounding]}) { sig += 1u; }
  }
  let word = (u32(n - ${emin}) << ${fraction}u) + (sig << ${spare}u);
  if (word == 0u) { return ${tiny}; }
  return word | signBit;
}
`;
}

const INCREMENT_SINGLE: Readonly<Record<Rounding, string>> = {
  RZ: 'false',
  RNE: 'rest > half || (rest == half && (sig & 1u) == 1u)',
  RU: '!negative && rest != 0u',
  RD: 'negative && rest != 0u',
};

/**
 * roundFunction over one limb: `fn NAME(negative, m, q)`, m a u32. A cut of 32 bits or more leaves m itself, which lies
 * below half of the last place unless the cut is exactly 32.
 */
export function roundSingleFunction(name: string, rule: RoundRule): string {
  const { fraction, emin, infinity, sign } = layoutOf(rule.format);
  const spare = fraction - rule.precision;
  const tiny = rule.underflow === 'signed' ? `select(0u, ${hex(sign)}, negative)` : '0u';
  return `fn ${name}(negative: bool, m: u32, q: i32) -> u32 {
  if (m == 0u) { return 0u; }
  let signBit = select(0u, ${hex(sign)}, negative);
  let n = max(31 - i32(countLeadingZeros(m)) + q, ${emin});
  if (n > ${1 - emin}) { return ${hex(infinity)} | signBit; }
  let shift = n - ${rule.precision} - q;
  var sig = m << u32(max(-shift, 0));
  if (shift > 0) {
    let drop = u32(min(shift, 33));
    sig = select(m >> (drop & 31u), 0u, drop > 31u);
    // rest and half in units that hold both: m itself beyond 31 bits, where half is 2^31 or more than any m.
    let rest = select(m & ((1u << (drop & 31u)) - 1u), m, drop > 31u);
    let half = select(1u << ((drop - 1u) & 31u), 0xffffffffu, drop > 32u);
    if (${INCREMENT_SINGLE[rule.rounding]}) { sig += 1u; }
  }
  let word = (u32(n - ${emin}) << ${fraction}u) + (sig << ${spare}u);
  if (word == 0u) { return ${tiny}; }
  return word | signBit;
}
`;
}

/** `decodeWord(w)` of the output format: sig and e of a finite word, and its class. */
export function wordFunctions(output: Output): string {
  const { fraction, emin, infinity, sign } = layoutOf(output.format);
  return `
const WORD_SIGN = ${hex(sign)};
const WORD_INF = ${hex(infinity)};
const WORD_NAN = 0x${output.nan}u;
const WORD_FRACTION = ${fraction};
fn wordMagnitude(w: u32) -> u32 { return w & ${hex(sign - 1)}; }
fn wordNegative(w: u32) -> bool { return (w & WORD_SIGN) != 0u; }
fn wordZero(w: u32) -> bool { return wordMagnitude(w) == 0u; }
fn wordSig(w: u32) -> u32 {
  let m = w & ${hex(2 ** fraction - 1)};
  return select(m, m | ${hex(2 ** fraction)}, wordMagnitude(w) > ${hex(2 ** fraction - 1)});
}
fn wordExponent(w: u32) -> i32 { return i32(max(wordMagnitude(w) >> ${fraction}u, 1u)) + ${emin - 1}; }
fn wordSigned(w: u32) -> vec2u {
  let sig = vec2u(wordSig(w), 0u);
  if (wordNegative(w)) { return neg64(sig); }
  return sig;
}
// Section 3 over the products' classes (1 NaN, 2 +Inf, 4 -Inf) and c: 0 where everything is finite.
fn withAddend(classes: u32, c: u32) -> u32 {
  let m = wordMagnitude(c);
  if (m < WORD_INF) { return classes; }
  if (m > WORD_INF) { return classes | 1u; }
  return classes | select(2u, 4u, wordNegative(c));
}
// Classes 8 and 16, products beyond the range, count only where the first three are clear.
fn specialWord(classes: u32) -> u32 {
  var k = classes & 7u;
  if (k == 0u) { k = classes >> 2u; }
  if ((k & 1u) != 0u || (k & 6u) == 6u) { return WORD_NAN; }
  return WORD_INF | select(0u, WORD_SIGN, (k & 4u) != 0u);
}
`;
}
