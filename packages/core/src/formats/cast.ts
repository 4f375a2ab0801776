import type { Rounding } from '../datapath/datapath.js';
import { decode } from './decode.js';
import type { Element, Word } from './element.js';
import { maxExponent, maxSignificand } from './element.js';
import { encode, encodeInfinity, encodeMax, encodeNaN } from './encode.js';
import type { FloatFormat } from './format.js';
import { bitLength, roundMagnitude } from './round.js';

export interface CastOptions {
  /** Default RNE. */
  readonly rounding?: Rounding;
  /**
   * true: a magnitude above the largest finite, Inf included, becomes the largest finite (CUDA's satfinite).
   * false: it becomes Inf, or NaN in a format without Inf (torch's .to(float8_...)). FP6 and FP4 have neither and
   * always saturate; their NaN becomes +max, as CUDA's conversions do.
   */
  readonly saturate?: boolean;
}

/** Converts a decoded element to a word of `format`; NaN gives the format's encodeNaN word. */
export function castElement(value: Element, format: FloatFormat, options: CastOptions = {}): Word {
  const saturate = (options.saturate ?? false) || format.specials === 'none';
  const overflow = (negative: boolean): Word =>
    saturate
      ? encodeMax(format, negative)
      : format.specials === 'ieee'
        ? encodeInfinity(format, negative)
        : encodeNaN(format);
  if (value.kind === 'nan') return format.specials === 'none' ? encodeMax(format, false) : encodeNaN(format);
  if (value.kind === 'inf') return overflow(value.negative);
  if (value.sig === 0) return encode(format, value.negative, 0n, 0);
  if (value.negative && !format.signed) return encode(format, false, 0n, 0);
  const { sig, unit } = roundMagnitude(BigInt(value.signed), value.lsb, format, options.rounding ?? 'RNE');
  if (sig === 0n) return encode(format, value.negative, 0n, 0);
  const n = bitLength(sig) - 1 + unit;
  const top = maxExponent(format);
  const tooLarge =
    n > top ||
    (n === top &&
      sig * (1n << BigInt(Math.max(0, unit - top + format.fractionBits))) >
        BigInt(maxSignificand(format)) * (1n << BigInt(Math.max(0, top - format.fractionBits - unit))));
  return tooLarge ? overflow(value.negative) : encode(format, value.negative, sig, unit);
}

/** Converts a word of one float format to a word of another. */
export const cast = (word: Word, from: FloatFormat, to: FloatFormat, options: CastOptions = {}): Word =>
  castElement(decode(from, word), to, options);
