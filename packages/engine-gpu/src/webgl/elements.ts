import { type FloatFormat, FORMATS, type FormatName } from '@bitmma/core';

/**
 * An element on the device is one integer below 2^24: code * 4096 + significand + 2048. Codes: 0 zero, 1 a position
 * that sparsity disables, 512 + (e - emin) finite, 2048 NaN, 2049 Inf (significand 1 or -1). Two codes add up to at
 * least 1024 exactly where both elements are finite and nonzero or one is special, to 2048 where one is.
 */
export const CODE = { zero: 0, absent: 1, finite: 512, nan: 2048, infinity: 2049 } as const;
export const UNIT = 4096;
export const OFFSET = 2048;
export const ZERO_ELEMENT = OFFSET;
export const ABSENT_ELEMENT = CODE.absent * UNIT + OFFSET;

const tables = new Map<FormatName, Float32Array>();

function encode(format: FloatFormat, v: number): number {
  const w = format.fractionBits;
  const m = v % 2 ** w;
  const x = Math.floor(v / 2 ** w) % 2 ** format.exponentBits;
  const negative = v >= 2 ** (w + format.exponentBits);
  const top = 2 ** format.exponentBits - 1;
  const full = m === 2 ** w - 1;
  const nan = {
    ieee: x === top && m > 0,
    'nan-only': x === top && full,
    fnuz: x === 0 && m === 0 && negative,
    none: false,
  }[format.specials];
  if (nan) return CODE.nan * UNIT + OFFSET;
  const sign = negative ? -1 : 1;
  if (format.specials === 'ieee' && x === top) return CODE.infinity * UNIT + OFFSET + sign;
  if (x === 0 && m === 0) return ZERO_ELEMENT;
  const sig = x === 0 ? m : m + 2 ** w;
  return (CODE.finite + Math.max(x, 1) - 1) * UNIT + OFFSET + sign * sig;
}

/** Element codes of every word of a format, indexed by the word without its dropped bits. */
export function elementTable(name: FormatName): Float32Array {
  let table = tables.get(name);
  if (table) return table;
  const format = FORMATS[name] as FloatFormat;
  const bits = 1 + format.exponentBits + format.fractionBits;
  table = Float32Array.from({ length: 2 ** bits }, (_, v) => encode(format, v));
  tables.set(name, table);
  return table;
}

/** A word to its index in the table: dropped bits off; container bits above the format are ignored. */
export function wordIndex(name: FormatName): (word: number) => number {
  const { droppedBits, exponentBits, fractionBits } = FORMATS[name] as FloatFormat;
  const mask = 2 ** (1 + exponentBits + fractionBits) - 1;
  return (word) => (word >>> droppedBits) & mask;
}

export function floatFormat(name: FormatName): FloatFormat | null {
  const format = FORMATS[name];
  return format.kind === 'float' ? format : null;
}
