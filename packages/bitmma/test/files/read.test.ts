import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { loadTensor, openTensor, readWords, type Tensor } from '../../src/files/index.js';

interface Expected {
  shape: number[];
  words: string;
  bits: number;
  dtype: string | null;
}

const fixtures = inject('fixtures');
const expected: Record<string, Expected> =
  fixtures === null ? {} : JSON.parse(readFileSync(join(fixtures, 'expected.json'), 'utf8'));

/** Little-endian hex of the elements in C order, whatever the tensor's strides. */
function hexInOrder({ words, shape, strides }: Tensor, bits: number): string {
  const bytes = Buffer.from(words.buffer, words.byteOffset, words.byteLength);
  let at = [0];
  for (const [axis, extent] of shape.entries())
    at = at.flatMap((base) => Array.from({ length: extent }, (_, i) => base + i * strides[axis]!));
  return Buffer.concat(at.map((i) => bytes.subarray((i * bits) / 8, ((i + 1) * bits) / 8))).toString('hex');
}

describe.skipIf(fixtures === null)(`files of NumPy, ml_dtypes, safetensors ${inject('pythonReason')}`, () => {
  it.each(Object.entries(expected))(
    '%s reads as they wrote it',
    async (name, { shape, words, bits, dtype }) => {
      const tensor = await loadTensor(join(fixtures!, name));
      expect(tensor.shape).toEqual(shape);
      expect(hexInOrder(tensor, bits)).toBe(words);
      if (dtype !== null)
        expect(tensor.dtype.name.toLowerCase()).toContain(dtype.toLowerCase().replace('e8m0', ''));
    },
  );

  it('reads a range without the rest', async () => {
    const stored = await openTensor(join(fixtures!, 'stored.npz:right'));
    const words = await readWords(stored, 12_345, 678);
    await stored.data.close();
    const whole = Buffer.from(expected['stored.npz:right']!.words, 'hex');
    expect(Buffer.from(words.buffer).equals(whole.subarray(4 * 12_345, 4 * (12_345 + 678)))).toBe(true);
  });

  it('reads an odd range of packed FP4', async () => {
    const stored = await openTensor(join(fixtures!, 'narrow.safetensors:fp4'));
    expect([...(await readWords(stored, 1, 4))]).toEqual([2, 3, 15, 7]);
    await stored.data.close();
  });

  it.each([
    ['object.npy', /pickled Python objects/],
    ['structured.npy', /structured array/],
    ['complex.npy', /expected an element type of .*got <c8/],
    ['stored.npz', /name one of its tensors after a colon: left, right/],
    ['stored.npz:middle', /has no member middle; it has left, right/],
    ['tensors.safetensors:zzz', /has no tensor zzz/],
  ])('%s is refused in a sentence', async (name, message) => {
    await expect(loadTensor(join(fixtures!, name))).rejects.toThrow(message);
  });
});
