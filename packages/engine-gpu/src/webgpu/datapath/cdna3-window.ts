import type { Cdna3Window, MmaOp } from '@bitmma/core';
import { lateAddendFunctions } from '../late-addend.js';
import { blockOf, positionFunction, rowFunction, SPECIAL, type StepSource } from '../step.js';
import { CODE_BIAS, decodeFunction, NONZERO_SUM } from '../wgsl/decode.js';
import { wordFunctions } from '../wgsl/round.js';
import { scaleFunction, WIDE } from '../wgsl/wide.js';
import {
  exponentPass,
  finishRows,
  overflowSource,
  planWindow,
  sumPass,
  wideTermFunction,
} from '../window.js';

/** Numerics 4.5: a window of the products alone, then c by CDNA3's own rule. */
export function cdna3Window(op: MmaOp, datapath: Cdna3Window): StepSource {
  const terms = blockOf(op, datapath.block);
  const plan = planWindow(op.a, op.b, datapath.fraction);
  const overflow = overflowSource(datapath.productOverflow, op.a, op.b, plan, terms);
  const floor = datapath.floor === null ? 0 : 2 * CODE_BIAS + datapath.floor;
  return {
    length: terms,
    together: true,
    functions: `${WIDE}${wordFunctions(datapath.output)}${positionFunction(null)}${SPECIAL}
${decodeFunction('decodeA', { format: op.a, prescale: plan.prescaleA, fixed: false })}
${decodeFunction('decodeB', { format: op.b, prescale: plan.prescaleB, fixed: false })}
${scaleFunction('alignTerm', datapath.alignment)}
${wideTermFunction(op.a, op.b, datapath.fraction)}
${overflow.functions}
${lateAddendFunctions(datapath, datapath.fraction, datapath.output)}
${rowFunction('lateAddend', ['u32', 'u32', 'u32', 'u32', 'u32', 'u32'])}`,
    step: (rows) => `${exponentPass(rows, terms, '0u')}
    ${overflow.check(rows, '0u')}
    ${rows.indices.map((i) => `let w${i} = max(p${i}, vec4u(${floor}u));`).join('\n    ')}
    ${sumPass(rows, plan, datapath.alignment, terms, '0u')}
    ${finishRows(
      rows,
      (i) =>
        `lateAddendRow(l${i}, h${i}, w${i}, select(vec4u(0u), vec4u(1u), p${i} >= vec4u(${NONZERO_SUM}u)), x${i}, acc${i})`,
    )}`,
  };
}
