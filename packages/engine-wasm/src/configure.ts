import { type FloatFormat, FORMATS, type FormatName, type MmaOp } from '@bitmma/core';
import type { Kernel } from './module.js';
import { groupSpread } from './narrow.js';
import { productBits, type Rule } from './rules.js';

/** The module's null, assembly/params.ts. */
const NONE = -0x40000000;
const ROUNDINGS = ['RZ', 'RNE', 'RD', 'RU'];
const SPECIALS = ['ieee', 'nan-only', 'fnuz', 'none'];

const float = (name: FormatName): FloatFormat => {
  const format = FORMATS[name];
  if (format.kind === 'float') return format;
  // Only addends and outputs of integer ops come here; their rule reads none of it.
  return FORMATS.fp32;
};

/** Slot of each position of an instruction: split-window packs its halves one after the other. */
export function slotOrder(op: MmaOp): Int32Array | null {
  const { datapath } = op;
  if (datapath.kind !== 'split-window') return null;
  const slots = new Int32Array(op.k);
  let next = 0;
  for (const bit of [0, 1])
    for (let i = 0; i < op.k; i++) if (((i >> datapath.selectBit) & 1) === bit) slots[i] = next++;
  return slots;
}

/** Slots of the SIMD kernels: cdna3-odd-even packs a block's even positions before its odd ones. */
export function simdSlotOrder(op: MmaOp): Int32Array | null {
  const { datapath } = op;
  if (datapath.kind !== 'cdna3-odd-even') return slotOrder(op);
  const half = Math.min(datapath.block, op.k) / 2;
  return Int32Array.from({ length: op.k }, (_, i) => {
    const inside = i % (2 * half);
    return i - inside + (inside >> 1) + (inside & 1) * half;
  });
}

function firstHalf(op: MmaOp): number {
  const { datapath } = op;
  if (datapath.kind !== 'split-window') return op.k;
  let count = 0;
  for (let i = 0; i < op.k; i++) if (((i >> datapath.selectBit) & 1) === 0) count++;
  return count;
}

/** Numbers of an op that the module's globals of the same name take. */
export function globalsOf(op: MmaOp, rule: Rule): ReadonlyMap<string, number | bigint> {
  const { datapath } = op;
  const values = new Map<string, number | bigint>();
  const output = datapath.kind === 'integer' ? null : datapath.output;
  const out = float(op.d);
  const block = 'block' in datapath ? Math.min(datapath.block, op.k) : op.k;
  for (const [name, value] of Object.entries({
    instruction: op.k,
    block,
    fraction: 'fraction' in datapath ? datapath.fraction : 0,
    narrow: Number(rule.narrow),
    firstHalf: firstHalf(op),
    groupSpread: groupSpread(op),
    scaleBlock: op.scaling?.block ?? 1,
    productBits: productBits(op),
    outExponentBits: out.exponentBits,
    outFractionBits: out.fractionBits,
    precision: output?.precision ?? 0,
    rounding: ROUNDINGS.indexOf(output?.rounding ?? 'RZ'),
    signedUnderflow: Number(output?.underflow === 'signed'),
    saturate: Number(datapath.kind === 'integer' && datapath.overflow === 'saturate'),
  }))
    values.set(name, value);
  const fields = datapath as unknown as Readonly<Record<string, unknown>>;
  for (const name of NULLABLE) values.set(name, typeof fields[name] === 'number' ? fields[name] : NONE);
  for (const name of ROUNDED) values.set(name, ROUNDINGS.indexOf(String(fields[name] ?? 'RZ')));
  for (const name of FLAGS) values.set(name, Number(fields[name] === true));
  values.set('nan', output ? BigInt(`0x${output.nan}`) : 0n);
  return values;
}

const NULLABLE = [
  'floor',
  'zeroAddendExponent',
  'productOverflow',
  'addendFraction',
  'addendReach',
  'sumFraction',
  'normalFraction',
  'mergeFraction',
  'group',
  'dominantGroup',
  'dominantFraction',
  'productFraction',
  'scaleFraction',
  'groupAddendFraction',
  'leaveOut',
];
const ROUNDED = ['alignment', 'addition', 'addendRounding', 'sumRounding', 'normalRounding', 'mergeRounding'];
const FLAGS = ['flushInputs', 'flushResults'];

/** Sets the format of the operand that pack() reads next. */
export function configureOperand(kernel: Kernel, op: MmaOp, side: 'a' | 'b', layout: number): void {
  const format = FORMATS[op[side]];
  const floating = float(op[side]);
  kernel.set('exponentBits', floating.exponentBits);
  kernel.set('fractionBits', floating.fractionBits);
  kernel.set('bias', floating.bias);
  kernel.set('specials', SPECIALS.indexOf(floating.specials));
  kernel.set('dropped', format.kind === 'float' ? format.droppedBits : 0);
  kernel.set('wordBytes', format.wordBits / 8);
  kernel.set('signed', Number(format.kind === 'integer' && format.signed));
  kernel.set('layout', layout);
  if (!op.scaling) return;
  const scale = FORMATS[op.scaling.format];
  kernel.set('scaleExponentBits', scale.kind === 'float' ? scale.exponentBits : 8);
  kernel.set('scaleFractionBits', scale.kind === 'float' ? scale.fractionBits : 0);
  kernel.set('scaleBias', scale.bias);
}
