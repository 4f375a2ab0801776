/** One column of a table of numerical features, in the manner of Table 3 of the CDNA study, from an op's data. */
import type { Datapath, MmaOp } from '@bitmma/core';
import { productRange, signatureOf } from '../signature.js';
import { normalForm } from '../space/normal-form.js';

export const ROWS = [
  'In',
  'Prd. Align.',
  'N_FMA',
  'e_c=0',
  'c late/early',
  'align(c, S)',
  'out. round.',
  'e_min^lim',
  '|p|-overflow',
] as const;

export type RowName = (typeof ROWS)[number];
export type Cells = Readonly<Record<RowName, string>>;

const NONE = '-';
const ROUND: Record<string, string> = { RZ: 'RTZ', RNE: 'RNE', RD: 'RD', RU: 'RU' };

/** (integer bits, fraction bits) of an aligned product: an unnormalised product is below 4. */
function alignment(datapath: Datapath): string {
  switch (datapath.kind) {
    case 'exact':
      return '∞';
    case 'pairwise':
      return `rounded (${datapath.output.rounding})`;
    case 'sequential-fma':
      return 'fused';
    case 'scaled-groups':
      return `groups (${datapath.productFraction}, scales ${datapath.scaleFraction})`;
    case 'integer':
      return 'integer';
    default:
      return `(2,${datapath.fraction})`;
  }
}

function block(op: MmaOp): string {
  const { datapath, k } = op;
  switch (datapath.kind) {
    case 'cdna3-odd-even':
      return `${Math.min(datapath.block, k) / 2} odd-even`;
    case 'pairwise':
      return `${Math.min(datapath.block, k)} pairwise`;
    case 'split-window':
      return `${Math.min(datapath.block, k / 2)}+${Math.min(datapath.block, k / 2)} by bit ${datapath.selectBit} of k`;
    case 'sequential-fma':
      return '1';
    case 'integer':
    case 'scaled-window':
    case 'scaled-groups':
      return String(k);
    default:
      return String(Math.min(datapath.block, k));
  }
}

function zeroAddend(datapath: Datapath): string {
  const z = 'zeroAddendExponent' in datapath ? datapath.zeroAddendExponent : null;
  return z === null ? '-∞' : String(z);
}

function addend(datapath: Datapath): string {
  switch (datapath.kind) {
    case 'fused-window':
    case 'exact':
    case 'scaled-window':
    case 'scaled-groups':
    case 'integer':
      return 'early';
    case 'sequential-fma':
      return 'first';
    default:
      return 'late';
  }
}

function addendAlignment(datapath: Datapath): string {
  if (datapath.kind === 'cdna3-window' || datapath.kind === 'cdna3-odd-even')
    return datapath.addendRounding === datapath.sumRounding
      ? `(${datapath.addendFraction},${datapath.sumFraction},${datapath.sumRounding})`
      : `(${datapath.addendFraction} ${datapath.addendRounding},${datapath.sumFraction} ${datapath.sumRounding})`;
  if (datapath.kind === 'late-window' || datapath.kind === 'split-window') return `IEEE ${datapath.addition}`;
  return datapath.kind === 'pairwise' ? `IEEE ${datapath.output.rounding}` : NONE;
}

/** The least exponent that alignment uses, where operands of these formats can lie below it. */
function leastExponent(op: MmaOp): string {
  const { datapath } = op;
  const { emin } = productRange(op);
  const bounds = [
    'floor' in datapath ? datapath.floor : null,
    'zeroAddendExponent' in datapath ? datapath.zeroAddendExponent : null,
  ].filter((bound): bound is number => bound !== null && bound > emin);
  if (bounds.length === 0) return NONE;
  const canonical = normalForm(signatureOf(op), datapath).datapath as {
    floor?: number | null;
    zeroAddendExponent?: number | null;
  };
  return (canonical.floor ?? null) === null && (canonical.zeroAddendExponent ?? null) === null
    ? NONE
    : String(Math.max(...bounds));
}

function rounding(datapath: Datapath): string {
  if (datapath.kind === 'integer') return datapath.overflow;
  const { output } = datapath;
  const full = { fp16: 10, fp32: 23, fp64: 52 }[output.format];
  return `${ROUND[output.rounding]}${output.precision < full ? ` to ${output.precision} bits` : ''}`;
}

/** Every cell of an op's column. */
export function cellsOf(op: MmaOp): Cells {
  const { datapath } = op;
  const overflow = 'productOverflow' in datapath ? datapath.productOverflow : null;
  return {
    In: op.a === op.b ? op.a : `${op.a} × ${op.b}`,
    'Prd. Align.': alignment(datapath),
    N_FMA: block(op),
    'e_c=0': datapath.kind === 'integer' ? NONE : zeroAddend(datapath),
    'c late/early': addend(datapath),
    'align(c, S)': addendAlignment(datapath),
    'out. round.': rounding(datapath),
    'e_min^lim': leastExponent(op),
    '|p|-overflow': overflow === null ? 'No' : `2^${overflow}`,
  };
}
