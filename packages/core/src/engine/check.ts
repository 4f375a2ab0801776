import type { MmaOp, Sparsity } from '../datapath/op.js';
import { InputError } from '../errors.js';
import type { FormatName } from '../formats/table.js';
import { FORMATS } from '../formats/table.js';
import type { DotBatch, Inputs, Operand, Tile, WordArray } from './engine.js';

/** Logical positions that one sparse selector covers. */
export const chunkLength = (sparsity: Sparsity): number =>
  sparsity === '1:2' ? 2 : sparsity === '2:4' ? 4 : 8;

/** Metadata words of k logical positions: eight selectors a word. */
export const sparseWordCount = (sparsity: Sparsity, k: number): number =>
  Math.ceil(k / (8 * chunkLength(sparsity)));

/** Scale words of k positions. */
export const scaleWordCount = (op: MmaOp, k: number): number =>
  op.scaling ? Math.ceil(k / op.scaling.block) : 0;

const bits = (words: WordArray): number => words.BYTES_PER_ELEMENT * 8;

function checkWords(where: string, words: WordArray, format: FormatName, elements: number): void {
  const width = FORMATS[format].wordBits;
  if (bits(words) !== Math.min(width, 32))
    throw new InputError(
      `${where}: expected ${Math.min(width, 32)}-bit array items for ${format}, got ${bits(words)}-bit`,
    );
  const items = elements * (width === 64 ? 2 : 1);
  if (words.length < items)
    throw new InputError(`${where}: expected at least ${items} array items, got ${words.length}`);
}

/** Throws InputError unless the operand has this format and its view of rows x cols lies inside its words. */
export function checkOperand(
  where: string,
  operand: Operand,
  format: FormatName,
  rows: number,
  cols: number,
): void {
  if (operand.format !== format)
    throw new InputError(`${where}: expected format ${format}, got ${operand.format}`);
  const { offset, rowStride, colStride } = operand;
  for (const [name, value] of Object.entries({ offset, rowStride, colStride }))
    if (!Number.isInteger(value)) throw new InputError(`${where}: expected an integer ${name}, got ${value}`);
  if (rows === 0 || cols === 0) return;
  const corners = [
    0,
    (rows - 1) * rowStride,
    (cols - 1) * colStride,
    (rows - 1) * rowStride + (cols - 1) * colStride,
  ];
  const low = offset + Math.min(...corners);
  if (low < 0) throw new InputError(`${where}: expected a view inside its words, got element ${low}`);
  checkWords(where, operand.words, format, offset + Math.max(...corners) + 1);
}

/** The operand that must be there, or must not. */
function required(where: string, wanted: boolean, operand: Operand | undefined): operand is Operand {
  if (wanted && !operand)
    throw new InputError(`${where}: expected an operand for this instruction, got none`);
  if (!wanted && operand)
    throw new InputError(`${where}: expected none for this instruction, got an operand`);
  return operand !== undefined;
}

/** Throws InputError where a GEMM's operands do not fit the op. */
export function checkInputs(op: MmaOp, inputs: Inputs): void {
  const { m, n, k } = inputs;
  for (const [name, value] of Object.entries({ m, n, k }))
    if (!Number.isInteger(value) || value < 0)
      throw new InputError(`${name}: expected a whole number of at least 0, got ${value}`);
  checkOperand('a', inputs.a, op.a, m, k);
  checkOperand('b', inputs.b, op.b, k, n);
  const scales = scaleWordCount(op, k);
  if (required('scaleA', op.scaling !== null, inputs.scaleA))
    checkOperand('scaleA', inputs.scaleA, op.scaling!.format, m, scales);
  if (required('scaleB', op.scaling !== null, inputs.scaleB))
    checkOperand('scaleB', inputs.scaleB, op.scaling!.format, scales, n);
  if (required('sparse', op.sparsity !== null, inputs.sparse))
    checkOperand('sparse', inputs.sparse, 's32', m, sparseWordCount(op.sparsity!, k));
}

/** Throws InputError where a tile does not lie in the inputs or its chain is not made of whole instructions. */
export function checkTile(op: MmaOp, inputs: { m: number; n: number; k: number }, tile: Tile): void {
  const range = (where: string, low: number, high: number, limit: number) => {
    if (!(Number.isInteger(low) && Number.isInteger(high) && 0 <= low && low <= high && high <= limit))
      throw new InputError(`${where}: expected a range inside 0..${limit}, got ${low}..${high}`);
  };
  range('tile rows', tile.m0, tile.m1, inputs.m);
  range('tile columns', tile.n0, tile.n1, inputs.n);
  tile.chain.forEach(({ k0, k1 }, i) => {
    range(`chain range ${i}`, k0, k1, inputs.k);
    const last = i === tile.chain.length - 1;
    if (!last && (k1 - k0) % op.k !== 0)
      throw new InputError(
        `chain range ${i}: expected a multiple of the instruction's K = ${op.k} before the last, got ${k1 - k0}`,
      );
    const unit = op.scaling || op.sparsity ? op.k : 1;
    if (k0 % unit !== 0)
      throw new InputError(`chain range ${i}: expected a start that is a multiple of ${unit}, got ${k0}`);
  });
  // Only the tile's own elements need to lie in the words: d may be a buffer of one tile with a negative offset.
  const own = (operand: Operand): Operand => ({
    ...operand,
    offset: operand.offset + tile.m0 * operand.rowStride + tile.n0 * operand.colStride,
  });
  if (tile.c) checkOperand('c', own(tile.c), op.c, tile.m1 - tile.m0, tile.n1 - tile.n0);
  checkOperand('d', own(tile.d), op.d, tile.m1 - tile.m0, tile.n1 - tile.n0);
}

/** Throws InputError where a batch's arrays do not hold `count` cases of the op. */
export function checkDots(op: MmaOp, batch: DotBatch): void {
  const { count, k } = batch;
  for (const [name, value] of Object.entries({ count, k }))
    if (!Number.isInteger(value) || value < 0)
      throw new InputError(`${name}: expected a whole number of at least 0, got ${value}`);
  checkWords('a', batch.a, op.a, count * k);
  checkWords('b', batch.b, op.b, count * k);
  if (batch.c) checkWords('c', batch.c, op.c, count);
  checkWords('d', batch.d, op.d, count);
  const present = (where: string, wanted: boolean, words: WordArray | undefined, length: number) => {
    if (wanted !== (words !== undefined))
      throw new InputError(
        `${where}: expected ${wanted ? 'words' : 'none'} for this instruction, got ${words ? 'some' : 'none'}`,
      );
    if (words && words.length < length)
      throw new InputError(`${where}: expected at least ${length} words, got ${words.length}`);
  };
  const scales = count * scaleWordCount(op, k);
  present('scaleA', op.scaling !== null, batch.scaleA, scales);
  present('scaleB', op.scaling !== null, batch.scaleB, scales);
  const metadata = op.sparsity ? count * sparseWordCount(op.sparsity, k) : 0;
  present('sparse', op.sparsity !== null, batch.sparse, metadata);
}
