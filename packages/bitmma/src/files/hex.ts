import { FORMATS, type FormatName, readWord, type WordArray, wordToHex } from '@bitmma/core';
import type { Dtype } from './dtype.js';
import { type ByteSource, FileError, memorySource } from './source.js';
import type { StoredTensor } from './tensor.js';

/** Hex text is for people; larger inputs belong in .npy. */
const MAX_TEXT = 2 ** 28;

/**
 * Parses one word of hex digits, with or without 0x. Returns null where it is not one, or wider than `bits`.
 * A number is never made of a digit string, so that 0x1F and 1F mean the same everywhere.
 */
export function parseHexWord(text: string, bits: number): bigint | null {
  const match = /^(?:0x)?([0-9a-f]{1,16})$/i.exec(text);
  if (match === null) return null;
  const word = BigInt(`0x${match[1]}`);
  return word >> BigInt(bits) === 0n ? word : null;
}

/** A word as hex digits of its format's width, without 0x. */
export function hexWord(words: WordArray, index: number, format: FormatName): string {
  const { wordBits } = FORMATS[format];
  return wordToHex(readWord(words, index, wordBits), wordBits);
}

/**
 * Opens hex text: one row a line, words of hex digits parted by spaces or commas, # starts a comment. The words are
 * of the stated format; a file of one row is a matrix of one row.
 */
export async function openHex(source: ByteSource, format: FormatName): Promise<StoredTensor> {
  if (source.size > MAX_TEXT)
    throw new FileError(source.name, `expected at most ${MAX_TEXT} bytes of hex text`);
  const bytes = new Uint8Array(source.size);
  await source.read(bytes, 0);
  const { wordBits } = FORMATS[format];
  const rows: bigint[][] = [];
  for (const [index, line] of new TextDecoder().decode(bytes).split(/\r?\n/).entries()) {
    const fields = line
      .replace(/#.*/, '')
      .split(/[\s,]+/)
      .filter(Boolean);
    if (fields.length === 0) continue;
    rows.push(
      fields.map((field) => {
        const word = parseHexWord(field, wordBits);
        if (word === null)
          throw new FileError(
            source.name,
            `line ${index + 1}: expected a ${format} word of ${wordBits / 4} hex digits, got ${field}`,
          );
        return word;
      }),
    );
    if (fields.length !== rows[0]!.length)
      throw new FileError(
        source.name,
        `line ${index + 1}: expected ${rows[0]!.length} words as in the first row, got ${fields.length}`,
      );
  }
  if (rows.length === 0) throw new FileError(source.name, 'expected rows of hex words, got none');
  const columns = rows[0]!.length;
  const data = new Uint8Array((rows.length * columns * wordBits) / 8);
  rows.flat().forEach((word, i) => {
    for (let byte = 0; byte < wordBits / 8; byte++)
      data[(i * wordBits) / 8 + byte] = Number((word >> BigInt(8 * byte)) & 0xffn);
  });
  const dtype: Dtype = { name: 'hex', format, bits: wordBits, restatable: false };
  return {
    name: source.name,
    dtype,
    shape: [rows.length, columns],
    order: 'C',
    bigEndian: false,
    data: memorySource(source.name, data, source),
  };
}
