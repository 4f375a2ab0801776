import type { MmaOp } from '../datapath/op.js';
import type { Element } from '../formats/element.js';
import type { Special, Terms } from './terms.js';
import { findSpecial } from './terms.js';
import type { Exact } from './trace.js';

/** A nonzero product a*b*scaleA*scaleB, its exponent and the exponent of its two scales. */
export interface ScaledProduct {
  readonly k: number;
  readonly value: Exact;
  readonly e: number;
  readonly scaleExponent: number;
}

/**
 * A NaN scale in any block the positions reach gives NaN, even over zero products; then numerics section 3.
 * Blocks past the end of the scales hold only padding.
 */
export function findScaledSpecial(
  op: MmaOp,
  terms: Terms,
  positions: readonly number[],
  c: Element,
): Special | null {
  for (const k of positions) {
    const block = Math.floor(k / op.scaling!.block);
    if (terms.scaleA![block]?.kind === 'nan' || terms.scaleB![block]?.kind === 'nan')
      return { result: 'nan', reason: 'a NaN scale' };
  }
  return findSpecial(terms, positions, c);
}

/** Every nonzero product of the positions, exact: significands, lsb and e each combined over the four factors. */
export function scaledProducts(op: MmaOp, terms: Terms, positions: readonly number[]): ScaledProduct[] {
  const products: ScaledProduct[] = [];
  for (const k of positions) {
    const x = terms.a[k];
    const y = terms.b[k];
    if (x.sig === 0 || y.sig === 0) continue;
    const block = Math.floor(k / op.scaling!.block);
    const sx = terms.scaleA![block];
    const sy = terms.scaleB![block];
    const signed = BigInt(x.signed * y.signed) * BigInt(sx.sig * sy.sig);
    if (signed === 0n) continue;
    products.push({
      k,
      value: { signed, lsb: x.lsb + y.lsb + sx.lsb + sy.lsb },
      e: x.e + y.e + sx.e + sy.e,
      scaleExponent: sx.e + sy.e,
    });
  }
  return products;
}

export const maxOf = (products: readonly ScaledProduct[], field: 'e' | 'scaleExponent'): number =>
  products.reduce((max, p) => Math.max(max, p[field]), -Infinity);
