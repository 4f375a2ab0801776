import type { MmaOp, Pairwise } from '@bitmma/core';
import { blockOf, positionFunction, rowFunction, type StepSource } from '../step.js';
import { widenFunction } from '../wgsl/decode.js';
import { addFunctions, mulFunction } from '../wgsl/ieee.js';
import { wordFunctions } from '../wgsl/round.js';
import { WIDE } from '../wgsl/wide.js';
import { finishRows } from '../window.js';

/** Section 3 of one product of fp32 words. */
const PRODUCT_CLASS = `fn productClass(x: u32, y: u32) -> u32 {
  let mx = x & 0x7fffffffu;
  let my = y & 0x7fffffffu;
  if (mx < 0x7f800000u && my < 0x7f800000u) { return 0u; }
  if (mx > 0x7f800000u || my > 0x7f800000u || mx == 0u || my == 0u) { return 1u; }
  return select(2u, 4u, ((x ^ y) >> 31u) != 0u);
}
`;

/**
 * Numerics 4.4: special operands decided first, c among them; then rounded products, a balanced tree of IEEE
 * additions, c last. Elements travel as fp32 words.
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
${PRODUCT_CLASS}
fn pairwiseStep(word: u32, base: u32, row: u32, lane: u32) -> u32 {
  var p: array<u32, ${terms}>;
  var classes = 0u;
  let c = ${flushC};
  for (var j = 0u; j < ${terms}u; j++) {
    let x = rowOf(elementA(base + j), row)[lane];
    let y = elementB(base + j)[lane];
    classes |= productClass(x, y);
    p[j] = ieeeMul(x, y);
  }
  classes = withAddend(classes, c);
  if (classes != 0u) { return specialWord(classes); }
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
