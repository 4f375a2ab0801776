import type { Element, Word } from './element.js';
import { minExponent } from './element.js';
import type { FloatFormat, Format } from './format.js';

const finite = (negative: boolean, sig: number, lsb: number, e: number): Element => ({
  kind: 'finite',
  negative,
  sig,
  signed: negative && sig !== 0 ? -sig : sig,
  lsb,
  e,
});

const special = (kind: 'inf' | 'nan', negative: boolean): Element => ({
  kind,
  negative,
  sig: 0,
  signed: 0,
  lsb: 0,
  e: 0,
});

/**
 * Decodes one word of a format; bits above the format's own are ignored (ue4m3's bit 7, FP4's upper nibble).
 * fp64 takes a bigint, every other format a number. Source: numerics section 1.
 */
export function decode(format: Format, word: Word): Element {
  switch (format.kind) {
    case 'float':
      return typeof word === 'bigint' ? decodeWide(format, word) : decodeFloat(format, word);
    case 'exponent': {
      const x = Number(word) & 0xff;
      return x === 0xff ? special('nan', false) : finite(false, 1, x - format.bias, x - format.bias);
    }
    case 'integer': {
      const w = Number(word);
      const value = !format.signed ? w : format.wordBits === 8 ? (w << 24) >> 24 : w | 0;
      return finite(value < 0, Math.abs(value), 0, 0);
    }
  }
}

function decodeFloat(format: FloatFormat, word: number): Element {
  const { exponentBits, fractionBits, droppedBits } = format;
  const bits = word >>> droppedBits;
  const fraction = bits & ((1 << fractionBits) - 1);
  const x = (bits >>> fractionBits) & ((1 << exponentBits) - 1);
  const negative = format.signed && ((bits >>> (fractionBits + exponentBits)) & 1) === 1;
  return classify(format, negative, x, fraction);
}

function decodeWide(format: FloatFormat, word: bigint): Element {
  const fraction = Number(word & ((1n << BigInt(format.fractionBits)) - 1n));
  const x = Number(word >> BigInt(format.fractionBits)) & ((1 << format.exponentBits) - 1);
  return classify(format, word >> 63n !== 0n, x, fraction);
}

function classify(format: FloatFormat, negative: boolean, x: number, fraction: number): Element {
  const ones = (1 << format.exponentBits) - 1;
  switch (format.specials) {
    case 'ieee':
      if (x === ones) return special(fraction === 0 ? 'inf' : 'nan', negative);
      break;
    case 'nan-only':
      if (x === ones && fraction === 2 ** format.fractionBits - 1) return special('nan', negative);
      break;
    case 'fnuz':
      if (negative && x === 0 && fraction === 0) return special('nan', true);
      break;
    case 'none':
      break;
  }
  const e = Math.max(x - format.bias, minExponent(format));
  const sig = x === 0 ? fraction : fraction + 2 ** format.fractionBits;
  return finite(negative, sig, e - format.fractionBits, e);
}
