import type { WordArray } from '@bitmma/core';
import { type FormatName, InputError } from '@bitmma/core';
import { type StoredFormat, settleFormat } from '../files/dtype.js';
import { loadTensor } from '../files/open.js';
import { castWords } from '../numbers/cast.js';

/** A matrix with k along its rows, contiguous: row r of `lines` is one dot product's operand. */
export interface Lines {
  readonly format: StoredFormat;
  readonly words: WordArray;
  readonly lines: number;
  readonly k: number;
  /** Whether the file holds k along its columns (axis 0), so that results are turned back. */
  readonly turned: boolean;
}

/** Reads a matrix and lays it out by lines of k: axis 1 takes rows as they are, axis 0 takes columns. */
export async function readLines(
  file: string,
  stated: FormatName | undefined,
  axis: 0 | 1,
  signal?: AbortSignal,
): Promise<Lines> {
  const tensor = await loadTensor(file, stated, signal === undefined ? {} : { signal });
  if (tensor.shape.length !== 2)
    throw new InputError(`${file}: expected a matrix, got the shape [${tensor.shape.join(', ')}]`);
  const format = settleFormat(file, tensor.dtype, stated);
  const [rows, cols] = tensor.shape as [number, number];
  const [lines, k] = axis === 1 ? [rows, cols] : [cols, rows];
  const [lineStride, kStride] = axis === 1 ? tensor.strides : [...tensor.strides].reverse();
  return {
    format,
    words: gather(tensor.words, format, lines, k, lineStride!, kStride!),
    lines,
    k,
    turned: axis === 0,
  };
}

/** Lines of one-word elements back in the file's own layout. */
export function restore<T extends WordArray>({ lines, turned }: Lines, words: T, k: number): T {
  if (!turned) return words;
  const out = words.slice() as T;
  for (let line = 0; line < lines; line++)
    for (let p = 0; p < k; p++) out[p * lines + line] = words[line * k + p]!;
  return out;
}

/** fp32 values of the lines; wider words are rounded to nearest even, once. */
export function asSingles(where: string, { words, format }: Lines): Float32Array {
  const { words: singles } = castWords(where, words, format, 'fp32', { rounding: 'RNE', saturate: false });
  return new Float32Array(singles.buffer, singles.byteOffset, singles.length);
}

function gather(
  words: WordArray,
  format: StoredFormat,
  lines: number,
  k: number,
  lineStride: number,
  kStride: number,
): WordArray {
  const items = format === 'fp64' || format === 'int64' ? 2 : 1;
  const out = words.slice(0, lines * k * items);
  for (let line = 0; line < lines; line++)
    for (let p = 0; p < k; p++)
      for (let item = 0; item < items; item++)
        out[(line * k + p) * items + item] = words[(line * lineStride + p * kStride) * items + item]!;
  return out;
}
