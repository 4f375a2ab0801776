import type { Pairwise } from '../datapath/datapath.js';
import { decode } from '../formats/decode.js';
import type { Element, Word } from '../formats/element.js';
import { minExponent } from '../formats/element.js';
import type { FloatFormat } from '../formats/format.js';
import { FORMATS } from '../formats/table.js';
import type { BlockStep } from './family.js';
import type { IeeeContext } from './ieee.js';
import { add, multiply } from './ieee.js';
import { nanWord } from './output.js';

/** A subnormal element becomes zero of its sign. */
export const flush = (x: Element, format: FloatFormat): Element =>
  x.kind === 'finite' && x.sig !== 0 && x.sig < 2 ** format.fractionBits && x.e === minExponent(format)
    ? { ...x, sig: 0, signed: 0 }
    : x;

/** Numerics 4.4: products rounded, summed as a balanced tree, then c + tree; IEEE throughout, with flushing. */
export const pairwise: BlockStep<Pairwise> = ({ datapath, op, terms, positions, c, cWord, stages }) => {
  const { output, flushInputs } = datapath;
  const format = FORMATS[output.format];
  const aFormat = FORMATS[op.a] as FloatFormat;
  const bFormat = FORMATS[op.b] as FloatFormat;
  const context: IeeeContext = {
    format,
    rounding: output.rounding,
    precision: output.precision,
    nan: nanWord(output),
    flush: datapath.flushResults,
  };
  const sum = (x: Word, y: Word): Word => {
    const word = add(decode(format, x), decode(format, y), context);
    stages?.push({ stage: 'ieee', operation: 'add', operands: [x, y], rounding: output.rounding, word });
    return word;
  };
  let level = positions.map((k) => {
    const x = flushInputs ? flush(terms.a[k], aFormat) : terms.a[k];
    const y = flushInputs ? flush(terms.b[k], bFormat) : terms.b[k];
    return multiply(x, y, context);
  });
  while (level.length > 1) {
    const pairs: Word[] = [];
    for (let i = 0; i < level.length; i += 2)
      pairs.push(i + 1 < level.length ? sum(level[i], level[i + 1]) : level[i]);
    level = pairs;
  }
  const addend = flushInputs ? flush(c, format) : c;
  const word = add(addend, decode(format, level[0]), context);
  stages?.push({
    stage: 'ieee',
    operation: 'add',
    operands: [cWord, level[0]],
    rounding: output.rounding,
    word,
  });
  return word;
};
