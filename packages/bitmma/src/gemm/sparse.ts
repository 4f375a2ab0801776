import { chunkLength, InputError, type MmaOp, type Sparsity, sparseWordCount } from '@bitmma/core';
import { allocateWords } from '@bitmma/core/formats';
import type { Tensor } from '../files/tensor.js';
import { contiguousStrides } from '../files/tensor.js';
import type { Matrices } from './operand.js';

/** Active positions of a chunk in a selector, ascending; null where the selector is illegal. */
export function selectedPositions(sparsity: Sparsity, selector: number): readonly number[] | null {
  if (sparsity === '1:2') return selector === 0x4 ? [0] : selector === 0xe ? [1] : null;
  if (![0x4, 0x8, 0xc, 0x9, 0xd, 0x6, 0xe].includes(selector)) return null;
  const [low, high] = [selector & 3, selector >> 2].sort((x, y) => x - y) as [number, number];
  return sparsity === '2:4' ? [low, high] : [2 * low, 2 * low + 1, 2 * high, 2 * high + 1];
}

/** Selector nibble of chunk `chunk` of row `row`. */
const selectorAt = (meta: Matrices, row: number, chunk: number): number =>
  (meta.words[meta.offsets[0]! + row * meta.rowStride + (chunk >> 3) * meta.colStride]! >>>
    (4 * (chunk & 7))) &
  15;

/** Whether each logical position of each row is active, row by row; InputError names row and chunk of a bad selector. */
export function activeMask(op: MmaOp, meta: Matrices, rows: number, k: number): Uint8Array {
  const sparsity = op.sparsity!;
  const length = chunkLength(sparsity);
  const mask = new Uint8Array(rows * k);
  for (let row = 0; row < rows; row++)
    for (let chunk = 0; chunk * length < k; chunk++) {
      const selector = selectorAt(meta, row, chunk);
      const positions = selectedPositions(sparsity, selector);
      if (positions === null)
        throw new InputError(
          `${meta.name}: expected a ${sparsity} selector, got ${selector.toString(16)} in chunk ${chunk} of row ${row}`,
        );
      for (const position of positions)
        if (chunk * length + position < k) mask[row * k + chunk * length + position] = 1;
    }
  return mask;
}

/**
 * Spreads compressed rows (the active elements alone, in order) to k logical positions, +0 elsewhere. A row holds
 * exactly as many elements as its metadata selects.
 */
export function expandCompressed(op: MmaOp, a: Tensor, meta: Matrices, k: number): Tensor {
  const [rows, stored] = a.shape as [number, number];
  const mask = activeMask(op, meta, rows, k);
  const words = allocateWords(
    a.words.BYTES_PER_ELEMENT === 1 ? 8 : a.words.BYTES_PER_ELEMENT === 2 ? 16 : 32,
    rows * k,
    true,
  );
  for (let row = 0; row < rows; row++) {
    let at = 0;
    for (let p = 0; p < k; p++)
      if (mask[row * k + p] === 1) words[row * k + p] = a.words[row * a.strides[0]! + at++ * a.strides[1]!]!;
    if (at !== stored)
      throw new InputError(
        `${a.name}: expected ${at} elements in row ${row}, as its metadata selects, got ${stored}`,
      );
  }
  return { ...a, words, shape: [rows, k], strides: contiguousStrides([rows, k], 'C') };
}

/** Metadata words a row of k logical positions. */
export const metadataWords = (op: MmaOp, k: number): number => sparseWordCount(op.sparsity!, k);
