import type { Element } from '../formats/element.js';

/** The operands of one dot product, decoded; scales hold one element per scale block of k positions. */
export interface Terms {
  readonly a: readonly Element[];
  readonly b: readonly Element[];
  readonly scaleA?: readonly Element[];
  readonly scaleB?: readonly Element[];
}

export const POSITIVE_ZERO: Element = Object.freeze({
  kind: 'finite',
  negative: false,
  sig: 0,
  signed: 0,
  lsb: 0,
  e: 0,
});

/** A special value decided before any finite arithmetic, and the rule that decided it. */
export interface Special {
  readonly result: 'nan' | 'inf' | '-inf';
  readonly reason: string;
}

const NAN_OPERAND: Special = { result: 'nan', reason: 'a NaN operand' };
const INF_TIMES_ZERO: Special = { result: 'nan', reason: 'Inf times zero' };
const BOTH_SIGNS: Special = { result: 'nan', reason: 'infinities of both signs' };

/**
 * Numerics section 3 over the products of `positions` and the addend: null where all is finite.
 * `overflow`: a product with |p| >= 2^overflow counts as an infinity once no operand is one (numerics 4.5).
 */
export function findSpecial(
  { a, b }: Terms,
  positions: readonly number[],
  c: Element,
  overflow: number | null = null,
): Special | null {
  let plus = c.kind === 'inf' && !c.negative;
  let minus = c.kind === 'inf' && c.negative;
  if (c.kind === 'nan') return NAN_OPERAND;
  let zeroByInf = false;
  for (const k of positions) {
    const x = a[k];
    const y = b[k];
    if (x.kind === 'finite' && y.kind === 'finite') continue;
    if (x.kind === 'nan' || y.kind === 'nan') return NAN_OPERAND;
    if ((x.kind === 'finite' && x.sig === 0) || (y.kind === 'finite' && y.sig === 0)) zeroByInf = true;
    if (x.negative === y.negative) plus = true;
    else minus = true;
  }
  if (zeroByInf) return INF_TIMES_ZERO;
  if (plus && minus) return BOTH_SIGNS;
  if (plus || minus) return { result: plus ? 'inf' : '-inf', reason: 'an infinite term' };
  return overflow === null ? null : findOverflow({ a, b }, positions, overflow);
}

function findOverflow({ a, b }: Terms, positions: readonly number[], overflow: number): Special | null {
  let plus = false;
  let minus = false;
  for (const k of positions) {
    const x = a[k];
    const y = b[k];
    // |p| < 2^(eA + eB + 2): most products need no exact comparison.
    if (x.e + y.e + 2 <= overflow || x.sig === 0 || y.sig === 0) continue;
    const sig = BigInt(x.sig) * BigInt(y.sig);
    if (sig.toString(2).length - 1 + x.lsb + y.lsb < overflow) continue;
    if (x.negative === y.negative) plus = true;
    else minus = true;
  }
  if (plus && minus) return { result: 'nan', reason: 'products of both signs overflow' };
  if (plus || minus) return { result: plus ? 'inf' : '-inf', reason: 'a product overflows' };
  return null;
}

/** The largest product exponent over the nonzero products; -Infinity where there is none. */
export function maxProductExponent({ a, b }: Terms, positions: readonly number[]): number {
  let max = -Infinity;
  for (const k of positions) {
    const x = a[k];
    const y = b[k];
    if (x.sig !== 0 && y.sig !== 0 && x.e + y.e > max) max = x.e + y.e;
  }
  return max;
}
