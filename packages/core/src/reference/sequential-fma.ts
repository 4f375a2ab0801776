import type { SequentialFma } from '../datapath/datapath.js';
import { decode } from '../formats/decode.js';
import type { FloatFormat } from '../formats/format.js';
import { FORMATS } from '../formats/table.js';
import type { BlockStep } from './family.js';
import type { IeeeContext } from './ieee.js';
import { fma } from './ieee.js';
import { nanWord } from './output.js';
import { flush } from './pairwise.js';

/** Numerics 4.7: one fused multiply-add per term, in order. */
export const sequentialFma: BlockStep<SequentialFma> = ({
  datapath,
  op,
  terms,
  positions,
  c,
  cWord,
  stages,
}) => {
  const { output, flushInputs } = datapath;
  const format = FORMATS[output.format];
  const context: IeeeContext = {
    format,
    rounding: output.rounding,
    precision: output.precision,
    nan: nanWord(output),
    flush: datapath.flushResults,
  };
  const aFormat = FORMATS[op.a] as FloatFormat;
  const bFormat = FORMATS[op.b] as FloatFormat;
  let sum = flushInputs ? flush(c, format) : c;
  let word = cWord;
  for (const k of positions) {
    const x = flushInputs ? flush(terms.a[k], aFormat) : terms.a[k];
    const y = flushInputs ? flush(terms.b[k], bFormat) : terms.b[k];
    const before = word;
    word = fma(x, y, sum, context);
    stages?.push({ stage: 'ieee', operation: 'fma', operands: [k, before], rounding: output.rounding, word });
    sum = decode(format, word);
  }
  return word;
};
