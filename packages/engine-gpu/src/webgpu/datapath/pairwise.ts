import type { MmaOp, Pairwise } from '@bitmma/core';
import { blockOf, positionFunction, rowFunction, type StepSource } from '../step.js';
import { widenFunction } from '../wgsl/decode.js';
import { addFunctions, mulFunction } from '../wgsl/ieee.js';
import { wordFunctions } from '../wgsl/round.js';
import { WIDE } from '../wgsl/wide.js';
import { finishRows } from '../window.js';

/**
 * Numerics 4.4, IEEE throughout: an infinity that a product or a sum overflows to meets the others, c too, as any
 * infinity does. Rounded products, a balanced tree of IEEE additions, c last; elements travel as
 * fp32 words.
 */
export function pairwise(op: MmaOp, datapath: Pairwise): StepSource {
  const terms = blockOf(op, datapath.block);
  const { format, rounding } = datapath.output;
  const flushC = datapath.flushInputs
    ? 'select(word, word & WORD_SIGN, wordMagnitude(word) < 0x800000u)'
    : 'word';
  return {
    length: terms,
    together: false,
    functions: `${WIDE}${wordFunctions(datapath.output)}${positionFunction(null)}
${widenFunction('decodeA', op.a, datapath.flushInputs)}
${widenFunction('decodeB', op.b, datapath.flushInputs)}
${addFunctions('ieee', { format, rounding, flushResults: datapath.flushResults })}
${mulFunction('ieee')}
fn pairwiseStep(word: u32, base: u32, row: u32, lane: u32) -> u32 {
  var p: array<u32, ${terms}>;
  let c = ${flushC};
  for (var j = 0u; j < ${terms}u; j++) {
    let x = rowOf(elementA(base + j), row)[lane];
    let y = elementB(base + j)[lane];
    p[j] = ieeeMul(x, y);
  }
  for (var width = ${terms / 2}u; width > 0u; width /= 2u) {
    for (var j = 0u; j < width; j++) { p[j] = ieeeAdd(p[2u * j], p[2u * j + 1u]); }
  }
  return ieeeAdd(c, p[0]);
}
${rowFunction('pairwiseStep', ['u32'], ['base', 'row'])}`,
    step: (rows) => finishRows(rows, (i) => `pairwiseStepRow(acc${i}, base, ${rows.row(i)})`),
  };
}

/** Why this engine cannot run it, or null. */
export function pairwiseLimit(op: MmaOp, datapath: Pairwise): string | null {
  const terms = blockOf(op, datapath.block);
  if (datapath.output.format !== 'fp32') return 'its rounded products are computed in fp32 only';
  if (datapath.output.precision !== 23) return 'its IEEE operations keep 23 fraction bits';
  if (2 ** Math.round(Math.log2(terms)) !== terms) return `${terms} terms are no balanced tree`;
  if (op.sparsity !== null) return 'a tree has no sparse form';
  return null;
}
