import type { IntegerSum, MmaOp } from '@bitmma/core';
import { positionFunction, rowFunction, type StepSource, termLoop } from '../step.js';
import { decodeFunction } from '../wgsl/decode.js';
import { WIDE } from '../wgsl/wide.js';
import { finishRows } from '../window.js';

/**
 * Numerics 4.8. A product of two 8-bit integers lies below 2^16, so 2^15 of them fit an i32; c is added modulo 2^32,
 * or in two limbs and clamped.
 */
export function integer(op: MmaOp, datapath: IntegerSum): StepSource {
  const signed = (v: string): string => `(vec4i(${v} << vec4u(17u)) >> vec4u(17u))`;
  return {
    length: op.k,
    together: true,
    functions: `${WIDE}${positionFunction(null)}
${decodeFunction('decodeA', { format: op.a, prescale: 0, fixed: false })}
${decodeFunction('decodeB', { format: op.b, prescale: 0, fixed: false })}
fn finishInteger(sum: i32, c: u32) -> u32 {
  ${
    datapath.overflow === 'wrap'
      ? 'return u32(sum) + c;'
      : `let total = add64(extend64(sum), extend64(i32(c)));
  if (negative64(total)) {
    if (total.y != 0xffffffffu || total.x < 0x80000000u) { return 0x80000000u; }
  } else if (total.y != 0u || total.x > 0x7fffffffu) { return 0x7fffffffu; }
  return total.x;`
  }
}
${rowFunction('finishInteger', ['i32', 'u32'])}`,
    step: (rows) => `${rows.indices.map((i) => `var s${i} = vec4i(0);`).join(' ')}
    ${termLoop(
      '0u',
      `${op.k}u`,
      '0u',
      `let sb = ${signed('vb')};
    ${rows.indices.map((i) => `s${i} += ${signed(rows.a(i))} * sb;`).join('\n    ')}`,
    )}
    ${finishRows(rows, (i) => `finishIntegerRow(s${i}, acc${i})`)}`,
  };
}

/** Why this engine cannot run it, or null. */
export function integerLimit(op: MmaOp): string | null {
  return op.k > 2 ** 14 ? `K = ${op.k} products of 8 bits overflow an i32` : null;
}
