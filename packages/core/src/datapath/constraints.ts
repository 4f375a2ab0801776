/** What an op's fields may not say together. Each refusal names one field. */
import { DatapathError } from '../errors.js';
import type { FloatFormat } from '../formats/format.js';
import { FORMATS, type FormatName } from '../formats/table.js';
import type { Datapath, Output } from './datapath.js';
import type { MmaOp } from './op.js';

type Refuse = (field: string, expected: string, got: unknown) => never;

export const refuser =
  (where: string): Refuse =>
  (field, expected, got) => {
    throw new DatapathError(
      `${where}: ${field}: expected ${expected}, got ${typeof got === 'string' ? got : JSON.stringify(got)}`,
      field,
    );
  };

const isPowerOfTwo = (n: number) => (n & (n - 1)) === 0;

function checkOutput(output: Output, ieee: boolean, refuse: Refuse): void {
  const { fractionBits, exponentBits, wordBits } = FORMATS[output.format];
  const { precision, nan } = output;
  if (ieee && precision !== fractionBits)
    refuse(
      'datapath.output.precision',
      `${fractionBits}, IEEE operations keep all of ${output.format}`,
      precision,
    );
  if (precision > fractionBits)
    refuse(
      'datapath.output.precision',
      `at most ${fractionBits}, the fraction bits of ${output.format}`,
      precision,
    );
  if (nan.length !== wordBits / 4)
    refuse('datapath.output.nan', `${wordBits / 4} hex digits, a word of ${output.format}`, nan);
  const word = BigInt(`0x${nan}`);
  const ones = (1n << BigInt(exponentBits)) - 1n;
  const fraction = word & ((1n << BigInt(fractionBits)) - 1n);
  if (((word >> BigInt(fractionBits)) & ones) !== ones || fraction === 0n)
    refuse('datapath.output.nan', `a NaN of ${output.format}`, nan);
}

/** Contradictions within a datapath. Throws DatapathError. */
export function checkDatapath(datapath: Datapath, refuse: Refuse): void {
  if (datapath.kind === 'integer') return;
  checkOutput(datapath.output, datapath.kind === 'pairwise' || datapath.kind === 'sequential-fma', refuse);
  if (datapath.kind === 'pairwise' && !isPowerOfTwo(datapath.block))
    refuse('datapath.block', 'a power of two, the leaves of a balanced tree', datapath.block);
  if (datapath.kind === 'cdna3-odd-even' && datapath.block % 2 !== 0)
    refuse('datapath.block', 'an even number, half of it in each window', datapath.block);
  if (datapath.kind === 'scaled-groups' && datapath.dominantGroup % datapath.group !== 0)
    refuse('datapath.dominantGroup', `a multiple of group = ${datapath.group}`, datapath.dominantGroup);
}

const SCALE_FORMATS: readonly FormatName[] = ['ue8m0', 'ue4m3'];
const CHUNK = { '1:2': 2, '2:4': 4, '4:8-pairs': 8 } as const;

const largestExponent = ({ exponentBits, bias, specials }: FloatFormat) =>
  2 ** exponentBits - (specials === 'ieee' ? 2 : 1) - bias;
const smallestBit = ({ bias, fractionBits }: FloatFormat) => 1 - bias - fractionBits;

/** Whether every finite value of `x` is one of `y`. */
const fits = (x: FloatFormat, y: FloatFormat) =>
  x.fractionBits <= y.fractionBits &&
  largestExponent(x) <= largestExponent(y) &&
  smallestBit(x) >= smallestBit(y);

function checkIntegerOp(op: MmaOp, refuse: Refuse): void {
  for (const side of ['a', 'b'] as const)
    if (op[side] !== 's8' && op[side] !== 'u8') refuse(side, 's8 or u8, the datapath is integer', op[side]);
  for (const side of ['c', 'd'] as const)
    if (op[side] !== 's32') refuse(side, 's32, the datapath is integer', op[side]);
}

function checkFloatOp(op: MmaOp, output: Output, refuse: Refuse): void {
  for (const side of ['a', 'b'] as const) {
    const format = FORMATS[op[side]];
    if (format.kind !== 'float' || SCALE_FORMATS.includes(op[side]))
      refuse(side, 'a signed floating-point format', op[side]);
    if (op.datapath.kind === 'sequential-fma' && !fits(format, FORMATS[output.format]))
      refuse(
        side,
        `a format whose values ${output.format} holds, a fused multiply-add is of one format`,
        op[side],
      );
  }
  if (op.d !== output.format) refuse('d', `${output.format}, the format of datapath.output`, op.d);
  const widens = op.datapath.kind === 'fused-window' && op.c === 'fp16' && op.d === 'fp32';
  if (op.c !== op.d && !widens)
    refuse('c', `${op.d}, the format of d (fp16 with an fp32 d only in a fused-window)`, op.c);
}

function checkScaling({ datapath, scaling, k }: MmaOp, refuse: Refuse): void {
  const scaled = datapath.kind === 'scaled-window' || datapath.kind === 'scaled-groups';
  if (scaled && scaling === null)
    refuse('scaling', `a scale format and block, the datapath is ${datapath.kind}`, null);
  if (!scaled && scaling !== null) refuse('scaling', `none, the datapath is ${datapath.kind}`, scaling);
  if (scaling !== null && k % scaling.block !== 0)
    refuse('scaling.block', `a divisor of k = ${k}`, scaling.block);
  if (datapath.kind !== 'scaled-groups') return;
  for (const field of ['group', 'dominantGroup'] as const)
    if (k % datapath[field] !== 0) refuse(`datapath.${field}`, `a divisor of k = ${k}`, datapath[field]);
}

function checkPositions({ datapath, sparsity, k, shape }: MmaOp, refuse: Refuse): void {
  if (shape.k !== k) refuse('shape.k', `k = ${k}`, shape.k);
  if (datapath.kind === 'split-window' && 2 ** datapath.selectBit >= k)
    refuse('datapath.selectBit', `a bit that some position below k = ${k} has set`, datapath.selectBit);
  if (sparsity === null) return;
  if (datapath.kind === 'split-window' || datapath.kind === 'cdna3-odd-even')
    refuse('sparsity', `none, ${datapath.kind} interleaves dense positions`, sparsity);
  if (k % CHUNK[sparsity] !== 0) refuse('k', `a multiple of ${CHUNK[sparsity]}, the chunk of ${sparsity}`, k);
}

/** Contradictions within an op, its datapath included. Throws DatapathError. */
export function checkOp(op: MmaOp, refuse: Refuse): void {
  checkDatapath(op.datapath, refuse);
  if (op.datapath.kind === 'integer') checkIntegerOp(op, refuse);
  else checkFloatOp(op, op.datapath.output, refuse);
  checkScaling(op, refuse);
  checkPositions(op, refuse);
}
