import type { Datapath, MmaOp } from '@bitmma/core';

/** An op's arithmetic in the columns of a table. */
export interface OpSummary {
  readonly device: string;
  readonly instruction: string;
  readonly family: string;
  /** Products of one block step; null where the family has no block. */
  readonly n: number | null;
  /** Fraction bits that alignment keeps; null where nothing is aligned. */
  readonly f: number | null;
  /** Rounding of the result, with the fraction bits kept where fewer than the format's. */
  readonly rounding: string;
  readonly evidence: string;
}

export function summarise(op: MmaOp): OpSummary {
  const { datapath } = op;
  return {
    device: op.device,
    instruction: op.instruction,
    family: datapath.kind,
    n: blockOf(datapath, op.k),
    f: fractionOf(datapath),
    rounding: roundingOf(datapath),
    evidence: op.evidence.level,
  };
}

function blockOf(datapath: Datapath, k: number): number | null {
  if ('block' in datapath) return Math.min(datapath.block, k);
  if (datapath.kind === 'scaled-groups') return datapath.group;
  return datapath.kind === 'scaled-window' ? k : null;
}

function fractionOf(datapath: Datapath): number | null {
  if ('fraction' in datapath) return datapath.fraction;
  return datapath.kind === 'scaled-groups' ? datapath.productFraction : null;
}

const FULL = { fp16: 10, fp32: 23, fp64: 52 } as const;

function roundingOf(datapath: Datapath): string {
  if (!('output' in datapath)) return datapath.kind === 'integer' ? datapath.overflow : '';
  const { format, precision, rounding } = datapath.output;
  return precision === FULL[format] ? rounding : `${rounding} to ${precision} bits`;
}

/** `fused-window, N = 16, F = 25, RZ`. */
export function describeDatapath(op: MmaOp): string {
  const { family, n, f, rounding } = summarise(op);
  return [family, n === null ? '' : `N = ${n}`, f === null ? '' : `F = ${f}`, rounding]
    .filter(Boolean)
    .join(', ');
}
