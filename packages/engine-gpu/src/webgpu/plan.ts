import { type Datapath, FORMATS, type FormatName, type MmaOp } from '@bitmma/core';
import { cdna3OddEven } from './datapath/cdna3-odd-even.js';
import { cdna3Window } from './datapath/cdna3-window.js';
import { fusedWindow } from './datapath/fused-window.js';
import { integer, integerLimit } from './datapath/integer.js';
import { lateWindow } from './datapath/late-window.js';
import { pairwise, pairwiseLimit } from './datapath/pairwise.js';
import { scaledGroups, scaledGroupsLimit } from './datapath/scaled-groups.js';
import { scaledWindow, scaledWindowLimit } from './datapath/scaled-window.js';
import { sequentialFma, sequentialFmaLimit } from './datapath/sequential-fma.js';
import { splitWindow, splitWindowLimit } from './datapath/split-window.js';
import { lateAddendBits } from './late-addend.js';
import { blockOf, type StepSource } from './step.js';
import { exponentRange, floatFormat, SIGNIFICAND_BITS } from './wgsl/decode.js';
import { windowBits } from './window.js';

/** A signed two-limb sum: 62 bits of magnitude, one of sign, one spare. */
const SUM_BITS = 63;

/** The step of an op the engine supports. */
export function stepSource(op: MmaOp): StepSource {
  const datapath = op.datapath;
  switch (datapath.kind) {
    case 'fused-window':
      return fusedWindow(op, datapath);
    case 'late-window':
      return lateWindow(op, datapath);
    case 'split-window':
      return splitWindow(op, datapath);
    case 'cdna3-window':
      return cdna3Window(op, datapath);
    case 'cdna3-odd-even':
      return cdna3OddEven(op, datapath);
    case 'pairwise':
      return pairwise(op, datapath);
    case 'sequential-fma':
      return sequentialFma(op, datapath);
    case 'integer':
      return integer(op, datapath);
    case 'scaled-window':
      return scaledWindow(op, datapath);
    case 'scaled-groups':
      return scaledGroups(op, datapath);
    case 'exact':
      throw new RangeError('expected a supported datapath, got exact');
  }
}

function elementLimit(op: MmaOp): string | null {
  const kind = op.datapath.kind;
  for (const name of [op.a, op.b] as FormatName[]) {
    if (kind === 'integer') {
      if (name !== 's8' && name !== 'u8') return `integer sums take s8 and u8, not ${name}`;
      continue;
    }
    const format = floatFormat(name);
    if (format === null || !format.signed) return `${name} is no floating-point element format`;
    if (name === 'fp64') return 'fp64 significands do not fit a 32-bit limb';
    if (kind === 'sequential-fma') continue;
    if (format.fractionBits + 1 > (kind === 'pairwise' ? 16 : SIGNIFICAND_BITS))
      return `${name} significands are too wide for one 32-bit product`;
    const [emin, emax] = exponentRange(format);
    if (emin < -126 || emax > 127) return `${name} exponents exceed fp32's`;
  }
  return null;
}

function addendLimit(op: MmaOp): string | null {
  if (op.datapath.kind === 'integer')
    return op.c === 's32' && op.d === 's32' ? null : 'integer sums end in s32';
  const { format, precision } = op.datapath.output;
  if (format === 'fp64') return 'an exact fp64 product needs 106 bits, two 32-bit limbs hold 64';
  if (op.d !== format) return `d is ${op.d} where the datapath ends in ${format}`;
  if (precision > FORMATS[format].fractionBits) return `${precision} fraction bits exceed ${format}'s`;
  if (op.c === op.d || (op.c === 'fp16' && op.d === 'fp32')) return null;
  return `an addend in ${op.c} cannot be widened exactly to ${op.d}`;
}

function stepLimit(op: MmaOp, datapath: Datapath): string | null {
  const ragged = (block: number): string | null =>
    op.k % blockOf(op, block) === 0 ? null : `K = ${op.k} is not a multiple of its block of ${block}`;
  const window = (fraction: number, terms: number): string | null =>
    windowBits(fraction, terms) > SUM_BITS
      ? `a window of ${fraction} fraction bits over ${terms} terms needs ${windowBits(fraction, terms)} bits, two limbs hold ${SUM_BITS}`
      : null;
  switch (datapath.kind) {
    case 'fused-window':
    case 'late-window':
      return ragged(datapath.block) ?? window(datapath.fraction, datapath.block);
    case 'split-window':
      return splitWindowLimit(op, datapath) ?? window(datapath.fraction, datapath.block);
    case 'cdna3-window':
    case 'cdna3-odd-even': {
      if (datapath.kind === 'cdna3-odd-even' && blockOf(op, datapath.block) % 2 !== 0)
        return `a block of ${datapath.block} has no even and odd halves`;
      const fraction = datapath.kind === 'cdna3-odd-even' ? datapath.mergeFraction : datapath.fraction;
      const bits = Math.max(
        lateAddendBits(datapath, fraction, datapath.block),
        windowBits(datapath.fraction, datapath.block),
      );
      return (
        ragged(datapath.block) ??
        (bits > SUM_BITS ? `its sums need ${bits} bits, two limbs hold ${SUM_BITS}` : null)
      );
    }
    case 'pairwise':
      return ragged(datapath.block) ?? pairwiseLimit(op, datapath);
    case 'sequential-fma':
      return sequentialFmaLimit(op, datapath);
    case 'integer':
      return integerLimit(op);
    case 'scaled-window':
      return scaledWindowLimit(op) ?? window(datapath.fraction, op.k);
    case 'scaled-groups': {
      const fraction = Math.max(datapath.productFraction, datapath.dominantFraction);
      return scaledGroupsLimit(op, datapath) ?? window(fraction + 2, op.k);
    }
    case 'exact':
      return 'an exact sum of products and an fp32 addend spans several hundred bits, two 32-bit limbs hold 64';
  }
}

/** Why this engine cannot compute an op, in one sentence; null: it can. */
export function unsupportedReason(op: MmaOp): string | null {
  const scaled = op.datapath.kind === 'scaled-window' || op.datapath.kind === 'scaled-groups';
  if (!scaled && op.scaling !== null) return `${op.datapath.kind} takes no scales`;
  return elementLimit(op) ?? addendLimit(op) ?? stepLimit(op, op.datapath);
}
