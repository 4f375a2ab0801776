import type { WordArray } from '../engine/engine.js';
import type { Word } from './element.js';
import type { WordBits } from './format.js';

/** Allocates `count` elements of zero words; `shared` puts them in a SharedArrayBuffer. */
export function allocateWords(wordBits: WordBits, count: number, shared = false): WordArray {
  const buffer = (bytes: number) => (shared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes));
  switch (wordBits) {
    case 8:
      return new Uint8Array(buffer(count));
    case 16:
      return new Uint16Array(buffer(count * 2));
    case 32:
      return new Uint32Array(buffer(count * 4));
    case 64:
      return new Uint32Array(buffer(count * 8));
  }
}

/** Reads element `index`; fp64 joins two items, low half first. */
export const readWord = (words: WordArray, index: number, wordBits: WordBits): Word =>
  wordBits === 64 ? (BigInt(words[index * 2 + 1]) << 32n) | BigInt(words[index * 2]) : words[index];

/** Writes element `index`; fp64 splits into two items, low half first. */
export function writeWord(words: WordArray, index: number, wordBits: WordBits, word: Word): void {
  if (wordBits === 64) {
    words[index * 2] = Number(BigInt(word) & 0xffffffffn);
    words[index * 2 + 1] = Number(BigInt(word) >> 32n);
  } else words[index] = Number(word);
}

/** Hex digits of a word, padded to the width of its container. */
export const wordToHex = (word: Word, wordBits: WordBits): string =>
  word.toString(16).padStart(wordBits / 4, '0');
