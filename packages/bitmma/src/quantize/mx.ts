import { FORMATS, type FormatName, InputError } from '@bitmma/core';
import { type FloatFormat, maxExponent, maxSignificand } from '@bitmma/core/formats';
import { encodeDouble, exponentOf } from '../numbers/encode-double.js';

/** How a block's largest magnitude becomes its ue8m0 scale (torchao's ScaleCalculationMode; OCP MX 1.0 has floor). */
export type ScaleRule = 'floor' | 'ceil' | 'even' | 'rceil';
export const SCALE_RULES: readonly ScaleRule[] = ['floor', 'ceil', 'even', 'rceil'];

/** Elements an MX block may hold. */
export type MxElement = 'e4m3' | 'e5m2' | 'e3m2' | 'e2m3' | 'e2m1';

export interface Quantized {
  readonly format: FormatName;
  /** rows x k. */
  readonly elements: Uint8Array;
  readonly scaleFormat: 'ue8m0' | 'ue4m3';
  /** rows x ceil(k / block). */
  readonly scales: Uint8Array;
  readonly block: number;
  /** NVFP4: the word of the fp32 scale of the whole tensor; absent elsewhere. */
  readonly tensorScale?: number;
}

const SCALE_BIAS = 127;

/**
 * MX quantisation of rows x k fp32 values along k: a power-of-two scale a block (`block`: 32, or 16 for mxf4nvf4), the
 * elements rounded to nearest even and saturated. A block with a NaN or an infinity has the NaN scale 0xFF and zeros.
 */
export function quantizeMx(
  values: Float32Array,
  rows: number,
  k: number,
  { element, rule, block = 32 }: { element: MxElement; rule: ScaleRule; block?: number },
): Quantized {
  checkSize(values, rows, k, block);
  const format = FORMATS[element] as FloatFormat;
  const blocks = Math.ceil(k / block);
  const elements = new Uint8Array(rows * k);
  const scales = new Uint8Array(rows * blocks);
  for (let row = 0; row < rows; row++)
    for (let b = 0; b < blocks; b++) {
      const [first, last] = [row * k + b * block, row * k + Math.min(k, (b + 1) * block)];
      let largest = 0;
      for (let i = first; i < last; i++) {
        const size = Math.abs(values[i]!);
        if (!(size < Number.POSITIVE_INFINITY)) largest = Number.NaN;
        else if (size > largest) largest = size;
      }
      const scale = Number.isNaN(largest) ? 0xff : scaleWord(largest, format, rule);
      scales[row * blocks + b] = scale;
      if (scale === 0xff) continue;
      const inverse = 2 ** (SCALE_BIAS - scale);
      for (let i = first; i < last; i++) elements[i] = encodeDouble(values[i]! * inverse, format);
    }
  return { format: element, elements, scaleFormat: 'ue8m0', scales, block };
}

/** The ue8m0 word of a block whose largest magnitude is `largest`. */
export function scaleWord(largest: number, format: FloatFormat, rule: ScaleRule): number {
  if (largest === 0) return 0;
  const top = maxExponent(format);
  const exponent = {
    // OCP MX 1.0, 6.3: floor(log2(amax)) - emax.
    floor: () => exponentOf(largest) - top,
    ceil: () => ceilLog2(largest) - top,
    // amax + half of the element's last fraction bit may carry into the next binade.
    even: () => exponentOf(largest * (1 + 2 ** -(format.fractionBits + 1) / significand(largest))) - top,
    // The smallest power of two not below amax / max, the quotient in fp32.
    rceil: () => ceilLog2(Math.fround(largest / (maxSignificand(format) * 2 ** (top - format.fractionBits)))),
  }[rule]();
  return Math.min(Math.max(exponent + SCALE_BIAS, 0), 254);
}

/** x / 2^floor(log2 x). */
const significand = (x: number): number => x / 2 ** exponentOf(x);

function ceilLog2(x: number): number {
  if (x === 0) return -SCALE_BIAS;
  const e = exponentOf(x);
  return x === 2 ** e ? e : e + 1;
}

export function checkSize(values: Float32Array, rows: number, k: number, block: number): void {
  if (values.length !== rows * k)
    throw new InputError(`expected ${rows} x ${k} values, got ${values.length}`);
  if (!Number.isInteger(block) || block < 1)
    throw new InputError(`expected a block of at least 1, got ${block}`);
}
