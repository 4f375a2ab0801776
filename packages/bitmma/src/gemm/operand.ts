import { FORMATS, type FormatName, InputError, type Operand, type WordArray } from '@bitmma/core';
import type { StoredFormat } from '../files/dtype.js';
import type { Tensor } from '../files/tensor.js';
import { type CastRule, castWords } from '../numbers/cast.js';

/** What became of an operand between its file and the instruction. */
export interface CastNote {
  readonly operand: string;
  readonly from: StoredFormat;
  readonly to: FormatName;
  readonly rounding: 'RNE' | 'RZ';
  readonly saturate: boolean;
  readonly changed: number;
  readonly overflowed: number;
}

/** A matrix per batch index over one array of words. */
export interface Matrices {
  readonly name: string;
  readonly format: FormatName;
  readonly words: WordArray;
  readonly rows: number;
  readonly cols: number;
  /** Leading dimensions; empty for a plain matrix. */
  readonly batch: readonly number[];
  readonly rowStride: number;
  readonly colStride: number;
  /** Offset of batch index i (row-major over `batch`). */
  readonly offsets: readonly number[];
}

export interface CastOptions {
  readonly rounding?: 'RNE' | 'RZ';
  readonly saturate?: boolean;
}

/**
 * The rule of a cast into an operand's format: RNE, saturating where the format has no infinity. fp32 into tf32 keeps
 * the words by default (the instruction drops the low 13 bits itself), which is RZ.
 */
export function castRule(to: FormatName, options: CastOptions = {}): CastRule {
  const format = FORMATS[to];
  const noInfinity = format.kind === 'float' && format.specials !== 'ieee';
  return {
    rounding: options.rounding ?? (to === 'tf32' ? 'RZ' : 'RNE'),
    saturate: options.saturate ?? noInfinity,
  };
}

/** Casts a tensor's words to `to`, noting what changed; the shape stays. */
export function castTensor(
  tensor: Tensor,
  role: string,
  from: StoredFormat,
  to: FormatName,
  options: CastOptions = {},
): { tensor: Tensor; note: CastNote | null } {
  if (from === to) return { tensor, note: null };
  const rule = castRule(to, options);
  const { words, changed, overflowed } = castWords(tensor.name, tensor.words, from, to, rule);
  return { tensor: { ...tensor, words }, note: { operand: role, from, to, ...rule, changed, overflowed } };
}

/** Views a tensor of two or more dimensions as matrices; `transposed` swaps its last two. */
export function asMatrices(tensor: Tensor, format: FormatName, transposed = false): Matrices {
  const { shape, strides } = tensor;
  if (shape.length < 2)
    throw new InputError(`${tensor.name}: expected a matrix, got the shape [${shape.join(', ')}]`);
  const batch = shape.slice(0, -2);
  let offsets = [0];
  for (const [axis, extent] of batch.entries())
    offsets = offsets.flatMap((base) => Array.from({ length: extent }, (_, i) => base + i * strides[axis]!));
  const [rows, cols] = shape.slice(-2) as [number, number];
  const [rowStride, colStride] = strides.slice(-2) as [number, number];
  const view = transposed
    ? { rows: cols, cols: rows, rowStride: colStride, colStride: rowStride }
    : { rows, cols, rowStride, colStride };
  return { name: tensor.name, format, words: tensor.words, batch, offsets, ...view };
}

/** The contract's operand of one batch index; a single matrix serves every index. */
export const operandAt = (matrices: Matrices, index: number): Operand => ({
  format: matrices.format,
  words: matrices.words,
  offset: matrices.offsets[matrices.offsets.length === 1 ? 0 : index]!,
  rowStride: matrices.rowStride,
  colStride: matrices.colStride,
});

/** The batch dimensions that several operands share; InputError where two disagree. */
export function commonBatch(list: readonly Matrices[]): readonly number[] {
  const first = list.find((matrices) => matrices.batch.length > 0);
  if (first === undefined) return [];
  for (const other of list)
    if (other.batch.length > 0 && other.batch.join() !== first.batch.join())
      throw new InputError(
        `${other.name}: expected batch dimensions [${first.batch.join(', ')}] as ${first.name}, got [${other.batch.join(', ')}]`,
      );
  return first.batch;
}
