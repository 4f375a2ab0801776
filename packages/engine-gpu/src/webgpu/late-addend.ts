import type { LateAddend, Output } from '@bitmma/core';
import { CODE_BIAS } from './wgsl/decode.js';
import { layoutOf, roundFunction } from './wgsl/round.js';
import { scaleFunction } from './wgsl/wide.js';

/**
 * `lateAddend(low, high, p, present, classes, c)`: CDNA3's addition of c to the products' sum, a multiple of
 * 2^(E - fraction), E = p - 2 * CODE_BIAS (numerics 4.5). Both branches end in one rounding.
 */
export function lateAddendFunctions(rule: LateAddend, fraction: number, output: Output): string {
  const { emin } = layoutOf(output.format);
  const reach =
    rule.addendReach === null ? '' : `if (e - ec > ${rule.addendReach}) { addend = vec2u(0u, 0u); }`;
  const normal =
    rule.normalFraction === null
      ? ''
      : `let n = max(lead64(magnitude64(a)) + q, ${emin});
    let excess = n - ${rule.normalFraction} - q;
    if (excess > 0) { a = cutNormal(a, -excess); q += excess; }`;
  return `${scaleFunction('cutAddend', rule.addendRounding)}${scaleFunction('cutSum', rule.sumRounding)}
${rule.normalFraction === null ? '' : scaleFunction('cutNormal', rule.normalRounding)}
${roundFunction('roundOutput', output)}
fn lateAddend(low: u32, high: u32, p: u32, present: u32, classes: u32, c: u32) -> u32 {
  let sum = vec2u(low, high);
  let products = present != 0u;
  let all = withAddend(classes, c);
  if (all != 0u) { return specialWord(all); }
  let e = i32(p) - ${2 * CODE_BIAS};
  let ec = select(wordExponent(c), ${rule.zeroAddendExponent}, wordZero(c));
  var a: vec2u;
  var q: i32;
  if (!products || e < ec) {
    q = ec - ${rule.sumFraction};
    a = add64(select(vec2u(0u, 0u), cutSum(sum, e - ${fraction} - q), products), cutSum(wordSigned(c), ec - WORD_FRACTION - q));
    if (isZero64(a)) { return 0u; }
    ${normal}
  } else {
    q = e - ${fraction};
    let qc = e - ${rule.addendFraction};
    var addend = cutAddend(wordSigned(c), ec - WORD_FRACTION - qc);
    ${reach}
    // On the finer grid of the two.
    a = add64(shl64(sum, ${Math.max(0, rule.addendFraction - fraction)}u), shl64(addend, ${Math.max(0, fraction - rule.addendFraction)}u));
    q = min(q, qc);
  }
  return roundOutput(negative64(a), magnitude64(a), q);
}
`;
}

/**
 * Bits that the two branches need. A sum of `terms` products below 2^(fraction + 2) each; in the first branch it lies
 * below the addend's exponent, so below terms * 4 * 2^sumFraction after the cut.
 */
export const lateAddendBits = (rule: LateAddend, fraction: number, terms: number): number =>
  Math.max(fraction, rule.sumFraction, rule.addendFraction) + 3 + Math.ceil(Math.log2(terms + 1)) + 1;
