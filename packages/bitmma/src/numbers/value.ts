import { FORMATS, type FormatName, type WordArray } from '@bitmma/core';
import { decode, type Element, readWord } from '@bitmma/core/formats';
import type { StoredFormat } from '../files/dtype.js';

/**
 * The double of any element of an array, without a copy: for statistics and ordering only, never an operand of the
 * arithmetic. Exact for every format but int64 beyond 2^53; NaN payloads are not kept.
 */
export function doubleReader(words: WordArray, format: StoredFormat): (index: number) => number {
  const { buffer, byteOffset, length } = words;
  if (format === 'fp32' || format === 'tf32') {
    const masked = format === 'tf32' ? words.map((word) => word & 0xffffe000) : words;
    const view = new Float32Array(masked.buffer, masked.byteOffset, length);
    return (index) => view[index]!;
  }
  if (format === 'fp64') {
    const view = new Float64Array(buffer, byteOffset, length / 2);
    return (index) => view[index]!;
  }
  if (format === 's32') {
    const view = new Int32Array(buffer, byteOffset, length);
    return (index) => view[index]!;
  }
  if (format === 'int64') {
    const view = new BigInt64Array(buffer, byteOffset, length / 2);
    return (index) => Number(view[index]);
  }
  const table = doublesOf(format);
  return (index) => table[words[index]!]!;
}

/** Every element of an array as a double; see doubleReader. */
export function toDoubles(words: WordArray, format: StoredFormat): Float64Array {
  const read = doubleReader(words, format);
  const length = format === 'fp64' || format === 'int64' ? words.length / 2 : words.length;
  const values = new Float64Array(length);
  for (let i = 0; i < length; i++) values[i] = read(i);
  return values;
}

const tables = new Map<FormatName, Float64Array>();

/** The value of every word of a format of at most 16 bits. */
function doublesOf(format: FormatName): Float64Array {
  let table = tables.get(format);
  if (table === undefined) {
    table = Float64Array.from({ length: 2 ** FORMATS[format].wordBits }, (_, word) =>
      elementToDouble(decode(FORMATS[format], word)),
    );
    tables.set(format, table);
  }
  return table;
}

/** The double of a decoded element. */
export function elementToDouble(element: Element): number {
  if (element.kind === 'nan') return Number.NaN;
  const sign = element.negative ? -1 : 1;
  if (element.kind === 'inf') return sign * Number.POSITIVE_INFINITY;
  return sign * scale(element.sig, element.lsb);
}

/** sig * 2^lsb without leaving the double range on the way. */
export function scale(sig: number, lsb: number): number {
  const half = Math.trunc(lsb / 2);
  return sig * 2 ** half * 2 ** (lsb - half);
}

/** One word as a number, for people. */
export const wordToDouble = (words: WordArray, index: number, format: FormatName): number =>
  elementToDouble(decode(FORMATS[format], readWord(words, index, FORMATS[format].wordBits)));
