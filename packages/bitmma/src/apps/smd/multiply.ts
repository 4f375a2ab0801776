import { type Engine, FORMATS, type MmaOp } from '@bitmma/core';
import { allocateWords, type FloatFormat } from '@bitmma/core/formats';
import { encodeDouble } from '../../numbers/encode-double.js';
import { asSingles, deviceProduct } from '../product.js';

/** X Y^T of lines: x is m x k, y is n x k, both row by row. */
export type Multiply = (
  x: Float64Array,
  m: number,
  y: Float64Array,
  n: number,
  k: number,
) => Promise<Float64Array>;

/** The product in fp64, summed in order of k. */
export const multiplyDouble: Multiply = async (x, m, y, n, k) => {
  const out = new Float64Array(m * n);
  for (let i = 0; i < m; i++)
    for (let j = 0; j < n; j++) {
      let sum = 0;
      for (let p = 0; p < k; p++) sum += x[i * k + p]! * y[j * k + p]!;
      out[i * n + j] = sum;
    }
  return out;
};

/** The product on an emulated device: operands rounded to its format, nearest even, fp32 out. */
export function multiplyOn(op: MmaOp, engine: Engine, signal?: AbortSignal): Multiply {
  const format = FORMATS[op.a] as FloatFormat;
  const words = (values: Float64Array, k: number) => {
    const out = allocateWords(format.wordBits, values.length, true);
    for (const [i, value] of values.entries()) out[i] = encodeDouble(value, format);
    return { words: out, offset: 0, stride: k };
  };
  return async (x, m, y, n, k) =>
    Float64Array.from(
      asSingles(await deviceProduct({ op, engine, m, n, k, a: words(x, k), b: words(y, k), signal })),
    );
}
