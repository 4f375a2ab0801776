import type { MmaOp } from '@bitmma/core';
import { ABSENT_CODE, INFINITY_CODE, NAN_CODE } from './wgsl/decode.js';

/**
 * The rows of outputs that one invocation computes: each a vec4u of four neighbouring columns (GEMM) or four cases
 * (dots). `a(i, quad)` is the expression of row i's element of a row quad, `va` by default.
 */
export interface Rows {
  readonly indices: readonly number[];
  a(i: number, quad?: string): string;
  /** The row number handed to functions that load for themselves. */
  row(i: number): string;
}

/** One datapath kind turned into WGSL: constants of the op injected, everything in u32 and i32. */
export interface StepSource {
  /** k positions that one step takes. */
  readonly length: number;
  /** Rows side by side in registers, sharing each load; false: one after another, for register-hungry steps. */
  readonly together: boolean;
  /** `decodeA`, `decodeB` and whatever the step calls. */
  readonly functions: string;
  /** Statements of one step at local position `base`: acc0, acc1 ... hold the words of c and then of d. */
  step(rows: Rows): string;
}

/**
 * `fn NAMERow(...)`: NAME over the four components of its arguments, one inlined copy in a loop. `types` are NAME's
 * parameters; `shared` more that every component sees alike, NAME's last ones.
 */
export function rowFunction(
  name: string,
  types: readonly ('u32' | 'i32')[],
  shared: readonly string[] = [],
): string {
  const parameters = types.map((type, i) => `v${i}: vec4<${type}>`).concat(shared.map((p) => `${p}: u32`));
  const values = types.map((_, i) => `v${i}[lane]`).concat(shared);
  return `fn ${name}Row(${parameters.join(', ')}) -> vec4u {
  var words: vec4u;
  for (var lane = 0u; lane < 4u; lane++) { words[lane] = ${name}(${values.join(', ')}${shared.length > 0 ? ', lane' : ''}); }
  return words;
}
`;
}

/**
 * `for` over a step's k positions with va, vb loaded. `position(j, part)` places term j of a part.
 */
export const termLoop = (first: string, last: string, part: string, body: string): string =>
  `for (var j = ${first}; j < ${last}; j++) {
    let va = elementA(base + position(j, ${part}));
    let vb = elementB(base + position(j, ${part}));
    ${body}
  }`;

/** Terms in order, or those of one part with bit `selectBit` of k clear (part 0) or set (part 1). */
export function positionFunction(selectBit: number | null): string {
  if (selectBit === null) return 'fn position(j: u32, part: u32) -> u32 { return j; }\n';
  const low = 2 ** selectBit - 1;
  return `fn position(j: u32, part: u32) -> u32 {
  return ((j >> ${selectBit}u) << ${selectBit + 1}u) | (part << ${selectBit}u) | (j & ${low}u);
}
`;
}

/**
 * Section 3 over one part of a step: classes (1 NaN, 2 +Inf, 4 -Inf) and the largest code sum of the finite
 * products. Run where pass 1 saw a code of a special.
 */
export const SPECIAL = `
struct Special { classes: vec4u, sum: vec4u }
fn special(base: u32, first: u32, last: u32, part: u32, row: u32) -> Special {
  var r: Special;
  ${termLoop(
    'first',
    'last',
    'part',
    `let a = rowOf(va, row);
    let ca = a >> vec4u(16u);
    let cb = vb >> vec4u(16u);
    let here = ca != vec4u(${ABSENT_CODE}u);
    let finite = (ca < vec4u(${NAN_CODE}u)) & (cb < vec4u(${NAN_CODE}u));
    r.sum = max(r.sum, select(vec4u(0u), ca + cb, finite & here));
    let infA = ca == vec4u(${INFINITY_CODE}u);
    let infB = cb == vec4u(${INFINITY_CODE}u);
    let nan = (ca == vec4u(${NAN_CODE}u)) | (cb == vec4u(${NAN_CODE}u)) | (infA & (cb == vec4u(0u))) | (infB & (ca == vec4u(0u)));
    let signed = select(vec4u(2u), vec4u(4u), ((a ^ vb) & vec4u(0x4000u)) != vec4u(0u));
    r.classes |= select(vec4u(0u), select(signed, vec4u(1u), nan), (nan | infA | infB) & here);`,
  )}
  return r;
}
`;

/** K of one step: an instruction with fewer terms than the block is one short step. */
export const blockOf = (op: MmaOp, block: number): number => Math.min(block, op.k);
