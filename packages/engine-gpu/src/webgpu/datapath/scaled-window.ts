import type { MmaOp, ScaledWindow } from '@bitmma/core';
import { scaleFunctions } from '../scales.js';
import { positionFunction, rowFunction, SPECIAL, type StepSource } from '../step.js';
import { CODE_BIAS, decodeFunction, NONZERO_SUM } from '../wgsl/decode.js';
import { roundFunction, wordFunctions } from '../wgsl/round.js';
import { scaleFunction, WIDE } from '../wgsl/wide.js';
import { exponentPass, finishRows, planWindow, sumPass, wideTermFunction } from '../window.js';

/** Below every exponent of a product of four factors. */
export const NO_PRODUCT = -100000;

/** Numerics 6, mxf8f6f4: one window over products whose exponents include their blocks' scales. */
export function scaledWindow(op: MmaOp, datapath: ScaledWindow): StepSource {
  const scaling = op.scaling!;
  const blocks = op.k / scaling.block;
  const plan = planWindow(op.a, op.b, datapath.fraction);
  const all = (indices: readonly number[], make: (i: number) => string): string =>
    indices.map(make).join('\n    ');
  return {
    length: op.k,
    together: true,
    functions: `${WIDE}${wordFunctions(datapath.output)}${positionFunction(null)}${SPECIAL}${scaleFunctions(scaling)}
${decodeFunction('decodeA', { format: op.a, prescale: plan.prescaleA, fixed: false })}
${decodeFunction('decodeB', { format: op.b, prescale: plan.prescaleB, fixed: false })}
${scaleFunction('alignTerm', 'RZ')}
${wideTermFunction(op.a, op.b, datapath.fraction)}
${roundFunction('roundOutput', datapath.output)}
fn windowExponent(r: i32, c: u32) -> i32 { return select(max(r, wordExponent(c)), r, wordZero(c)); }
fn finishScaled(low: u32, high: u32, r: i32, classes: u32, c: u32) -> u32 {
  let all = withAddend(classes, c);
  if (all != 0u) { return specialWord(all); }
  if (r == ${NO_PRODUCT}) { return c; }
  let q = windowExponent(r, c) - ${datapath.fraction};
  let total = add64(vec2u(low, high), alignTerm(wordSigned(c), wordExponent(c) - WORD_FRACTION - q));
  return roundOutput(negative64(total), magnitude64(total), q);
}
${rowFunction('finishScaled', ['u32', 'u32', 'i32', 'u32', 'u32'])}
fn windowExponentWord(r: i32, c: u32) -> u32 { return u32(windowExponent(r, c)); }
${rowFunction('windowExponentWord', ['i32', 'u32'])}`,
    step: (rows) => `let outer = base;
    ${all(rows.indices, (i) => `var r${i} = vec4i(${NO_PRODUCT}); var k${i} = vec4u(0u); var low${i} = vec4u(0u); var high${i} = vec4u(0u);`)}
    for (var s = 0u; s < ${blocks}u; s++) {
      let base = outer + s * ${scaling.block}u;
      let sa = scaleA(start / ${scaling.block}u + s);
      let sb = scaleB(start / ${scaling.block}u + s);
      ${exponentPass(rows, scaling.block, '0u')}
      ${all(
        rows.indices,
        (i) => `k${i} |= x${i} | select(vec4u(0u), vec4u(1u), scaleNan(${rows.a(i, 'sa')}) | scaleNan(sb));
      r${i} = max(r${i}, select(vec4i(${NO_PRODUCT}), vec4i(p${i}) - vec4i(${2 * CODE_BIAS}) + scaleExponent(${rows.a(i, 'sa')}) + scaleExponent(sb), p${i} >= vec4u(${NONZERO_SUM}u)));`,
      )}
    }
    ${all(rows.indices, (i) => `let top${i} = vec4i(windowExponentWordRow(r${i}, acc${i}));`)}
    for (var s = 0u; s < ${blocks}u; s++) {
      let base = outer + s * ${scaling.block}u;
      let scaleOfA = scaleA(start / ${scaling.block}u + s);
      let scaleOfB = scaleB(start / ${scaling.block}u + s);
      ${all(rows.indices, (i) => `let w${i} = vec4u(top${i} - scaleExponent(${rows.a(i, 'scaleOfA')}) - scaleExponent(scaleOfB) + vec4i(${2 * CODE_BIAS}));`)}
      ${sumPass(rows, plan, 'RZ', scaling.block, '0u')}
      ${all(
        rows.indices,
        (i) => `{ let low = low${i} + l${i};
        high${i} += h${i} + select(vec4u(0u), vec4u(1u), low < l${i});
        low${i} = low; }`,
      )}
    }
    ${finishRows(rows, (i) => `finishScaledRow(low${i}, high${i}, r${i}, k${i}, acc${i})`)}`,
  };
}

/** Why this engine cannot run it, or null. */
export function scaledWindowLimit(op: MmaOp): string | null {
  if (op.scaling?.format !== 'ue8m0') return 'a scaled window takes ue8m0 scales only';
  if (op.k % op.scaling.block !== 0)
    return `K = ${op.k} is not a multiple of the scale block ${op.scaling.block}`;
  return null;
}
