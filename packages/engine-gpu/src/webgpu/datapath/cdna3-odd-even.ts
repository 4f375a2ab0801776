import type { Cdna3OddEven, MmaOp } from '@bitmma/core';
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

/**
 * Numerics 4.6: even and odd positions form two windows with exponents of their own; both sums are cut to
 * 2^(E - mergeFraction), E the larger, and added; then c by CDNA3's rule over that grid.
 */
export function cdna3OddEven(op: MmaOp, datapath: Cdna3OddEven): StepSource {
  const terms = blockOf(op, datapath.block);
  const half = terms / 2;
  const plan = planWindow(op.a, op.b, datapath.fraction);
  const overflow = overflowSource(datapath.productOverflow, op.a, op.b, plan, half);
  const floor = datapath.floor === null ? 0 : 2 * CODE_BIAS + datapath.floor;
  const window = (rows: Parameters<StepSource['step']>[0], part: string): string => `{
    ${exponentPass(rows, half, part)}
    ${overflow.check(rows, part)}
    ${rows.indices.map((i) => `let w${i} = max(p${i}, vec4u(${floor}u));`).join('\n    ')}
    ${sumPass(rows, plan, datapath.alignment, half, part)}
    ${rows.indices
      .map(
        (i) => `if (part == 0u) {
      low${i} = l${i}; high${i} = h${i}; exponent${i} = select(vec4u(0u), w${i}, p${i} >= vec4u(${NONZERO_SUM}u)); classes${i} = x${i};
    } else {
      ${finishRows(
        { ...rows, indices: [i] },
        (row) =>
          `mergeRow(low${row}, high${row}, exponent${row}, l${row}, h${row}, select(vec4u(0u), w${row}, p${row} >= vec4u(${NONZERO_SUM}u)), classes${row} | x${row}, acc${row})`,
      )}
    }`,
      )
      .join('\n    ')}
    }`;
  return {
    length: terms,
    together: true,
    functions: `${WIDE}${wordFunctions(datapath.output)}${positionFunction(0)}${SPECIAL}
${decodeFunction('decodeA', { format: op.a, prescale: plan.prescaleA, fixed: false })}
${decodeFunction('decodeB', { format: op.b, prescale: plan.prescaleB, fixed: false })}
${scaleFunction('alignTerm', datapath.alignment)}
${wideTermFunction(op.a, op.b, datapath.fraction)}
${overflow.functions}
${lateAddendFunctions(datapath, datapath.mergeFraction, datapath.output)}
${scaleFunction('cutHalf', datapath.mergeRounding)}
// An exponent of 0: that half has no nonzero product and its sum is 0.
fn merge(low0: u32, high0: u32, e0: u32, low1: u32, high1: u32, e1: u32, classes: u32, c: u32) -> u32 {
  let e = max(e0, e1);
  let up = ${datapath.mergeFraction - datapath.fraction};
  let sum = add64(
    select(vec2u(0u, 0u), cutHalf(vec2u(low0, high0), i32(e0) - i32(e) + up), e0 != 0u),
    select(vec2u(0u, 0u), cutHalf(vec2u(low1, high1), i32(e1) - i32(e) + up), e1 != 0u));
  return lateAddend(sum.x, sum.y, e, e, classes, c);
}
${rowFunction('merge', ['u32', 'u32', 'u32', 'u32', 'u32', 'u32', 'u32', 'u32'])}`,
    step: (
      rows,
    ) => `${rows.indices.map((i) => `var low${i} = vec4u(0u); var high${i} = vec4u(0u); var exponent${i} = vec4u(0u); var classes${i} = vec4u(0u);`).join('\n    ')}
    for (var part = 0u; part < 2u; part++) ${window(rows, 'part')}`,
  };
}
