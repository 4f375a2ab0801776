import { InputError, type MmaOp, sparseWordCount } from '@bitmma/core';
import { allocateWords } from '@bitmma/core/formats';
import { activePositions } from '@bitmma/core/reference';
import type { Tensor } from '../files/tensor.js';
import { contiguousStrides } from '../files/tensor.js';
import type { Matrices } from './operand.js';

/** Whether each logical position of each row is active, row by row; InputError names row and chunk of a bad selector. */
export function activeMask(op: MmaOp, meta: Matrices, rows: number, k: number): Uint8Array {
  const mask = new Uint8Array(rows * k);
  const count = metadataWords(op, k);
  for (let row = 0; row < rows; row++) {
    const first = meta.offsets[0]! + row * meta.rowStride;
    const words = Array.from({ length: count }, (_, i) => meta.words[first + i * meta.colStride]!);
    mask.set(activePositions(op, words, k, `row ${row} of ${meta.name}`), row * k);
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
