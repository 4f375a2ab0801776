import { FORMATS } from '@bitmma/core';
import { decode, type FloatFormat } from '@bitmma/core/formats';
import { encodeDouble } from '../numbers/encode-double.js';
import { elementToDouble } from '../numbers/value.js';
import { checkSize, type Quantized } from './mx.js';

const BLOCK = 16;
const ELEMENT_MAX = 6;
const SCALE_MAX = 448;

/**
 * NVFP4: e2m1 elements, a ue4m3 scale a block of 16 along k, an fp32 scale for the tensor. All in fp32, to nearest even:
 * tensor scale = amax / (448 * 6); block scale = (block amax / 6) / tensor scale, saturated; element = x / (tensor
 * scale * block scale), saturated. A block with a NaN or an infinity has the NaN scale 0x7F and zeros; a scale that
 * rounds to zero gives zeros.
 */
export function quantizeNvfp4(
  values: Float32Array,
  rows: number,
  k: number,
): Quantized & { tensorScale: number } {
  checkSize(values, rows, k, BLOCK);
  const element = FORMATS.e2m1 as FloatFormat;
  const scaleFormat = FORMATS.ue4m3 as FloatFormat;
  let amax = 0;
  for (const value of values) {
    const size = Math.abs(value);
    if (size < Number.POSITIVE_INFINITY && size > amax) amax = size;
  }
  const tensor = amax === 0 ? 1 : Math.fround(amax / (SCALE_MAX * ELEMENT_MAX));
  const blocks = Math.ceil(k / BLOCK);
  const elements = new Uint8Array(rows * k);
  const scales = new Uint8Array(rows * blocks);
  for (let row = 0; row < rows; row++)
    for (let b = 0; b < blocks; b++) {
      const [first, last] = [row * k + b * BLOCK, row * k + Math.min(k, (b + 1) * BLOCK)];
      let largest = 0;
      for (let i = first; i < last; i++) {
        const size = Math.abs(values[i]!);
        largest = size < Number.POSITIVE_INFINITY ? Math.max(largest, size) : Number.NaN;
        if (Number.isNaN(largest)) break;
      }
      if (Number.isNaN(largest)) {
        scales[row * blocks + b] = 0x7f;
        continue;
      }
      const wanted = tensor === 0 ? 0 : Math.fround(Math.fround(largest / ELEMENT_MAX) / tensor);
      const word = encodeDouble(Math.min(wanted, SCALE_MAX), scaleFormat);
      scales[row * blocks + b] = word;
      const total = Math.fround(tensor * elementToDouble(decode(scaleFormat, word)));
      if (total === 0) continue;
      for (let i = first; i < last; i++) elements[i] = encodeDouble(Math.fround(values[i]! / total), element);
    }
  const holder = new Float32Array([tensor]);
  return {
    format: 'e2m1',
    elements,
    scaleFormat: 'ue4m3',
    scales,
    block: BLOCK,
    tensorScale: new Uint32Array(holder.buffer)[0]!,
  };
}
