import { FORMATS, InputError, type MmaOp } from '@bitmma/core';
import { allocateWords, type FloatFormat, maxExponent, maxSignificand } from '@bitmma/core/formats';
import { settleFormat } from '../../files/dtype.js';
import { loadTensor } from '../../files/open.js';
import type { Tensor } from '../../files/tensor.js';
import { encodeDouble } from '../../numbers/encode-double.js';
import { toDoubles } from '../../numbers/value.js';
import { Doubles } from '../random.js';

/** Operands of one study: lines of k doubles; a gives the rows of the result, b its columns. */
export interface Dataset {
  readonly name: string;
  readonly k: number;
  readonly a: Float64Array;
  readonly b: Float64Array;
  readonly rows: number;
  readonly columns: number;
}

/** Seeded N(0, 1) lines, or their magnitudes. */
export function gaussian(
  name: string,
  shape: { readonly rows: number; readonly columns: number; readonly k: number },
  options: { readonly seed: number; readonly magnitudes: boolean },
): Dataset {
  const { rows, columns, k } = shape;
  const lines = (side: string, count: number): Float64Array => {
    const values = new Float64Array(count * k);
    for (let line = 0; line < count; line++) {
      const random = new Doubles(options.seed, `accumulation ${side}`, line);
      for (let p = 0; p < k; p++) {
        const value = random.normal();
        values[line * k + p] = options.magnitudes ? Math.abs(value) : value;
      }
    }
    return values;
  };
  return { name, k, a: lines('A', rows), b: lines('B', columns), rows, columns };
}

/** Matrices of files: A is M x K, B is K x N, or N x K with `transB`, torch's weight layout. */
export async function fromFiles(
  name: string,
  aFile: string,
  bFile: string,
  options: { readonly transB: boolean; readonly signal?: AbortSignal | undefined },
): Promise<Dataset> {
  const read = { ...(options.signal !== undefined && { signal: options.signal }) };
  const a = asLines(await loadTensor(aFile, undefined, read), false);
  const b = asLines(await loadTensor(bFile, undefined, read), !options.transB);
  if (a.k !== b.k) throw new InputError(`${aFile} and ${bFile}: expected one K, got ${a.k} and ${b.k}`);
  return { name, k: a.k, a: a.values, b: b.values, rows: a.lines, columns: b.lines };
}

/** Lines along K: the rows, or with `turn` the columns. */
function asLines(tensor: Tensor, turn: boolean): { values: Float64Array; lines: number; k: number } {
  if (tensor.shape.length !== 2)
    throw new InputError(`${tensor.name}: expected a matrix, got the shape [${tensor.shape.join(', ')}]`);
  const doubles = toDoubles(tensor.words, settleFormat(tensor.name, tensor.dtype, undefined));
  const [extents, strides] = turn
    ? [[...tensor.shape].reverse(), [...tensor.strides].reverse()]
    : [tensor.shape, tensor.strides];
  const [lines, k] = extents as [number, number];
  const [lineStride, kStride] = strides as [number, number];
  const values = new Float64Array(lines * k);
  for (let line = 0; line < lines; line++)
    for (let p = 0; p < k; p++) values[line * k + p] = doubles[line * lineStride + p * kStride]!;
  return { values, lines, k };
}

/** The largest finite magnitude of an FP8 format: 448 for e4m3, 240 for e4m3fnuz. */
export function largestOf(name: MmaOp['a']): number {
  const format = FORMATS[name] as FloatFormat;
  return maxSignificand(format) * 2 ** (maxExponent(format) - format.fractionBits);
}

/** Words and values of a whole tensor quantised with one scale: its largest magnitude becomes the format's. */
export function quantise(
  values: Float64Array,
  name: MmaOp['a'],
): { readonly words: Uint8Array; readonly doubles: Float64Array } {
  const format = FORMATS[name] as FloatFormat;
  const largest = values.reduce((best, value) => Math.max(best, Math.abs(value)), 0);
  const scale = largest === 0 ? 1 : largestOf(name) / largest;
  const words = allocateWords(8, values.length, true) as Uint8Array;
  for (const [i, value] of values.entries()) words[i] = encodeDouble(value * scale, format);
  return { words, doubles: toDoubles(words, name) };
}
