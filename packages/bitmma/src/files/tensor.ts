import { CancelledError, type WordArray } from '@bitmma/core';
import { type Dtype, wordBits } from './dtype.js';
import type { ByteSource } from './source.js';

/** Words with a shape. Strides count elements; a word array item is one element (fp64, int64: two, low half first). */
export interface Tensor {
  readonly name: string;
  readonly dtype: Dtype;
  readonly words: WordArray;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
}

/** A tensor in a file, its elements not read yet. */
export interface StoredTensor {
  readonly name: string;
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  /** 'C': last index fastest; 'F': first index fastest. */
  readonly order: 'C' | 'F';
  readonly bigEndian: boolean;
  /** Elements, packed as the file packs them. */
  readonly data: ByteSource;
}

export interface ReadOptions {
  readonly signal?: AbortSignal;
}

/** CancelledError once the signal has been raised. */
export function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new CancelledError('cancelled');
}

/** Bytes read at a time, so that a cancelled read stops soon. */
const CHUNK = 2 ** 26;

/** Strides in elements of a contiguous tensor. */
export function contiguousStrides(shape: readonly number[], order: 'C' | 'F'): number[] {
  const strides = new Array<number>(shape.length);
  let step = 1;
  for (let i = 0; i < shape.length; i++) {
    const axis = order === 'C' ? shape.length - 1 - i : i;
    strides[axis] = step;
    step *= shape[axis]!;
  }
  return strides;
}

/**
 * Reads `count` elements from linear position `first` of the file's own order into fresh shared memory, as host
 * words: byte order mended, F4 unpacked to a byte an element.
 */
export async function readWords(
  stored: StoredTensor,
  first: number,
  count: number,
  options: ReadOptions = {},
): Promise<WordArray> {
  if (stored.dtype.bits === 4) return readNibbles(stored, first, count, options);
  const bytesPer = stored.dtype.bits / 8;
  const bytes = new Uint8Array(new SharedArrayBuffer(count * bytesPer));
  for (let at = 0; at < bytes.length; at += CHUNK) {
    throwIfCancelled(options.signal);
    const part = bytes.subarray(at, Math.min(at + CHUNK, bytes.length));
    await stored.data.read(part, first * bytesPer + at);
    if (stored.bigEndian) swapBytes(part, bytesPer);
  }
  return asWords(bytes, wordBits(stored.dtype));
}

/** Reads a whole tensor. */
export async function readTensor(stored: StoredTensor, options: ReadOptions = {}): Promise<Tensor> {
  const count = stored.shape.reduce((product, extent) => product * extent, 1);
  return {
    name: stored.name,
    dtype: stored.dtype,
    words: await readWords(stored, 0, count, options),
    shape: stored.shape,
    strides: contiguousStrides(stored.shape, stored.order),
  };
}

async function readNibbles(stored: StoredTensor, first: number, count: number, options: ReadOptions) {
  const from = Math.floor(first / 2);
  const packed = new Uint8Array(Math.ceil((first + count) / 2) - from);
  throwIfCancelled(options.signal);
  await stored.data.read(packed, from);
  const words = new Uint8Array(new SharedArrayBuffer(count));
  for (let i = 0; i < count; i++) {
    const at = first + i;
    const pair = packed[(at >>> 1) - from]!;
    words[i] = at & 1 ? pair >>> 4 : pair & 15;
  }
  return words;
}

function asWords(bytes: Uint8Array, bits: 8 | 16 | 32 | 64): WordArray {
  if (bits === 8) return bytes;
  if (bits === 16) return new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 2);
  return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
}

/** Reverses the bytes of every element in place. */
function swapBytes(bytes: Uint8Array, bytesPer: number): void {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytesPer === 2) view.swap16();
  else if (bytesPer === 4) view.swap32();
  else if (bytesPer === 8) view.swap64();
}
