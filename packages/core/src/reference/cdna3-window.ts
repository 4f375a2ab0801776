import type { Cdna3Window, Window } from '../datapath/datapath.js';
import { addCdna3Addend } from './cdna3-addend.js';
import type { BlockStep } from './family.js';
import { specialOutput } from './output.js';
import type { Terms } from './terms.js';
import { findSpecial, maxProductExponent } from './terms.js';
import type { Exact, Stage } from './trace.js';
import { sumFitsNumber, sumProducts, windowStage } from './window.js';

/** S = sum of products cut to F bits below their largest exponent; no nonzero product: exponent null, S = 0. */
export function productWindow(
  window: Window,
  terms: Terms,
  positions: readonly number[],
  significandBits: number,
  name: 'products' | 'even' | 'odd',
  stages?: Stage[],
): { sum: Exact; exponent: number | null } {
  let exponent = maxProductExponent(terms, positions);
  if (exponent === -Infinity) return { sum: { signed: 0n, lsb: 0 }, exponent: null };
  if (window.floor !== null && window.floor > exponent) exponent = window.floor;
  const quantum = exponent - window.fraction;
  const small = sumFitsNumber(window, significandBits);
  const sum = BigInt(sumProducts(terms, positions, quantum, window.alignment, small));
  stages?.push(windowStage(name, window, terms, positions, null, exponent, quantum));
  return { sum: { signed: sum, lsb: quantum }, exponent };
}

/** Numerics 4.5: the products' window, then c. */
export const cdna3Window: BlockStep<Cdna3Window> = ({
  datapath,
  terms,
  positions,
  c,
  significandBits,
  stages,
}) => {
  const special = findSpecial(terms, positions, c, datapath.productOverflow);
  if (special !== null) return specialOutput(datapath.output, special, stages);
  const { sum, exponent } = productWindow(datapath, terms, positions, significandBits, 'products', stages);
  return addCdna3Addend(datapath, sum, exponent, c, stages);
};
