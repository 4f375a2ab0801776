import type { SplitWindow } from '../datapath/datapath.js';
import { decode } from '../formats/decode.js';
import type { Word } from '../formats/element.js';
import { FORMATS } from '../formats/table.js';
import type { BlockStep } from './family.js';
import { fusedWindowStep } from './fused-window.js';
import { add } from './ieee.js';
import { nanWord } from './output.js';

/**
 * Numerics section 7, one whole instruction: positions whose index in the instruction has `selectBit` clear, then
 * those with it set, in fused-window steps of `block` from +0; the instruction's c last, as one IEEE addition.
 */
export const splitWindow: BlockStep<SplitWindow> = ({
  datapath,
  terms,
  positions,
  c,
  cWord,
  significandBits,
  stages,
}) => {
  const window = { ...datapath, zeroAddendExponent: null, productOverflow: null };
  const format = FORMATS[datapath.output.format];
  const halves = [0, 1].map((bit) =>
    positions.filter((_, index) => ((index >> datapath.selectBit) & 1) === bit),
  );
  let sum: Word = 0;
  for (const half of halves)
    for (let i = 0; i < half.length; i += datapath.block) {
      const block = half.slice(i, i + datapath.block);
      sum = fusedWindowStep(window, terms, block, decode(format, sum), significandBits, stages);
    }
  const word = add(decode(format, sum), c, {
    format,
    rounding: datapath.addition,
    precision: format.fractionBits,
    nan: nanWord(datapath.output),
    flush: false,
  });
  stages?.push({
    stage: 'ieee',
    operation: 'add',
    operands: [sum, cWord],
    rounding: datapath.addition,
    word,
  });
  return word;
};
