import {
  FORMATS,
  type FormatName,
  type Inputs,
  type MmaOp,
  type Operand,
  type WordArray,
} from '@bitmma/core';
import { CHUNK, expandMask } from './sparse.js';

/**
 * Rows of A or columns of B as the kernels take them: words contiguous along k, vector v from element v * stride.
 * Plain data: it is what a token carries between threads.
 */
export interface Vectors {
  readonly words: WordArray;
  readonly stride: number;
  /** A byte a word: 0 where sparse metadata leaves the position out. */
  readonly mask: Uint8Array | null;
  /** Scale words, `scaleStride` a vector. */
  readonly scales: Uint8Array | null;
  readonly scaleStride: number;
}

/** Buffers are shared between threads where the host allows it. */
const buffer = (bytes: number): ArrayBufferLike =>
  typeof SharedArrayBuffer === 'function' ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes);

const isShared = (words: WordArray): boolean =>
  typeof SharedArrayBuffer === 'function' && words.buffer instanceof SharedArrayBuffer;

function allocate(format: FormatName, elements: number): WordArray {
  const { wordBits } = FORMATS[format];
  const bytes = buffer((elements * wordBits) / 8);
  return wordBits === 8
    ? new Uint8Array(bytes)
    : wordBits === 16
      ? new Uint16Array(bytes)
      : new Uint32Array(bytes);
}

/** Side of the square that a transposing copy moves at once: 32 rows of 64-byte lines stay in the first cache. */
const SQUARE = 32;

/** `count` vectors of k elements, contiguous; the operand's own words where they already lie so in shared memory. */
function contiguous(
  operand: Operand,
  count: number,
  k: number,
  vectorStride: number,
  kStride: number,
): WordArray {
  const { words, offset, format } = operand;
  const items = FORMATS[format].wordBits === 64 ? 2 : 1;
  if (kStride === 1 && vectorStride === k && isShared(words))
    return words.subarray(offset * items, (offset + count * k) * items);
  const out = allocate(format, count * k);
  if (kStride === 1) {
    for (let v = 0; v < count; v++) {
      const from = (offset + v * vectorStride) * items;
      out.set(words.subarray(from, from + k * items), v * k * items);
    }
    return out;
  }
  for (let v0 = 0; v0 < count; v0 += SQUARE)
    for (let k0 = 0; k0 < k; k0 += SQUARE)
      for (let v = v0; v < Math.min(v0 + SQUARE, count); v++)
        for (let i = k0; i < Math.min(k0 + SQUARE, k); i++) {
          const from = (offset + v * vectorStride + i * kStride) * items;
          const to = (v * k + i) * items;
          out[to] = words[from];
          if (items === 2) out[to + 1] = words[from + 1];
        }
  return out;
}

/** A's rows. @throws InputError for an illegal sparse selector. */
export function rowsOf(op: MmaOp, { m, k, a, scaleA, sparse }: Inputs): Vectors {
  let mask: Uint8Array | null = null;
  if (op.sparsity && sparse) {
    mask = new Uint8Array(buffer(m * k));
    for (let i = 0; i < m; i++) {
      const word = (w: number) => sparse.words[sparse.offset + i * sparse.rowStride + w * sparse.colStride];
      expandMask(op.sparsity, word, k, mask, i * k, `row ${i}`);
    }
  }
  const blocks = op.scaling ? Math.ceil(k / op.scaling.block) : 0;
  return {
    words: contiguous(a, m, k, a.rowStride, a.colStride),
    stride: k,
    mask,
    scales: scaleA ? (contiguous(scaleA, m, blocks, scaleA.rowStride, scaleA.colStride) as Uint8Array) : null,
    scaleStride: blocks,
  };
}

/** B's columns. */
export function columnsOf(op: MmaOp, { n, k, b, scaleB }: Inputs): Vectors {
  const blocks = op.scaling ? Math.ceil(k / op.scaling.block) : 0;
  return {
    words: contiguous(b, n, k, b.colStride, b.rowStride),
    stride: k,
    mask: null,
    scales: scaleB ? (contiguous(scaleB, n, blocks, scaleB.colStride, scaleB.rowStride) as Uint8Array) : null,
    scaleStride: blocks,
  };
}

/** The vectors of `count` dot products. @throws InputError for an illegal sparse selector. */
export function vectorsOfCases(
  op: MmaOp,
  count: number,
  k: number,
  words: WordArray,
  scales: Uint8Array | undefined,
  sparse: Uint32Array | undefined,
): Vectors {
  let mask: Uint8Array | null = null;
  if (op.sparsity && sparse) {
    const each = Math.ceil(k / (8 * CHUNK[op.sparsity]));
    mask = new Uint8Array(count * k);
    for (let i = 0; i < count; i++)
      expandMask(op.sparsity, (w) => sparse[i * each + w], k, mask, i * k, `case ${i}`);
  }
  const scaleStride = op.scaling ? Math.ceil(k / op.scaling.block) : 0;
  return { words, stride: k, mask, scales: scales ?? null, scaleStride };
}
