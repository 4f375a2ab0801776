import { type Datapath, FORMATS, type MmaOp } from '@bitmma/core';
import { fitsNarrow } from './narrow.js';

/** How packed elements lie in module memory; the numbers are those of assembly/pack.ts. */
export const LAYOUT = { elements: 0, floats: 1, doubles: 2, shorts: 3 } as const;
export type Layout = (typeof LAYOUT)[keyof typeof LAYOUT];

/** Bytes of one packed element. */
export const layoutBytes = (layout: Layout): number => (layout === LAYOUT.shorts ? 2 : 8);

/** Chain functions of the scalar path; the numbers are those of assembly/chain.ts. */
const RULE: Readonly<Record<Datapath['kind'], number>> = {
  'fused-window': 0,
  'late-window': 1,
  'split-window': 2,
  exact: 3,
  pairwise: 4,
  'cdna3-window': 5,
  'cdna3-odd-even': 6,
  'sequential-fma': 7,
  integer: 8,
  'scaled-window': 9,
  'scaled-groups': 10,
};
const PAIRWISE_NATIVE = 11;
const SEQUENTIAL_NATIVE = 12;
const SEQUENTIAL_64 = 13;
const SEQUENTIAL_64_NATIVE = 14;

export interface Rule {
  readonly rule: number;
  readonly layout: Layout;
  /** Every window sum of the op fits 62 bits. */
  readonly narrow: boolean;
}

/** The scalar path's rule for an op, or the reason why there is none. */
export function ruleOf(op: MmaOp): Rule | string {
  const { datapath } = op;
  const rule = RULE[datapath.kind];
  if (datapath.kind === 'integer') return { rule, layout: LAYOUT.shorts, narrow: true };
  const { output } = datapath;
  if (op.sparsity && (datapath.kind === 'sequential-fma' || datapath.kind === 'pairwise'))
    return `sparse ${datapath.kind}, whose IEEE operations have no absent terms`;
  const ieee32 = output.format === 'fp32' && output.rounding === 'RNE';
  if (datapath.kind === 'sequential-fma') {
    const flushes = datapath.flushInputs || datapath.flushResults;
    if (op.a === 'fp64' || op.b === 'fp64') {
      // A job has at most 1024 positions, unless an instruction has more.
      const ieee64 = output.format === 'fp64' && output.rounding === 'RNE' && output.precision === 52;
      const native = ieee64 && !flushes && op.k <= 1024;
      const fma64 = native ? SEQUENTIAL_64_NATIVE : SEQUENTIAL_64;
      return { rule: fma64, layout: LAYOUT.doubles, narrow: true };
    }
    if (ieee32 && !flushes) return { rule: SEQUENTIAL_NATIVE, layout: LAYOUT.floats, narrow: true };
    return { rule, layout: LAYOUT.elements, narrow: true };
  }
  if (op.a === 'fp64' || op.b === 'fp64') return `fp64 operands only in sequential-fma, got ${datapath.kind}`;
  if (datapath.kind === 'pairwise' && ieee32)
    return { rule: PAIRWISE_NATIVE, layout: LAYOUT.floats, narrow: true };
  const narrow = fitsNarrow(op);
  return { rule, layout: LAYOUT.elements, narrow };
}

/** Fraction bits of a product, its scales included: lsb = e - this. */
export function productBits(op: MmaOp): number {
  const bits = (name: MmaOp['a']) => {
    const format = FORMATS[name];
    return format.kind === 'float' ? format.fractionBits : 0;
  };
  return bits(op.a) + bits(op.b) + (op.scaling ? 2 * bits(op.scaling.format) : 0);
}
