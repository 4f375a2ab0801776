import { createHash } from 'node:crypto';
import { FORMATS, type FormatName, type WordArray } from '@bitmma/core';

/** Hashes of a manifest at most. */
const MOST_HASHES = 65_536;

/** Result rows of one hash: one, or for very tall results the smallest divisor of M that keeps the list short. */
export function rowGroup(shape: readonly number[]): number {
  const m = shape.at(-2)!;
  const rows = shape.slice(0, -1).reduce((x, y) => x * y, 1);
  for (let size = 1; size < m; size++) if (m % size === 0 && rows / size <= MOST_HASHES) return size;
  return Math.max(m, 1);
}

/** The hash of each group of rows. */
export function rowHashes(
  words: WordArray,
  format: FormatName,
  shape: readonly number[],
  rowsPerHash: number,
): string[] {
  const items = FORMATS[format].wordBits === 64 ? 2 : 1;
  const step = shape.at(-1)! * rowsPerHash * items;
  const rows = shape.slice(0, -1).reduce((x, y) => x * y, 1);
  return Array.from({ length: rows / rowsPerHash }, (_, i) =>
    groupHash(words.subarray(i * step, (i + 1) * step)),
  );
}

export const groupHash = (words: WordArray): string =>
  createHash('sha256')
    .update(new Uint8Array(words.buffer, words.byteOffset, words.byteLength))
    .digest('hex')
    .slice(0, 32);
