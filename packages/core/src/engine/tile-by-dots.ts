import type { MmaOp } from '../datapath/op.js';
import { InputError } from '../errors.js';
import { FORMATS } from '../formats/table.js';
import type { DotBatch, Inputs, Operand, Tile, WordArray } from './engine.js';

const items = (operand: { readonly format: Operand['format'] }) =>
  FORMATS[operand.format].wordBits === 64 ? 2 : 1;

const emptyLike = (words: WordArray, length: number): WordArray =>
  words instanceof Uint8Array
    ? new Uint8Array(length)
    : words instanceof Uint16Array
      ? new Uint16Array(length)
      : new Uint32Array(length);

/** Copies element (row, column) of an operand to element `at` of `into`. */
function pick(operand: Operand, row: number, column: number, into: WordArray, at: number): void {
  const n = items(operand);
  const from = (operand.offset + row * operand.rowStride + column * operand.colStride) * n;
  for (let i = 0; i < n; i++) into[at * n + i] = operand.words[from + i];
}

/**
 * Runs a tile as dot products, range by range of its chain: for engines whose only verb is the dot product. Ranges
 * but the last are whole instructions, so the result of one is the c of the next; `dots` pads the last with +0.
 * @throws InputError where a range but the last is no multiple of the op's K, or splits a scale or metadata word.
 */
export async function tileByDots(
  op: MmaOp,
  inputs: Inputs,
  tile: Tile,
  dots: (batch: DotBatch) => Promise<WordArray>,
): Promise<void> {
  const { m0, m1, n0, n1, chain, c, d } = tile;
  const count = (m1 - m0) * (n1 - n0);
  const cell = (i: number) => [m0 + Math.floor(i / (n1 - n0)), n0 + (i % (n1 - n0))] as const;
  let state: WordArray = emptyLike(d.words, count * items(d));
  if (c)
    for (let i = 0; i < count; i++) {
      const [row, column] = cell(i);
      pick(c, row, column, state, i);
    }
  for (const [r, { k0, k1 }] of chain.entries()) {
    const k = k1 - k0;
    if (k % op.k !== 0 && r !== chain.length - 1)
      throw new InputError(`chain[${r}]: expected a multiple of ${op.k} positions, got ${k}`);
    const a = emptyLike(inputs.a.words, count * k * items(inputs.a));
    const b = emptyLike(inputs.b.words, count * k * items(inputs.b));
    for (let i = 0; i < count; i++) {
      const [row, column] = cell(i);
      for (let j = 0; j < k; j++) {
        pick(inputs.a, row, k0 + j, a, i * k + j);
        pick(inputs.b, k0 + j, column, b, i * k + j);
      }
    }
    state = await dots({
      count,
      k,
      a,
      b,
      c: state,
      ...extras(op, inputs, k0, k, count, cell),
      d: emptyLike(d.words, count * items(d)),
    });
  }
  const n = items(d);
  for (let i = 0; i < count; i++) {
    const [row, column] = cell(i);
    const into = (d.offset + row * d.rowStride + column * d.colStride) * n;
    for (let j = 0; j < n; j++) d.words[into + j] = state[i * n + j];
  }
}

/** Scales and metadata of a range, gathered per case. */
function extras(
  op: MmaOp,
  inputs: Inputs,
  k0: number,
  k: number,
  count: number,
  cell: (i: number) => readonly [number, number],
): Pick<DotBatch, 'scaleA' | 'scaleB' | 'sparse'> {
  const out: { scaleA?: Uint8Array; scaleB?: Uint8Array; sparse?: Uint32Array } = {};
  if (op.scaling && inputs.scaleA && inputs.scaleB) {
    const { block } = op.scaling;
    if (k0 % block !== 0)
      throw new InputError(`chain: expected a start at a multiple of ${block}, got ${k0}`);
    const blocks = Math.ceil(k / block);
    out.scaleA = new Uint8Array(count * blocks);
    out.scaleB = new Uint8Array(count * blocks);
    for (let i = 0; i < count; i++) {
      const [row, column] = cell(i);
      for (let j = 0; j < blocks; j++) {
        pick(inputs.scaleA, row, k0 / block + j, out.scaleA, i * blocks + j);
        pick(inputs.scaleB, k0 / block + j, column, out.scaleB, i * blocks + j);
      }
    }
  }
  if (op.sparsity && inputs.sparse) {
    const positions = 8 * { '1:2': 2, '2:4': 4, '4:8-pairs': 8 }[op.sparsity];
    if (k0 % positions !== 0)
      throw new InputError(`chain: expected a start at a multiple of ${positions}, got ${k0}`);
    const each = Math.ceil(k / positions);
    out.sparse = new Uint32Array(count * each);
    for (let i = 0; i < count; i++)
      for (let j = 0; j < each; j++)
        pick(inputs.sparse, cell(i)[0], k0 / positions + j, out.sparse, i * each + j);
  }
  return out;
}
