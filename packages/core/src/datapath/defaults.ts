/** Which instruction stands for a device where only formats are given: the one that its libraries use. */
import type { FormatName } from '../formats/table.js';
import { catalog } from './catalog/index.js';
import { deepFreeze } from './freeze.js';
import type { MmaOp, Scaling } from './op.js';

export interface DefaultInstruction {
  readonly a: FormatName;
  readonly b: FormatName;
  readonly accumulate: FormatName;
  /** Scale format of a block-scaled instruction; null: unscaled. */
  readonly scale: Scaling['format'] | null;
  readonly instruction: string;
}

/**
 * Rank of an instruction among those of the same formats, highest first: tcgen05 (sm_100), wgmma (sm_90), else
 * mma.sync of the largest K; MFMA: one block, the largest K, which is the 16x16 form. mxf4 with ue8m0 is kind::mxf4,
 * not kind::mxf4nvf4. Saturating and sparse forms are never the default, nor is one that widens c.
 */
function rank(op: MmaOp): readonly number[] {
  const { instruction, shape } = op;
  if (instruction.startsWith('v_mfma')) return [shape.blocks === 1 ? 1 : 0, op.k];
  const family = instruction.startsWith('tcgen05') ? 2 : instruction.startsWith('wgmma') ? 1 : 0;
  const kind = instruction.includes('kind::mxf4.') ? 1 : 0;
  return [family, kind, op.k, shape.m];
}

const eligible = (op: MmaOp) =>
  op.sparsity === null &&
  op.c === op.d &&
  !(op.datapath.kind === 'integer' && op.datapath.overflow === 'saturate');

function above(x: MmaOp, y: MmaOp): boolean {
  const [rx, ry] = [rank(x), rank(y)];
  const i = rx.findIndex((value, at) => value !== ry[at]);
  return i >= 0 && rx[i]! > ry[i]!;
}

function defaultsOf(ops: readonly MmaOp[]): DefaultInstruction[] {
  const best = new Map<string, MmaOp>();
  for (const op of ops.filter(eligible)) {
    const key = [op.a, op.b, op.d, op.scaling?.format ?? ''].join();
    const current = best.get(key);
    if (current === undefined || above(op, current)) best.set(key, op);
  }
  return [...best.values()].map((op) => ({
    a: op.a,
    b: op.b,
    accumulate: op.d,
    scale: op.scaling?.format ?? null,
    instruction: op.instruction,
  }));
}

/** By device id. */
export const DEFAULTS: ReadonlyMap<string, readonly DefaultInstruction[]> = new Map(
  [...new Set(catalog().map((op) => op.device))].map((device) => [
    device,
    deepFreeze(defaultsOf(catalog().filter((op) => op.device === device))),
  ]),
);
