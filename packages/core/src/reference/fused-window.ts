import type { FusedWindow, Output, Window } from '../datapath/datapath.js';
import type { Element, Word } from '../formats/element.js';
import { cutBig, cutSmall } from './cut.js';
import type { BlockStep } from './family.js';
import { roundOutput, specialOutput } from './output.js';
import type { Terms } from './terms.js';
import { findSpecial, maxProductExponent } from './terms.js';
import type { Stage } from './trace.js';
import { sumFitsNumber, sumProducts, windowStage } from './window.js';

/** What a fused window of products and c needs; late-window and split-window use it without a c exponent rule. */
export interface FusedParameters extends Window {
  readonly zeroAddendExponent: number | null;
  readonly productOverflow: number | null;
  readonly output: Output;
}

/**
 * Numerics 4.1. T = the nonzero products, and c if nonzero; none: +0. E = max e over T, raised to the floor;
 * S = sum of T cut to 2^(E-F); d = round(S). `significandBits` bounds the bits of a product's significand.
 */
export function fusedWindowStep(
  window: FusedParameters,
  terms: Terms,
  positions: readonly number[],
  c: Element,
  significandBits: number,
  stages?: Stage[],
): Word {
  const special = findSpecial(terms, positions, c, window.productOverflow);
  if (special !== null) return specialOutput(window.output, special, stages);
  let exponent = maxProductExponent(terms, positions);
  if (c.sig !== 0 && c.e > exponent) exponent = c.e;
  if (exponent === -Infinity) return roundOutput(window.output, 0, 0, stages);
  if (c.sig === 0 && window.zeroAddendExponent !== null && window.zeroAddendExponent > exponent)
    exponent = window.zeroAddendExponent;
  if (window.floor !== null && window.floor > exponent) exponent = window.floor;
  const quantum = exponent - window.fraction;
  const small = sumFitsNumber(window, significandBits);
  const products = sumProducts(terms, positions, quantum, window.alignment, small);
  const sum =
    typeof products === 'number'
      ? products + cutSmall(c.signed, c.lsb - quantum, window.alignment)
      : products + cutBig(BigInt(c.signed), c.lsb - quantum, window.alignment);
  stages?.push(windowStage('terms', window, terms, positions, c, exponent, quantum));
  return roundOutput(window.output, sum, quantum, stages);
}

export const fusedWindow: BlockStep<FusedWindow> = ({
  datapath,
  terms,
  positions,
  c,
  significandBits,
  stages,
}) => fusedWindowStep(datapath, terms, positions, c, significandBits, stages);
