import { InputError, type WordArray } from '@bitmma/core';
import { allocateWords, writeWord } from '@bitmma/core/formats';
import type { Dtype } from '../files/dtype.js';
import { parseHexWord } from '../files/hex.js';
import { contiguousStrides, type Tensor } from '../files/tensor.js';

/** Whether an argument is words on the command line rather than a file's name. */
export const isInline = (text: string): boolean =>
  /^(?:0x)?[0-9a-f]+(?:[\s,]+(?:0x)?[0-9a-f]+)*$/i.test(text.trim());

const BITS: Readonly<Record<number, 8 | 16 | 32 | 64>> = { 1: 8, 2: 8, 4: 16, 8: 32, 16: 64 };

/**
 * Words written as hex digits, parted by commas or spaces: `3c00,0x3c00`. The number of digits is the width; what
 * format they are, the instruction or a stated format says.
 */
export function inlineTensor(name: string, text: string, orientation: 'row' | 'column'): Tensor {
  const fields = text.trim().split(/[\s,]+/);
  const digits = fields[0]!.replace(/^0x/i, '').length;
  const bits = BITS[digits];
  if (bits === undefined)
    throw new InputError(
      `${name}: expected words of 1, 2, 4, 8 or 16 hex digits, got ${fields[0]} of ${digits}`,
    );
  const words: WordArray = allocateWords(bits, fields.length);
  fields.forEach((field, i) => {
    const word = field.replace(/^0x/i, '').length === digits ? parseHexWord(field, bits) : null;
    if (word === null)
      throw new InputError(
        `${name}: expected ${digits} hex digits as in its first word, got ${field} at position ${i}`,
      );
    writeWord(words, i, bits, bits === 64 ? word : Number(word));
  });
  const dtype: Dtype = { name: `${digits} hex digits`, format: null, bits, restatable: true };
  const shape = orientation === 'row' ? [1, fields.length] : [fields.length, 1];
  return { name, dtype, words, shape, strides: contiguousStrides(shape, 'C') };
}
