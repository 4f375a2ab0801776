import { type FloatFormat, maxExponent, maxSignificand, minExponent } from '@bitmma/core/formats';
import { scale } from './value.js';

/**
 * The word of a finite double in a signed format of at most 16 bits, rounded once to nearest even, saturating. Exact
 * arithmetic: |x| / quantum is below 2^(w+1) + 1, so a double holds it and its remainder.
 */
export function encodeDouble(value: number, format: FloatFormat): number {
  const w = format.fractionBits;
  const emin = minExponent(format);
  const magnitude = Math.abs(value);
  const limit = scale(maxSignificand(format), maxExponent(format) - w);
  const e = magnitude === 0 ? emin : Math.max(exponentOf(magnitude), emin);
  const units = scale(magnitude, w - e);
  let sig = Math.floor(units);
  const rest = units - sig;
  if (rest > 0.5 || (rest === 0.5 && (sig & 1) === 1)) sig++;
  const biased = e + format.bias;
  const packed = sig < 2 ** w ? sig : (biased - 1) * 2 ** w + sig;
  const top = (maxExponent(format) + format.bias - 1) * 2 ** w + maxSignificand(format);
  const word = scale(sig, e - w) > limit ? top : packed;
  const negative = value < 0 || Object.is(value, -0);
  if (!negative || (word === 0 && format.specials === 'fnuz')) return word;
  return word + 2 ** (w + format.exponentBits);
}

const view = new DataView(new ArrayBuffer(8));

/** floor(log2(x)) of a positive finite double, exactly. */
export function exponentOf(x: number): number {
  view.setFloat64(0, x);
  const field = view.getUint32(0) >>> 20;
  if (field !== 0) return field - 1023;
  return exponentOf(x * 2 ** 64) - 64;
}
