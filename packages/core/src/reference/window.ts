import type { Rounding, Window } from '../datapath/datapath.js';
import type { Element } from '../formats/element.js';
import { cutBig, cutSmall } from './cut.js';
import type { Terms } from './terms.js';
import type { Stage, TermTrace } from './trace.js';

/**
 * Whether a window's sum fits 53 bits. A product is below 4 * 2^e with e <= E, so each aligned term is at most
 * 2^(F+2) quanta; N products and c add ceil(log2(N+1)) bits. The significands' product must fit as well.
 */
export const sumFitsNumber = (
  window: { block: number; fraction: number },
  significandBits: number,
): boolean => significandBits <= 53 && window.fraction + 2 + Math.ceil(Math.log2(window.block + 1)) <= 53;

/**
 * Sum in quanta 2^quantum of the products at `positions`, each cut on its own; a number where `small`.
 * Zero products add nothing.
 */
export function sumProducts(
  { a, b }: Terms,
  positions: readonly number[],
  quantum: number,
  rounding: Rounding,
  small: boolean,
): number | bigint {
  if (small) {
    let sum = 0;
    for (const k of positions) {
      const x = a[k];
      const y = b[k];
      sum += cutSmall(x.signed * y.signed, x.lsb + y.lsb - quantum, rounding);
    }
    return sum;
  }
  let sum = 0n;
  for (const k of positions) {
    const x = a[k];
    const y = b[k];
    sum += cutBig(BigInt(x.signed) * BigInt(y.signed), x.lsb + y.lsb - quantum, rounding);
  }
  return sum;
}

/** The trace of a window over products and, where given, an addend. */
export function windowStage(
  name: Extract<Stage, { stage: 'window' }>['name'],
  window: Pick<Window, 'alignment' | 'floor'>,
  { a, b }: Terms,
  positions: readonly number[],
  addend: Element | null,
  exponent: number | null,
  quantum: number,
): Stage {
  const terms: TermTrace[] = [];
  const push = (term: TermTrace['term'], signed: bigint, lsb: number, e: number) => {
    const kept = cutBig(signed, lsb - quantum, window.alignment);
    const exact = lsb >= quantum || kept << BigInt(quantum - lsb) === signed;
    terms.push({ term, value: { signed, lsb }, exponent: e, quantum, kept, exact });
  };
  for (const k of positions) {
    const x = a[k];
    const y = b[k];
    if (x.sig !== 0 && y.sig !== 0) push(k, BigInt(x.signed) * BigInt(y.signed), x.lsb + y.lsb, x.e + y.e);
  }
  if (addend !== null && addend.sig !== 0) push('c', BigInt(addend.signed), addend.lsb, addend.e);
  return {
    stage: 'window',
    name,
    exponent,
    floorActive:
      window.floor !== null && exponent === window.floor && terms.every((t) => t.exponent < exponent),
    quantum,
    rounding: window.alignment,
    terms,
    sum: { signed: terms.reduce((sum, t) => sum + t.kept, 0n), lsb: quantum },
  };
}
