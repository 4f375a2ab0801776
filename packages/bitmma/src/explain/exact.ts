import type { Exact } from '@bitmma/core/reference';
import { scale } from '../numbers/value.js';

export const negate = ({ signed, lsb }: Exact): Exact => ({ signed: -signed, lsb });

const magnitude = (value: bigint): bigint => (value < 0n ? -value : value);

export const bitLength = (value: bigint): number => magnitude(value).toString(2).length;

/** Exponent of the leading bit; null for zero. */
export const leadingExponent = ({ signed, lsb }: Exact): number | null =>
  signed === 0n ? null : bitLength(signed) - 1 + lsb;

/** The nearest double below in magnitude: for people and plots. */
export function toDouble({ signed, lsb }: Exact): number {
  const size = bitLength(signed);
  const drop = Math.max(0, size - 53);
  const top = Number(magnitude(signed) >> BigInt(drop));
  return (signed < 0n ? -1 : 1) * scale(top, lsb + drop);
}

/** The bit of weight 2^position of |value|. */
export const bitAt = ({ signed, lsb }: Exact, position: number): boolean =>
  position >= lsb && ((magnitude(signed) >> BigInt(position - lsb)) & 1n) === 1n;

/** `2⁻²⁷`. */
export const power = (exponent: number): string =>
  `2${String(exponent).replace(/./g, (digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)] ?? '⁻')}`;

/** A number of at most `digits` significant digits, for people. */
export function shortNumber(value: number, digits = 5): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Inf' : '−Inf';
  const text = Object.is(value, -0) ? '-0' : String(Number(value.toPrecision(digits)));
  return text.replaceAll('-', '−');
}
