import { InputError, type WordArray } from '@bitmma/core';
import { allocateWords } from '@bitmma/core/formats';
import { wordBits } from './dtype.js';
import { type ReadOptions, readWords, type StoredTensor } from './tensor.js';

/** Rows r0..r1 and columns c0..c1 of a stored matrix. */
export interface BlockRange {
  readonly r0: number;
  readonly r1: number;
  readonly c0: number;
  readonly c1: number;
}

/** Reads a block of a stored matrix as contiguous rows of words; only the block's own bytes are read. */
export async function readBlock(
  stored: StoredTensor,
  { r0, r1, c0, c1 }: BlockRange,
  options: ReadOptions = {},
): Promise<WordArray> {
  if (stored.shape.length !== 2)
    throw new InputError(`${stored.name}: expected a matrix, got the shape [${stored.shape.join(', ')}]`);
  const [rows, columns] = stored.shape as [number, number];
  const [height, width] = [r1 - r0, c1 - c0];
  if (stored.order === 'C' && width === columns)
    return readWords(stored, r0 * columns, height * width, options);
  const bits = wordBits(stored.dtype);
  const items = bits === 64 ? 2 : 1;
  const words = allocateWords(bits, height * width, true);
  if (stored.order === 'C')
    for (let row = r0; row < r1; row++)
      words.set(await readWords(stored, row * columns + c0, width, options), (row - r0) * width * items);
  else
    for (let column = c0; column < c1; column++) {
      const part = await readWords(stored, column * rows + r0, height, options);
      for (let row = 0; row < height; row++)
        for (let item = 0; item < items; item++)
          words[(row * width + column - c0) * items + item] = part[row * items + item]!;
    }
  return words;
}
