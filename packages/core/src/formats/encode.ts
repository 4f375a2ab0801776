import type { Word } from './element.js';
import { maxExponent, maxSignificand, minExponent } from './element.js';
import type { FloatFormat } from './format.js';

/**
 * Packs (-1)^negative * sig * 2^lsb, which must be exactly representable (the caller rounded it).
 * Throws RangeError where it is not. fnuz zero is always +0.
 */
export function encode(format: FloatFormat, negative: boolean, sig: bigint, lsb: number): Word {
  const w = format.fractionBits;
  if (sig === 0n) return pack(format, negative && format.specials !== 'fnuz', 0, 0n);
  const n = sig.toString(2).length - 1 + lsb;
  const unit = Math.max(n, minExponent(format)) - w;
  const kept = lsb >= unit ? sig << BigInt(lsb - unit) : sig >> BigInt(unit - lsb);
  const exact = lsb >= unit || kept << BigInt(unit - lsb) === sig;
  const top = maxExponent(format);
  if (!exact || n > top || (n === top && kept > BigInt(maxSignificand(format))))
    throw new RangeError(`${format.name} does not hold ${negative ? '-' : ''}${sig} * 2^${lsb}`);
  const hidden = 1n << BigInt(w);
  return kept >= hidden
    ? pack(format, negative, n + format.bias, kept - hidden)
    : pack(format, negative, 0, kept);
}

/** The word of an infinity. Throws RangeError for a format without one. */
export function encodeInfinity(format: FloatFormat, negative: boolean): Word {
  if (format.specials !== 'ieee') throw new RangeError(`${format.name} has no infinity`);
  return pack(format, negative, (1 << format.exponentBits) - 1, 0n);
}

/** The word of the finite number of largest magnitude. */
export function encodeMax(format: FloatFormat, negative: boolean): Word {
  const sig = BigInt(maxSignificand(format));
  return encode(format, negative, sig, maxExponent(format) - format.fractionBits);
}

/** The positive NaN with every fraction bit set (fnuz: the one NaN). Throws RangeError for a format without one. */
export function encodeNaN(format: FloatFormat): Word {
  switch (format.specials) {
    case 'ieee':
    case 'nan-only':
      return pack(format, false, (1 << format.exponentBits) - 1, (1n << BigInt(format.fractionBits)) - 1n);
    case 'fnuz':
      return 0x80;
    case 'none':
      throw new RangeError(`${format.name} has no NaN`);
  }
}

function pack(format: FloatFormat, negative: boolean, x: number, fraction: bigint): Word {
  const w = BigInt(format.fractionBits + format.droppedBits);
  const bits =
    (BigInt(negative ? 1 : 0) << (w + BigInt(format.exponentBits))) |
    (BigInt(x) << w) |
    (fraction << BigInt(format.droppedBits));
  return format.wordBits === 64 ? bits : Number(bits);
}
