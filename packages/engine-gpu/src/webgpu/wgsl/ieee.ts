import type { Rounding } from '@bitmma/core';
import { layoutOf, roundFunction } from './round.js';

const hex = (value: number): string => `0x${value.toString(16)}u`;

export interface IeeeRule {
  readonly format: 'fp16' | 'fp32' | 'fp64';
  readonly rounding: Rounding;
  readonly flushResults: boolean;
}

/**
 * `fn NAMEAdd(x, y)`: one IEEE addition of two words. The operand with the larger exponent has its significand at bit
 * 61; the other is shifted right with its lost bits jammed into bit 0. Bits are lost only for exponents more than 38
 * apart, where the leading bit falls by at most one: the jammed bit stays below every rounding position.
 */
export function addFunctions(name: string, rule: IeeeRule): string {
  const { fraction, infinity, sign } = layoutOf(rule.format);
  const up = 61 - fraction;
  const zeroSum = rule.rounding === 'RD' ? `${hex(sign)}` : '0u';
  return `${roundFunction(`${name}Round`, { ...rule, precision: fraction, underflow: 'signed' })}
const ${name}Zero = ${zeroSum};
fn ${name}Flush(w: u32) -> u32 {
  ${rule.flushResults ? `if ((w & ${hex(sign - 1)}) < ${hex(2 ** fraction)}) { return w & ${hex(sign)}; }` : ''}
  return w;
}
fn ${name}Add(x: u32, y: u32) -> u32 {
  let mx = x & ${hex(sign - 1)};
  let my = y & ${hex(sign - 1)};
  if (mx >= ${hex(infinity)} || my >= ${hex(infinity)}) {
    if (mx > ${hex(infinity)} || my > ${hex(infinity)} || (mx == my && x != y)) { return WORD_NAN; }
    return select(y, x, mx == ${hex(infinity)});
  }
  if (mx == 0u && my == 0u) {
    return select(${name}Zero, x, x == y);
  }
  var ex = wordExponent(x);
  var ey = wordExponent(y);
  let e = max(ex, ey);
  let a = jam64(shl64(vec2u(wordSig(x), 0u), ${up}u), u32(e - ex));
  let b = jam64(shl64(vec2u(wordSig(y), 0u), ${up}u), u32(e - ey));
  var m: vec2u;
  var negative = wordNegative(x);
  if (wordNegative(x) == wordNegative(y)) {
    m = add64(a, b);
  } else if (less64(a, b)) {
    m = add64(b, neg64(a));
    negative = !negative;
  } else {
    m = add64(a, neg64(b));
    if (isZero64(m)) { return ${name}Zero; }
  }
  return ${name}Flush(${name}Round(negative, m, e - 61));
}
`;
}

/** `fn NAMEMul(x, y)`: one product of two fp32 words whose significands have at most 16 significant bits together 32. */
export function mulFunction(name: string): string {
  return `fn ${name}Mul(x: u32, y: u32) -> u32 {
  let mx = x & 0x7fffffffu;
  let my = y & 0x7fffffffu;
  let signBit = (x ^ y) & 0x80000000u;
  if (mx >= 0x7f800000u || my >= 0x7f800000u) {
    if (mx > 0x7f800000u || my > 0x7f800000u || mx == 0u || my == 0u) { return WORD_NAN; }
    return 0x7f800000u | signBit;
  }
  let m = mulWide(wordSig(x), wordSig(y));
  if (isZero64(m)) { return signBit; }
  return ${name}Flush(${name}Round(signBit != 0u, m, wordExponent(x) + wordExponent(y) - 46));
}
`;
}

/**
 * `fn NAMEFma(x, y, c)`: one fused multiply-add of fp32 words. Product (48 bits) and addend (24 bits) are brought to
 * bit 62 each, the one with the smaller exponent shifted right and jammed. Product bits are lost only beyond a shift of 15, addend bits beyond 38: the
 * leading bit then falls by at most one, and the jammed bit stays below the rounding position at bit 38.
 */
export function fmaFunction(name: string): string {
  return `fn ${name}Fma(x: u32, y: u32, c: u32) -> u32 {
  let mx = x & 0x7fffffffu;
  let my = y & 0x7fffffffu;
  let mc = c & 0x7fffffffu;
  let signBit = (x ^ y) & 0x80000000u;
  if (mx > 0x7f800000u || my > 0x7f800000u || mc > 0x7f800000u) { return WORD_NAN; }
  if (mx == 0x7f800000u || my == 0x7f800000u) {
    if (mx == 0u || my == 0u || (mc == 0x7f800000u && ((c & 0x80000000u) != signBit))) { return WORD_NAN; }
    return 0x7f800000u | signBit;
  }
  if (mc == 0x7f800000u) { return c; }
  if (mx == 0u || my == 0u) {
    if (mc == 0u) { return select(${name}Zero, c, c == signBit); }
    return ${name}Flush(c);
  }
  let p = mulWide(wordSig(x), wordSig(y));
  let ep = wordExponent(x) + wordExponent(y) - 46;
  let lp = lead64(p);
  if (mc == 0u) { return ${name}Flush(${name}Round(signBit != 0u, p, ep)); }
  let sc = wordSig(c);
  let ec = wordExponent(c) - 23;
  let lc = 31 - i32(countLeadingZeros(sc));
  let top = max(lp + ep, lc + ec);
  let a = jam64(shl64(p, u32(61 - lp)), u32(top - (lp + ep)));
  let b = jam64(shl64(vec2u(sc, 0u), u32(61 - lc)), u32(top - (lc + ec)));
  let negativeC = wordNegative(c);
  var negative = signBit != 0u;
  var m: vec2u;
  if (negative == negativeC) {
    m = add64(a, b);
  } else if (less64(a, b)) {
    m = add64(b, neg64(a));
    negative = negativeC;
  } else {
    m = add64(a, neg64(b));
    if (isZero64(m)) { return ${name}Zero; }
  }
  return ${name}Flush(${name}Round(negative, m, top - 61));
}
`;
}
