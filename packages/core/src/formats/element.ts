import type { FloatFormat } from './format.js';

/**
 * One decoded element. Finite: value (-1)^negative * sig * 2^lsb with integer sig < 2^53, and e the encoded
 * exponent max(x - bias, emin), which alignment uses (numerics section 1). Zero is finite with sig 0.
 */
export interface Element {
  readonly kind: 'finite' | 'inf' | 'nan';
  readonly negative: boolean;
  readonly sig: number;
  /** sig with its sign; 0 for both zeros. */
  readonly signed: number;
  readonly lsb: number;
  readonly e: number;
}

/** A word of up to 32 bits, or a bigint where the format has 64. */
export type Word = number | bigint;

/** The smallest exponent of a normal number: 1 - bias. */
export const minExponent = (format: FloatFormat): number => 1 - format.bias;

/** The largest exponent of a finite number. */
export const maxExponent = (format: FloatFormat): number =>
  (1 << format.exponentBits) - 1 - format.bias - (format.specials === 'ieee' ? 1 : 0);

/** The largest significand (fraction and hidden bit) at the largest exponent. */
export const maxSignificand = (format: FloatFormat): number =>
  2 ** (format.fractionBits + 1) - (format.specials === 'nan-only' ? 2 : 1);
