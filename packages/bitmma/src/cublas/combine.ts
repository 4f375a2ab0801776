import { FlushToZeroError } from './errors.js';

/** The canonical fp32 NaN of the contract. */
export const NAN32 = 0x7fffffff;

/** fp32 values over the words of an array; additions and products on them round to nearest even once. */
export const asFloats = (words: Uint32Array): Float32Array =>
  new Float32Array(words.buffer, words.byteOffset, words.length);

/**
 * sum += part, elementwise, fp32 RNE. The double sum of two fp32 values rounds to the same fp32 (53 >= 2 * 24 + 2).
 * NaN words are whatever the host makes them until canonicalise().
 */
export function addInto(sum: Uint32Array, part: Uint32Array): void {
  const x = asFloats(sum);
  const y = asFloats(part);
  for (let i = 0; i < x.length; i++) x[i] = x[i]! + y[i]!;
}

/** Every NaN word becomes 0x7FFFFFFF. */
export function canonicalise(words: Uint32Array): void {
  for (let i = 0; i < words.length; i++) if ((words[i]! & 0x7fffffff) > 0x7f800000) words[i] = NAN32;
}

/** Throws FlushToZeroError where the host's arithmetic loses subnormals. */
export function checkSubnormals(): void {
  const words = new Uint32Array([1, 1]);
  const values = asFloats(words);
  values[0] = values[0]! + values[1]!;
  if (words[0] !== 2)
    throw new FlushToZeroError('the host flushes subnormal numbers to zero; expected IEEE arithmetic');
}
