import type { Pairwise } from '../datapath/datapath.js';
import { decode } from '../formats/decode.js';
import type { Element, Word } from '../formats/element.js';
import { minExponent } from '../formats/element.js';
import type { FloatFormat } from '../formats/format.js';
import { FORMATS } from '../formats/table.js';
import type { BlockStep } from './family.js';
import type { IeeeContext } from './ieee.js';
import { add, multiply } from './ieee.js';
import { nanWord, specialOutput } from './output.js';
import { findSpecial } from './terms.js';

/** A subnormal element becomes zero of its sign. */
export const flush = (x: Element, format: FloatFormat): Element =>
  x.kind === 'finite' && x.sig !== 0 && x.sig < 2 ** format.fractionBits && x.e === minExponent(format)
    ? { ...x, sig: 0, signed: 0 }
    : x;

/**
 * Numerics 4.4: special operands decided first (section 3, after the flush of inputs); then products rounded, summed
 * as a balanced tree, then c + tree, IEEE with flushing. An infinity born inside meets only IEEE rules.
 */
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
  const flushed = (side: readonly Element[], sideFormat: FloatFormat) =>
    flushInputs ? positions.map((k) => flush(side[k], sideFormat)) : positions.map((k) => side[k]);
  const a = flushed(terms.a, aFormat);
  const b = flushed(terms.b, bFormat);
  const addend = flushInputs ? flush(c, format) : c;
  const special = findSpecial({ a, b }, [...a.keys()], addend);
  if (special !== null) return specialOutput(output, special, stages);
  let level = a.map((x, i) => multiply(x, b[i], context));
  while (level.length > 1) {
    const pairs: Word[] = [];
    for (let i = 0; i < level.length; i += 2)
      pairs.push(i + 1 < level.length ? sum(level[i], level[i + 1]) : level[i]);
    level = pairs;
  }
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
