import type { Cdna3Window, MmaOp } from '@bitmma/core';
import { lateAddendFunctions } from '../late-addend.js';
import { SPECIAL, type StepSource, blockOf, positionFunction } from '../step.js';
import { CODE_BIAS, NONZERO_SUM, decodeFunction } from '../wgsl/decode.js';
import { wordFunctions } from '../wgsl/round.js';
import { WIDE, scaleFunction } from '../wgsl/wide.js';
import { exponentPass, finishRows, overflowSource, planWindow, sumPass, wideTermFunction } from '../window.js';

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
${lateAddendFunctions(datapath, datapath.fraction, datapath.output)}`,
    step: (rows) => `${exponentPass(rows, terms, '0u')}
    ${overflow.check(rows, '0u')}
    ${rows.indices.map((i) => `let w${i} = max(p${i}, vec4u(${floor}u));`).join('\n    ')}
    ${sumPass(rows, plan, datapath.alignment, terms, '0u')}
    ${finishRows(
      rows,
      (i, l) =>
        `lateAddend(vec2u(l${i}.${l}, h${i}.${l}), w${i}.${l}, p${i}.${l} >= ${NONZERO_SUM}u, x${i}.${l}, acc${i}.${l})`,
    )}`,
  };
}
