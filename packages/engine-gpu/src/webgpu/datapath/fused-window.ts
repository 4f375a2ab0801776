import type { FusedWindow, MmaOp } from '@bitmma/core';
import { SPECIAL, type Rows, type StepSource, blockOf, positionFunction } from '../step.js';
import { CODE_BIAS, NONZERO_SUM, decodeFunction } from '../wgsl/decode.js';
import { roundFunction, wordFunctions } from '../wgsl/round.js';
import { WIDE, scaleFunction } from '../wgsl/wide.js';
import { exponentPass, finishRows, overflowSource, planWindow, sumPass, wideTermFunction } from '../window.js';

export type FusedRule = Pick<
  FusedWindow,
  'fraction' | 'floor' | 'alignment' | 'zeroAddendExponent' | 'productOverflow' | 'output'
>;

export interface FusedSource {
  readonly functions: string;
  /** Statements that take acc_i as the addend and leave the step's result there. */
  step(rows: Rows, part: string): string;
}

/**
 * Numerics 4.1 over `terms` products and acc: E is the largest exponent of the nonzero terms, raised to the floor;
 * every term is cut to 2^(E - F); the sum is rounded once.
 */
export function fusedSource(op: MmaOp, rule: FusedRule, terms: number): FusedSource {
  const plan = planWindow(op.a, op.b, rule.fraction);
  const overflow = overflowSource(rule.productOverflow, op.a, op.b, plan, terms);
  const code = (e: number): string => `${2 * CODE_BIAS + e}u`;
  const zero = rule.zeroAddendExponent === null ? '' : `else { w = max(w, ${code(rule.zeroAddendExponent)}); }`;
  const floor = rule.floor === null ? '' : `w = max(w, ${code(rule.floor)});`;
  return {
    functions: `${decodeFunction('decodeA', { format: op.a, prescale: plan.prescaleA, fixed: false })}
${decodeFunction('decodeB', { format: op.b, prescale: plan.prescaleB, fixed: false })}
${scaleFunction('alignTerm', rule.alignment)}
${wideTermFunction(op.a, op.b, rule.fraction)}
${roundFunction('roundOutput', rule.output)}
${overflow.functions}
fn windowExponent(p: u32, c: u32) -> u32 {
  var w = select(0u, p, p >= ${NONZERO_SUM}u);
  if (!wordZero(c)) { w = max(w, u32(wordExponent(c) + ${2 * CODE_BIAS})); } ${zero}
  ${floor}
  return w;
}
fn finishFused(low: u32, high: u32, w: u32, classes: u32, c: u32) -> u32 {
  let all = withAddend(classes, c);
  if (all != 0u) { return specialWord(all); }
  let q = i32(w) - ${2 * CODE_BIAS + rule.fraction};
  var sum = vec2u(low, high);
  if (!wordZero(c)) { sum = add64(sum, alignTerm(wordSigned(c), wordExponent(c) - WORD_FRACTION - q)); }
  return roundOutput(negative64(sum), magnitude64(sum), q);
}
`,
    step: (rows, part) => `${exponentPass(rows, terms, part)}
    ${overflow.check(rows, part)}
    ${rows.indices.map((i) => `let w${i} = vec4u(${['x', 'y', 'z', 'w'].map((l) => `windowExponent(p${i}.${l}, acc${i}.${l})`).join(', ')});`).join('\n    ')}
    ${sumPass(rows, plan, rule.alignment, terms, part)}
    ${finishRows(rows, (i, l) => `finishFused(l${i}.${l}, h${i}.${l}, w${i}.${l}, x${i}.${l}, acc${i}.${l})`)}`,
  };
}

/** NVIDIA's window: products and c aligned together. */
export function fusedWindow(op: MmaOp, datapath: FusedWindow): StepSource {
  const terms = blockOf(op, datapath.block);
  const fused = fusedSource(op, datapath, terms);
  return {
    length: terms,
    together: true,
    functions: `${WIDE}${wordFunctions(datapath.output)}${positionFunction(null)}${SPECIAL}${fused.functions}`,
    step: (rows) => fused.step(rows, '0u'),
  };
}
