import type { Rounding } from '../datapath/datapath.js';
import type { Word } from './element.js';
import { maxExponent, minExponent } from './element.js';
import { encode, encodeInfinity } from './encode.js';
import type { FloatFormat } from './format.js';

/** What round() does beyond the rounding mode. */
export interface RoundOptions {
  /** Fraction bits kept below the leading bit; default the format's own. */
  readonly precision?: number;
  /** A nonzero magnitude that rounds to zero: zero of its sign (default) or +0. */
  readonly underflow?: 'signed' | 'positive';
}

/**
 * Rounds signed * 2^lsb to an IEEE-like format (fp16, bf16, tf32, fp32, fp64, e5m2) and returns its word.
 * Precision is relative to the leading bit and stops at 2^(emin - precision) below emin. A rounded exponent above
 * the format's largest gives Inf of the sign in every mode (numerics section 2). Exact zero gives +0.
 * A number must be an integer below 2^53 in magnitude.
 */
export function round(
  signed: number | bigint,
  lsb: number,
  format: FloatFormat,
  rounding: Rounding,
  options: RoundOptions = {},
): Word {
  if (typeof signed === 'number' && format.wordBits <= 32 && format.droppedBits === 0)
    return roundSmall(signed, lsb, format, rounding, options);
  const value = BigInt(signed);
  if (value === 0n) return encode(format, false, 0n, 0);
  const negative = value < 0n;
  const { sig, unit } = roundMagnitude(value, lsb, format, rounding, options.precision);
  if (sig === 0n) return encode(format, negative && options.underflow !== 'positive', 0n, 0);
  if (bitLength(sig) - 1 + unit > maxExponent(format)) return encodeInfinity(format, negative);
  return encode(format, negative, sig, unit);
}

/** Magnitude of value * 2^lsb rounded to `precision` fraction bits: sig * 2^unit, exponent not yet bounded above. */
export function roundMagnitude(
  value: bigint,
  lsb: number,
  format: FloatFormat,
  rounding: Rounding,
  precision = format.fractionBits,
): { sig: bigint; unit: number } {
  const negative = value < 0n;
  const sig = negative ? -value : value;
  const unit = Math.max(bitLength(sig) - 1 + lsb, minExponent(format)) - precision;
  const shift = unit - lsb;
  if (shift <= 0) return { sig, unit: lsb };
  const kept = sig >> BigInt(shift);
  const rest = sig - (kept << BigInt(shift));
  if (rest === 0n) return { sig: kept, unit };
  const twice = rest << 1n;
  const one = 1n << BigInt(shift);
  const up =
    rounding === 'RNE'
      ? twice > one || (twice === one && (kept & 1n) === 1n)
      : rounding === 'RD'
        ? negative
        : rounding === 'RU'
          ? !negative
          : false;
  return { sig: up ? kept + 1n : kept, unit };
}

/** Bits of a positive bigint. */
export const bitLength = (sig: bigint): number => {
  const hex = sig.toString(16);
  return hex.length * 4 - Math.clz32(Number.parseInt(hex[0], 16)) + 28;
};

/** 2^0 ... 2^1023 by doubling, exact. */
export const POW2 = (() => {
  const powers = new Float64Array(1024);
  let p = 1;
  for (let i = 0; i < powers.length; i++, p *= 2) powers[i] = p;
  return powers;
})();

/** floor(log2(x)) of an integer 0 < x < 2^53. */
const log2 = (x: number): number =>
  x < 0x1_0000_0000 ? 31 - Math.clz32(x) : 63 - Math.clz32(Math.floor(x / 0x1_0000_0000));

/** round() where |signed| < 2^53 and the word has at most 32 bits: dividing by a power of two is exact. */
function roundSmall(
  signed: number,
  lsb: number,
  format: FloatFormat,
  rounding: Rounding,
  options: RoundOptions,
): number {
  if (signed === 0) return 0;
  const negative = signed < 0;
  const sig = negative ? -signed : signed;
  const w = format.fractionBits;
  const emin = 1 - format.bias;
  const signBit = negative ? POW2[w + format.exponentBits] : 0;
  const unit = Math.max(log2(sig) + lsb, emin) - (options.precision ?? w);
  const shift = unit - lsb;
  let kept = sig;
  let keptLsb = lsb;
  if (shift > 0) {
    // sig < 2^53: a shift of 54 or more leaves only the rest, on the same side of one half.
    const one = POW2[Math.min(shift, 60)];
    kept = Math.floor(sig / one);
    const rest = sig - kept * one;
    keptLsb = unit;
    if (rest !== 0) {
      if (rounding === 'RNE') {
        if (rest * 2 > one || (rest * 2 === one && kept % 2 === 1)) kept += 1;
      } else if ((rounding === 'RD' && negative) || (rounding === 'RU' && !negative)) kept += 1;
    }
  }
  if (kept === 0) return options.underflow === 'positive' ? 0 : signBit;
  const n = log2(kept) + keptLsb;
  if (n > maxExponent(format)) return signBit + ((1 << format.exponentBits) - 1) * POW2[w];
  const scale = keptLsb - (Math.max(n, emin) - w);
  const significand = scale >= 0 ? kept * POW2[scale] : kept / POW2[-scale];
  // A normal significand carries the hidden bit 2^w, which adds one to the exponent field.
  const field = n < emin ? 0 : n + format.bias - 1;
  return signBit + field * POW2[w] + significand;
}
