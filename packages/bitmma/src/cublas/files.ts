import { readFile } from 'node:fs/promises';
import { type FormatName, findFormat, InputError } from '@bitmma/core';
import { settleFormat } from '../files/dtype.js';
import { loadTensor } from '../files/open.js';
import type { Fp8Matrix } from './accumulate.js';
import type { ScaleTensor } from './checks.js';
import { parseSplitTable, type SplitTable } from './split-table.js';

/** A matrix of words from a file; `transposed` swaps its dimensions without a copy. */
export async function loadFp8Matrix(
  argument: string,
  format: string | undefined,
  transposed: boolean,
  signal: AbortSignal,
): Promise<Fp8Matrix> {
  const stated: FormatName | undefined = format === undefined ? undefined : findFormat(format);
  const tensor = await loadTensor(argument, stated, { signal });
  if (tensor.shape.length !== 2)
    throw new InputError(`${tensor.name}: expected a matrix, got the shape [${tensor.shape.join(', ')}]`);
  if (!(tensor.words instanceof Uint8Array))
    throw new InputError(`${tensor.name}: expected 8-bit words of an FP8 format, got ${tensor.dtype.name}`);
  const [rows, columns] = tensor.shape as [number, number];
  const [rowStride, columnStride] = tensor.strides as [number, number];
  return {
    format: settleFormat(tensor.name, tensor.dtype, stated),
    words: tensor.words,
    shape: transposed ? [columns, rows] : [rows, columns],
    strides: transposed ? [columnStride, rowStride] : [rowStride, columnStride],
  };
}

/** The same elements with column-major strides: what torch's `.t().contiguous().t()` makes. */
export function toColumnMajor(x: Fp8Matrix): Fp8Matrix {
  const [rows, columns] = x.shape;
  const words = new Uint8Array(new SharedArrayBuffer(rows * columns));
  const offset = x.offset ?? 0;
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < columns; j++)
      words[i + j * rows] = x.words[offset + i * x.strides[0] + j * x.strides[1]]!;
  return { format: x.format, words, shape: x.shape, strides: [1, rows] };
}

/** A scale: an fp32 word (0x3f800000), a decimal number rounded to fp32, or a file with fp32 elements. */
export async function loadScale(name: string, text: string, signal: AbortSignal): Promise<ScaleTensor> {
  if (/^0x[0-9a-f]{8}$/i.test(text))
    return { format: 'fp32', words: Uint32Array.of(Number(text)), shape: [] };
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) {
    const words = new Uint32Array(1);
    new Float32Array(words.buffer)[0] = Number(text);
    return { format: 'fp32', words, shape: [] };
  }
  if (!/\.(npy|npz|safetensors|hex)/.test(text))
    throw new InputError(`${name}: expected a number, an fp32 word 0x######## or a file, got ${text}`);
  const tensor = await loadTensor(text, 'fp32', { signal });
  if (!(tensor.words instanceof Uint32Array))
    throw new InputError(`${name}: expected fp32 words in ${text}, got ${tensor.dtype.name}`);
  return {
    format: settleFormat(tensor.name, tensor.dtype, undefined),
    words: tensor.words,
    shape: tensor.shape,
  };
}

/** A split table from a JSON file. */
export async function loadSplitTable(path: string): Promise<SplitTable> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new InputError(`${path}: cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new InputError(`${path}: expected JSON, got: ${(error as Error).message}`);
  }
  return parseSplitTable(json, path);
}
