import type { MmaOp, SequentialFma } from '@bitmma/core';
import { positionFunction, rowFunction, type StepSource } from '../step.js';
import { widenFunction } from '../wgsl/decode.js';
import { addFunctions, fmaFunction } from '../wgsl/ieee.js';
import { wordFunctions } from '../wgsl/round.js';
import { WIDE } from '../wgsl/wide.js';
import { finishRows } from '../window.js';

/** Numerics 4.7: one fused multiply-add a term, in order, on fp32 words. */
export function sequentialFma(op: MmaOp, datapath: SequentialFma): StepSource {
  const { format, rounding } = datapath.output;
  const c = datapath.flushInputs ? 'select(word, word & WORD_SIGN, wordMagnitude(word) < 0x800000u)' : 'word';
  return {
    length: 1,
    together: false,
    functions: `${WIDE}${wordFunctions(datapath.output)}${positionFunction(null)}
${widenFunction('decodeA', op.a, datapath.flushInputs)}
${widenFunction('decodeB', op.b, datapath.flushInputs)}
${addFunctions('ieee', { format, rounding, flushResults: datapath.flushResults })}
${fmaFunction('ieee')}
fn fmaStep(x: u32, y: u32, word: u32) -> u32 { return ieeeFma(x, y, ${c}); }
${rowFunction('fmaStep', ['u32', 'u32', 'u32'])}`,
    step: (rows) => `{ let va = elementA(base); let vb = elementB(base);
    ${rows.indices.map((i) => `let r${i} = ${rows.a(i)};`).join(' ')}
    ${finishRows(rows, (i) => `fmaStepRow(r${i}, vb, acc${i})`)} }`,
  };
}

/** Why this engine cannot run it, or null. */
export function sequentialFmaLimit(op: MmaOp, datapath: SequentialFma): string | null {
  if (datapath.output.format !== 'fp32')
    return 'an exact fp64 product needs 106 bits, two 32-bit limbs hold 64';
  if (datapath.output.precision !== 23) return 'its IEEE operations keep 23 fraction bits';
  if (op.sparsity !== null) return 'a chain of single terms has no sparse form';
  return null;
}
