import type { FusedWindow, MmaOp } from '@bitmma/core';
import { blockOf, positionFunction, type Rows, rowFunction, SPECIAL, type StepSource } from '../step.js';
import { CODE_BIAS, decodeFunction, NONZERO_SUM } from '../wgsl/decode.js';
import { layoutOf, roundFunction, roundSingleFunction, wordFunctions } from '../wgsl/round.js';
import { scaleFunction, WIDE } from '../wgsl/wide.js';
import {
  exponentPass,
  finishRows,
  fitsSingle,
  overflowSource,
  planWindow,
  sumPass,
  wideTermFunction,
} from '../window.js';

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
  const single = fitsSingle(plan, rule.alignment, terms);
  const overflow = overflowSource(rule.productOverflow, op.a, op.b, plan, terms);
  const code = (e: number): string => `${2 * CODE_BIAS + e}u`;
  const zero = rule.zeroAddendExponent === null ? '0u' : code(rule.zeroAddendExponent);
  const floor = rule.floor === null ? '' : `w = max(w, vec4u(${code(rule.floor)}));`;
  const { emin } = layoutOf(rule.output.format);
  return {
    functions: `${decodeFunction('decodeA', { format: op.a, prescale: plan.prescaleA, fixed: false })}
${decodeFunction('decodeB', { format: op.b, prescale: plan.prescaleB, fixed: false })}
${scaleFunction('alignTerm', rule.alignment)}
${wideTermFunction(op.a, op.b, rule.fraction)}
${overflow.functions}
fn windowExponent(p: vec4u, c: vec4u) -> vec4u {
  let m = c & vec4u(~WORD_SIGN);
  let own = max(m >> vec4u(u32(WORD_FRACTION)), vec4u(1u)) + vec4u(${2 * CODE_BIAS + emin - 1}u);
  var w = select(vec4u(0u), p, p >= vec4u(${NONZERO_SUM}u));
  w = max(w, select(vec4u(${zero}), own, m != vec4u(0u)));
  ${floor}
  return w;
}
${single ? finishSingle(rule) : finishWide(rule)}`,
    step: (rows, part) => `${exponentPass(rows, terms, part)}
    ${overflow.check(rows, part)}
    ${rows.indices.map((i) => `let w${i} = windowExponent(p${i}, acc${i});`).join('\n    ')}
    ${sumPass(rows, plan, rule.alignment, terms, part, single)}
    ${finishRows(rows, (i) => `finishFusedRow(${single ? `s${i}` : `l${i}, h${i}`}, w${i}, x${i}, acc${i})`)}`,
  };
}

const finishWide = (rule: FusedRule): string => `${roundFunction('roundOutput', rule.output)}
fn finishFused(low: u32, high: u32, w: u32, classes: u32, c: u32) -> u32 {
  let all = withAddend(classes, c);
  if (all != 0u) { return specialWord(all); }
  let q = i32(w) - ${2 * CODE_BIAS + rule.fraction};
  var sum = vec2u(low, high);
  if (!wordZero(c)) { sum = add64(sum, alignTerm(wordSigned(c), wordExponent(c) - WORD_FRACTION - q)); }
  return roundOutput(negative64(sum), magnitude64(sum), q);
}
${rowFunction('finishFused', ['u32', 'u32', 'u32', 'u32', 'u32'])}`;

/** finishWide where sum and addend fit one limb: sign and magnitude. c's significand has 24 bits. */
const finishSingle = (rule: FusedRule): string => `${roundSingleFunction('roundOutput', rule.output)}
fn finishFused(sum: i32, w: u32, classes: u32, c: u32) -> u32 {
  let all = withAddend(classes, c);
  if (all != 0u) { return specialWord(all); }
  let q = i32(w) - ${2 * CODE_BIAS + rule.fraction};
  let shift = wordExponent(c) - WORD_FRACTION - q;
  let addend = select(wordSig(c) >> u32(clamp(-shift, 0, 31)), wordSig(c) << u32(clamp(shift, 0, 31)), shift > 0);
  var m = u32(abs(sum));
  var negative = sum < 0;
  if (negative == wordNegative(c)) {
    m += addend;
  } else if (addend > m) {
    m = addend - m;
    negative = !negative;
  } else {
    m -= addend;
  }
  return roundOutput(negative, m, q);
}
${rowFunction('finishFused', ['i32', 'u32', 'u32', 'u32'])}`;

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
