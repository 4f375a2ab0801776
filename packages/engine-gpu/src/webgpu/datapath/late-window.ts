import type { LateWindow, MmaOp } from '@bitmma/core';
import { blockOf, positionFunction, rowFunction, SPECIAL, type StepSource } from '../step.js';
import { addFunctions } from '../wgsl/ieee.js';
import { wordFunctions } from '../wgsl/round.js';
import { WIDE } from '../wgsl/wide.js';
import { finishRows } from '../window.js';
import { fusedSource } from './fused-window.js';

/** Numerics 4.2: the window of the products alone, rounded, then c as one IEEE addition. */
export function lateWindow(op: MmaOp, datapath: LateWindow): StepSource {
  const terms = blockOf(op, datapath.block);
  const fused = fusedSource(op, { ...datapath, zeroAddendExponent: null, productOverflow: null }, terms);
  const { format } = datapath.output;
  return {
    length: terms,
    together: true,
    functions: `${WIDE}${wordFunctions(datapath.output)}${positionFunction(null)}${SPECIAL}${fused.functions}
${addFunctions('last', { format, rounding: datapath.addition, flushResults: false })}${rowFunction('lastAdd', ['u32', 'u32'])}`,
    step: (rows) => `${rows.indices.map((i) => `let c${i} = acc${i}; acc${i} = vec4u(0u);`).join('\n    ')}
    ${fused.step(rows, '0u')}
    ${finishRows(rows, (i) => `lastAddRow(acc${i}, c${i})`)}`,
  };
}
