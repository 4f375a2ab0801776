import type { LateWindow } from '../datapath/datapath.js';
import { decode } from '../formats/decode.js';
import { FORMATS } from '../formats/table.js';
import type { BlockStep } from './family.js';
import { fusedWindowStep } from './fused-window.js';
import { add } from './ieee.js';
import { nanWord } from './output.js';
import { POSITIVE_ZERO } from './terms.js';

/** Numerics 4.2: s = fused window with c = 0; d = s + c, one IEEE addition in the output format. */
export const lateWindow: BlockStep<LateWindow> = ({
  datapath,
  terms,
  positions,
  c,
  cWord,
  significandBits,
  stages,
}) => {
  const window = { ...datapath, zeroAddendExponent: null, productOverflow: null };
  const s = fusedWindowStep(window, terms, positions, POSITIVE_ZERO, significandBits, stages);
  const format = FORMATS[datapath.output.format];
  const word = add(decode(format, s), c, {
    format,
    rounding: datapath.addition,
    precision: format.fractionBits,
    nan: nanWord(datapath.output),
    flush: false,
  });
  stages?.push({ stage: 'ieee', operation: 'add', operands: [s, cWord], rounding: datapath.addition, word });
  return word;
};
