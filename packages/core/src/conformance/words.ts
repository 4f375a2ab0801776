import type { MmaOp } from '../datapath/op.js';
import { chunkLength, sparseWordCount } from '../engine/check.js';
import type { WordArray } from '../engine/engine.js';
import { InputError } from '../errors.js';
import { FORMATS, type FormatName } from '../formats/table.js';
import { allocateWords as allocate, readWord, writeWord } from '../formats/words.js';

export { scaleWordCount as scaleWords } from '../engine/check.js';

/** Array items that carry one word of `format`: 2 for fp64 (low half first), else 1. */
export const itemsPerWord = (format: FormatName): 1 | 2 => (FORMATS[format].wordBits === 64 ? 2 : 1);

/** Bits of one array item: 8, 16 or 32. */
export const itemBits = (format: FormatName): 8 | 16 | 32 => {
  const bits = FORMATS[format].wordBits;
  return bits === 64 ? 32 : bits;
};

/** Zeroed words: `count` of `format`, in the container that the engine contract names. */
export const allocateWords = (format: FormatName, count: number): WordArray =>
  allocate(FORMATS[format].wordBits, count);

/** Bits of the word that a value may use: FP6 and FP4 leave the high bits of their byte zero. */
export function usedBits(format: FormatName): number {
  const f = FORMATS[format];
  if (f.kind !== 'float' || f.specials !== 'none') return f.wordBits;
  return 1 + f.exponentBits + f.fractionBits;
}

/** Hex digits of one word. */
export const digitsPerWord = (format: FormatName): number => FORMATS[format].wordBits / 4;

/** Hex of `count` words from word `start` on, space separated, lower case. */
export function formatWords(format: FormatName, words: WordArray, start = 0, count?: number): string {
  const items = itemsPerWord(format);
  const digits = itemBits(format) / 4;
  const n = count ?? words.length / items - start;
  const out: string[] = new Array(n);
  for (let i = 0; i < n; i++) {
    const at = (start + i) * items;
    const low = words[at].toString(16).padStart(digits, '0');
    out[i] = items === 2 ? words[at + 1].toString(16).padStart(digits, '0') + low : low;
  }
  return out.join(' ');
}

/**
 * Reads `count` hex words into `into` from word `start` on.
 * @throws InputError whose text names `field`, what was expected and what came.
 */
export function parseWords(
  format: FormatName,
  text: string,
  count: number,
  field: string,
  into: WordArray,
  start = 0,
): void {
  const parts = text.trim() === '' ? [] : text.trim().split(/\s+/);
  if (parts.length !== count)
    throw new InputError(
      `${field}: expected ${count} ${format} word${count === 1 ? '' : 's'}, got ${parts.length}`,
    );
  const digits = digitsPerWord(format);
  const limit = 2 ** usedBits(format);
  const items = itemsPerWord(format);
  for (let i = 0; i < count; i++) {
    const part = parts[i];
    if (part.length !== digits || !/^[0-9a-fA-F]+$/.test(part))
      throw new InputError(
        `${field}[${i}]: expected ${digits} hex digits of ${format}, got ${JSON.stringify(part)}`,
      );
    const at = (start + i) * items;
    if (items === 2) {
      into[at] = Number.parseInt(part.slice(8), 16);
      into[at + 1] = Number.parseInt(part.slice(0, 8), 16);
    } else {
      const word = Number.parseInt(part, 16);
      if (word >= limit)
        throw new InputError(
          `${field}[${i}]: expected a ${usedBits(format)}-bit ${format} word, got ${JSON.stringify(part)}`,
        );
      into[at] = word;
    }
  }
}

/** One word as an unsigned BigInt. */
export const wordAt = (format: FormatName, words: WordArray, index: number): bigint =>
  BigInt(readWord(words, index, FORMATS[format].wordBits));

/** Stores one word. */
export const setWord = (format: FormatName, words: WordArray, index: number, word: bigint): void =>
  writeWord(words, index, FORMATS[format].wordBits, word);

/** Logical positions that one sparse selector covers; 0 for a dense op. */
export const chunkPositions = (op: MmaOp): number => (op.sparsity ? chunkLength(op.sparsity) : 0);

/** Metadata words (eight selectors each) that k positions need; 0 for a dense op. */
export const sparseWords = (op: MmaOp, k: number): number =>
  op.sparsity ? sparseWordCount(op.sparsity, k) : 0;

/** Selectors that a metadata word may hold. */
export const legalSelectors = (op: MmaOp): readonly number[] =>
  op.sparsity === '1:2' ? [0x4, 0xe] : [0x4, 0x8, 0xc, 0x9, 0xd, 0x6, 0xe];
