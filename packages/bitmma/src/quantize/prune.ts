import { chunkLength, InputError, type Sparsity, type WordArray } from '@bitmma/core';

export interface Pruned {
  /** rows x k, +0 where pruned. */
  readonly words: WordArray;
  /** rows x k/2: the kept elements in order, what the hardware stores. */
  readonly compressed: WordArray;
  /** rows x ceil(k / positions of eight chunks). */
  readonly meta: Uint32Array;
  readonly metaColumns: number;
}

/** Selector nibbles by the two fields they name, lower first. */
const selector = (low: number, high: number): number => low | (high << 2);

/**
 * Structured pruning of rows x k elements along k: each chunk keeps its largest magnitudes, the earlier one on a tie
 * (NaN counts as largest). 2:4 keeps two of four, 1:2 one of two, 4:8-pairs two adjacent pairs of eight by the sum of
 * their magnitudes. `values` are the words' magnitudes in order. InputError where k is no multiple of the chunk.
 */
export function prune(
  words: WordArray,
  values: Float64Array,
  rows: number,
  k: number,
  pattern: Sparsity,
): Pruned {
  const length = chunkLength(pattern);
  if (k % length !== 0)
    throw new InputError(`expected a K that is a multiple of ${length} for ${pattern}, got ${k}`);
  const unit = pattern === '4:8-pairs' ? 2 : 1;
  const keep = pattern === '1:2' ? 1 : 2;
  const metaColumns = Math.ceil(k / (8 * length));
  const make = words.constructor as new (size: number) => WordArray;
  const pruned = new make(rows * k);
  const compressed = new make((rows * k) / 2);
  const meta = new Uint32Array(rows * metaColumns);
  const size = (at: number): number => {
    let sum = 0;
    for (let i = 0; i < unit; i++) sum += Math.abs(values[at + i]!);
    return Number.isNaN(sum) ? Number.POSITIVE_INFINITY : sum;
  };
  for (let row = 0, out = 0; row < rows; row++)
    for (let chunk = 0; chunk * length < k; chunk++) {
      const base = row * k + chunk * length;
      const order = Array.from({ length: length / unit }, (_, i) => i).sort(
        (x, y) => size(base + y * unit) - size(base + x * unit) || x - y,
      );
      const kept = order.slice(0, keep).sort((x, y) => x - y);
      for (const field of kept)
        for (let i = 0; i < unit; i++) {
          const word = words[base + field * unit + i]!;
          pruned[base + field * unit + i] = word;
          compressed[out++] = word;
        }
      const nibble = pattern === '1:2' ? (kept[0] === 0 ? 0x4 : 0xe) : selector(kept[0]!, kept[1]!);
      meta[row * metaColumns + (chunk >> 3)]! |= nibble << (4 * (chunk & 7));
    }
  padMeta(meta, rows, metaColumns, k / length, pattern);
  return { words: pruned, compressed, meta, metaColumns };
}

/** Chunks beyond k get a legal selector: a word is read whole. */
function padMeta(meta: Uint32Array, rows: number, columns: number, chunks: number, pattern: Sparsity): void {
  const nibble = pattern === '1:2' ? 0x4 : selector(0, 1);
  for (let row = 0; row < rows; row++)
    for (let chunk = chunks; chunk < columns * 8; chunk++)
      meta[row * columns + (chunk >> 3)]! |= nibble << (4 * (chunk & 7));
}
