import type { WordArray } from '../engine/engine.js';
import type { FormatName } from '../formats/table.js';
import type { CaseSet } from './cases.js';
import { itemsPerWord } from './words.js';

/** Bitwise equality of word `i` of `got` and word `j` of `want`: NaN payloads and the sign of zero count. */
export function sameWord(format: FormatName, got: WordArray, i: number, want: WordArray, j: number): boolean {
  if (itemsPerWord(format) === 1) return got[i] === want[j];
  return got[2 * i] === want[2 * j] && got[2 * i + 1] === want[2 * j + 1];
}

/**
 * Indices of the cases whose result differs from the expected word: the only comparator. A case passes by its d,
 * or by a word that the case itself accepts (`accept`; none unless the vector says so).
 */
export function mismatches(set: CaseSet, got: WordArray, expected: WordArray): number[] {
  const { format, items } = { format: set.op.d, items: itemsPerWord(set.op.d) };
  const failed: number[] = [];
  for (let i = 0; i < set.count; i++) {
    if (sameWord(format, got, i, expected, i)) continue;
    const others = set.accept?.get(i);
    let accepted = false;
    if (others)
      for (let j = 0; j < others.length / items; j++) accepted ||= sameWord(format, got, i, others, j);
    if (!accepted) failed.push(i);
  }
  return failed;
}
