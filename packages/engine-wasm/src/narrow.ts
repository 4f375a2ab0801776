// Proofs that a window's sums fit 62 bits, so that i64 arithmetic in the module is exact.
import { FORMATS, type FormatName, type MmaOp } from '@bitmma/core';

/** i64's sign, and one bit for the sum of two such values. */
const BITS = 62;

const carry = (terms: number): number => Math.ceil(Math.log2(terms));

const fractionBits = (name: FormatName): number => {
  const format = FORMATS[name];
  return format.kind === 'float' ? format.fractionBits : 0;
};

/** Encoded exponents of a format's finite numbers: largest - smallest. */
const exponentSpread = (name: FormatName): number => {
  const format = FORMATS[name];
  if (format.kind === 'exponent') return 254;
  if (format.kind === 'integer') return 0;
  const codes = 2 ** format.exponentBits;
  return codes - (format.specials === 'ieee' ? 2 : 1) - 1;
};

/** Largest difference of two product exponents in a group of scaled-groups. */
export function groupSpread(op: MmaOp): number {
  const { datapath, scaling } = op;
  if (datapath.kind !== 'scaled-groups' || !scaling) return 0;
  const inside = (size: number) => scaling.block % size === 0;
  const scales =
    inside(datapath.group) && inside(datapath.dominantGroup) ? 0 : 2 * exponentSpread(scaling.format);
  return exponentSpread(op.a) + exponentSpread(op.b) + scales;
}

/** Whether every sum and every shifted term of the op's windows fits BITS. */
export function fitsNarrow(op: MmaOp): boolean {
  const { datapath } = op;
  const a = fractionBits(op.a);
  const b = fractionBits(op.b);
  const c = fractionBits(op.c);
  const scales = op.scaling ? 2 * fractionBits(op.scaling.format) + 2 : 0;
  // A product is below 4 * 2^e, each scale doubles that.
  const head = op.scaling ? 4 : 2;
  const product = a + b + head + scales;
  switch (datapath.kind) {
    case 'integer':
    case 'exact':
    case 'pairwise':
    case 'sequential-fma':
      return product <= BITS;
    case 'fused-window':
    case 'late-window':
    case 'split-window':
    case 'scaled-window': {
      const terms = datapath.kind === 'scaled-window' ? op.k : datapath.block;
      return (
        product <= BITS &&
        Math.max(datapath.fraction, a + b + scales) + head + carry(terms + 1) <= BITS &&
        Math.max(datapath.fraction, c) + 1 <= BITS
      );
    }
    case 'cdna3-window':
    case 'cdna3-odd-even': {
      const { fraction, addendFraction, sumFraction, block } = datapath;
      const merge = datapath.kind === 'cdna3-odd-even' ? datapath.mergeFraction : 0;
      // Every value is in units at most this far below the larger of E and e_c.
      const deepest = Math.max(fraction, addendFraction, sumFraction, merge, a + b, c);
      return product <= BITS && deepest + head + carry(block) + 2 <= BITS;
    }
    case 'scaled-groups': {
      const { dominantFraction, productFraction, group, dominantGroup } = datapath;
      const exact = product + groupSpread(op) + carry(Math.max(group, dominantGroup));
      const deepest = Math.max(dominantFraction, productFraction, c);
      return exact <= BITS && deepest + head + carry(op.k + 1) <= BITS;
    }
  }
}
