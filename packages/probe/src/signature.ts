import type { Datapath, FormatName, MmaOp } from '@bitmma/core';
import { DatapathError, FORMATS, parseOp } from '@bitmma/core';

/**
 * What a questioner knows of an instruction before asking: its operands. Names and shape only label the questions
 * of an exec engine.
 */
export type Signature = Omit<MmaOp, 'datapath' | 'evidence'>;

export const signatureOf = ({ datapath: _, evidence: __, ...rest }: MmaOp): Signature => rest;

/** The op of a signature under a hypothesis. */
export const opWith = (signature: Signature, datapath: Datapath): MmaOp => ({
  ...signature,
  datapath,
  evidence: HYPOTHESIS,
});

const HYPOTHESIS = { level: 'derived', source: 'a hypothesis of a probe' } as const;

/** Whether operands of the signature can have the datapath. */
export function admits(signature: Signature, datapath: Datapath): boolean {
  try {
    parseOp(opWith(signature, datapath), 'prior');
    return true;
  } catch (error) {
    if (error instanceof DatapathError) return false;
    throw error;
  }
}

/** A floating-point format's fields; signatures of float ops have no other kind in a, b, c, d. */
export function floatOf(name: FormatName) {
  const format = FORMATS[name];
  if (format.kind !== 'float') throw new TypeError(`${name} is not a floating-point format`);
  return format;
}

/** Exponents of a format: lowest bit, least normal, greatest. */
export function exponentsOf(name: FormatName) {
  const { bias, fractionBits, exponentBits, specials } = floatOf(name);
  return {
    bottom: 1 - bias - fractionBits,
    emin: 1 - bias,
    top: 2 ** exponentBits - (specials === 'ieee' ? 2 : 1) - bias,
    fraction: fractionBits,
  };
}

/** Scale exponents that one scale word can name. */
export const scaleRange = ({ scaling }: Pick<MmaOp, 'scaling'>) =>
  scaling === null
    ? { low: 0, high: 0 }
    : scaling.format === 'ue8m0'
      ? { low: -127, high: 127 }
      : { low: -6, high: 8 };

/**
 * Bounds of a nonzero finite product (scales included): its lowest bit, its encoded exponents, and an exponent that
 * every magnitude lies below.
 */
export function productRange(signature: Pick<MmaOp, 'a' | 'b' | 'scaling'>) {
  const a = exponentsOf(signature.a);
  const b = exponentsOf(signature.b);
  const scale = scaleRange(signature);
  // A ue4m3 scale has three fraction bits and subnormals.
  const scaleBits = signature.scaling?.format === 'ue4m3' ? 3 : 0;
  return {
    bottom: a.bottom + b.bottom + 2 * (scale.low - scaleBits),
    emin: a.emin + b.emin + 2 * scale.low,
    emax: a.top + b.top + 2 * scale.high,
    below: a.top + b.top + 2 * scale.high + 2 + (scaleBits > 0 ? 2 : 0),
  };
}
