import type { FormatName, Output } from '@bitmma/core';
import { CLASS, LAYOUT } from './glsl.js';

/** Words of c as the kernels hold them: signed significand, exponent, class; three planes. */
export interface StatePlanes {
  readonly sig: Float32Array;
  readonly exponent: Float32Array;
  readonly kind: Float32Array;
}

export const emptyState = (count: number): StatePlanes => ({
  sig: new Float32Array(count),
  exponent: new Float32Array(count),
  kind: new Float32Array(count),
});

/** Reads a word of c into cell `at`; an fp16 c under an fp32 d is widened exactly, so normalised. */
export function setState(
  planes: StatePlanes,
  at: number,
  word: number,
  c: FormatName,
  d: 'fp16' | 'fp32',
): void {
  const from = LAYOUT[c as 'fp16' | 'fp32'];
  const { fraction, emin, emax } = from;
  const sign = Math.floor(word / 2 ** (fraction + (c === 'fp16' ? 5 : 8))) % 2 === 1 ? -1 : 1;
  const x = Math.floor(word / 2 ** fraction) % (2 * emax + 2);
  const m = word % 2 ** fraction;
  if (x === 2 * emax + 1) {
    planes.kind[at] = m > 0 ? CLASS.nan : sign > 0 ? CLASS.positive : CLASS.negative;
    return;
  }
  if (x === 0 && m === 0) {
    planes.kind[at] = sign < 0 ? CLASS.negativeZero : CLASS.finite;
    return;
  }
  let sig = x === 0 ? m : m + 2 ** fraction;
  let e = Math.max(x, 1) + emin - 1;
  if (c !== d) {
    sig *= 2 ** (LAYOUT[d].fraction - fraction);
    while (sig < 2 ** LAYOUT[d].fraction && e > LAYOUT[d].emin) {
      sig *= 2;
      e--;
    }
  }
  planes.sig[at] = sign * sig;
  planes.exponent[at] = e;
}

/** The word of a cell's significand, exponent and class. */
export function wordOf(output: Output, sig: number, exponent: number, kind: number): number {
  const { fraction, emin, emax } = LAYOUT[output.format as 'fp16' | 'fp32'];
  const signBit = 2 ** (fraction + (output.format === 'fp16' ? 5 : 8));
  const infinity = (2 * emax + 1) * 2 ** fraction;
  switch (kind) {
    case CLASS.nan:
      return Number.parseInt(output.nan, 16);
    case CLASS.positive:
      return infinity;
    case CLASS.negative:
      return signBit + infinity;
    case CLASS.negativeZero:
      return signBit;
  }
  if (sig === 0) return 0;
  const magnitude = Math.abs(sig);
  return (sig < 0 ? signBit : 0) + (exponent - emin) * 2 ** fraction + magnitude;
}
