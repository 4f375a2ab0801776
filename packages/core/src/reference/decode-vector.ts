import type { Operand, WordArray } from '../engine/engine.js';
import { decode } from '../formats/decode.js';
import type { Element } from '../formats/element.js';
import type { Format } from '../formats/format.js';
import { readWord } from '../formats/words.js';

const tables = new Map<string, (Element | undefined)[]>();

/** decode() of one element of a word array, remembered for formats of up to 16 bits. */
function decodeAt(
  format: Format,
  table: (Element | undefined)[] | null,
  words: WordArray,
  index: number,
): Element {
  const word = readWord(words, index, format.wordBits);
  if (table === null) return decode(format, word);
  const known = table[word as number];
  if (known !== undefined) return known;
  const element = decode(format, word);
  table[word as number] = element;
  return element;
}

function tableOf(format: Format): (Element | undefined)[] | null {
  if (format.wordBits > 16) return null;
  let table = tables.get(format.name);
  if (!table) {
    table = new Array(2 ** format.wordBits).fill(undefined);
    tables.set(format.name, table);
  }
  return table;
}

/** Decodes `count` elements of `words`, from element `start` in steps of `stride`. */
export function decodeVector(
  format: Format,
  words: WordArray,
  start: number,
  stride: number,
  count: number,
): Element[] {
  const table = tableOf(format);
  const elements = new Array<Element>(count);
  for (let i = 0; i < count; i++) elements[i] = decodeAt(format, table, words, start + i * stride);
  return elements;
}

/** Row `index` of an operand, `count` columns. */
export const decodeRow = (format: Format, operand: Operand, index: number, count: number): Element[] =>
  decodeVector(format, operand.words, operand.offset + index * operand.rowStride, operand.colStride, count);

/** Column `index` of an operand, `count` rows. */
export const decodeColumn = (format: Format, operand: Operand, index: number, count: number): Element[] =>
  decodeVector(format, operand.words, operand.offset + index * operand.colStride, operand.rowStride, count);
