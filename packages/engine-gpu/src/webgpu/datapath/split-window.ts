import type { MmaOp, SplitWindow } from '@bitmma/core';
import { positionFunction, rowFunction, SPECIAL, type StepSource } from '../step.js';
import { addFunctions } from '../wgsl/ieee.js';
import { wordFunctions } from '../wgsl/round.js';
import { WIDE } from '../wgsl/wide.js';
import { finishRows } from '../window.js';
import { fusedSource } from './fused-window.js';

/**
 * Numerics section 7: positions with the select bit clear form one fused window from +0, those with it set a second
 * one from its result; the instruction's c comes last as one IEEE addition.
 */
export function splitWindow(op: MmaOp, datapath: SplitWindow): StepSource {
  const fused = fusedSource(op, { ...datapath, zeroAddendExponent: null, productOverflow: null }, op.k / 2);
  const { format } = datapath.output;
  return {
    length: op.k,
    together: true,
    functions: `${WIDE}${wordFunctions(datapath.output)}${positionFunction(datapath.selectBit)}${SPECIAL}${fused.functions}
${addFunctions('last', { format, rounding: datapath.addition, flushResults: false })}${rowFunction('lastAdd', ['u32', 'u32'])}`,
    step: (rows) => `${rows.indices.map((i) => `let c${i} = acc${i}; acc${i} = vec4u(0u);`).join('\n    ')}
    for (var part = 0u; part < 2u; part++) {
    ${fused.step(rows, 'part')}
    }
    ${finishRows(rows, (i) => `lastAddRow(acc${i}, c${i})`)}`,
  };
}

/** Why this engine cannot run a split window, or null. */
export function splitWindowLimit(op: MmaOp, datapath: SplitWindow): string | null {
  const period = 2 ** (datapath.selectBit + 1);
  if (op.k % period !== 0)
    return `K = ${op.k} is not a multiple of ${period}, the period of bit ${datapath.selectBit} of k`;
  if (op.k / 2 > datapath.block) return `a half of K = ${op.k} is longer than the block of ${datapath.block}`;
  return null;
}
