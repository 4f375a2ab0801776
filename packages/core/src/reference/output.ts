import type { Output } from '../datapath/datapath.js';
import type { Word } from '../formats/element.js';
import { encodeInfinity } from '../formats/encode.js';
import { round } from '../formats/round.js';
import { FORMATS } from '../formats/table.js';
import type { Special } from './terms.js';
import type { Stage } from './trace.js';

/** d = round(signed * 2^lsb) as `output` says; an exact zero is +0. */
export function roundOutput(output: Output, signed: number | bigint, lsb: number, stages?: Stage[]): Word {
  const word = round(signed, lsb, FORMATS[output.format], output.rounding, output);
  stages?.push({
    stage: 'round',
    value: { signed: BigInt(signed), lsb },
    rounding: output.rounding,
    precision: output.precision,
    word,
  });
  return word;
}

/** The word of a special result. */
export function specialOutput(output: Output, special: Special, stages?: Stage[]): Word {
  stages?.push({ stage: 'special', result: special.result, reason: special.reason });
  return special.result === 'nan'
    ? nanWord(output)
    : encodeInfinity(FORMATS[output.format], special.result === '-inf');
}

/** The NaN word of an output. */
export const nanWord = (output: Output): Word =>
  output.format === 'fp64' ? BigInt(`0x${output.nan}`) : Number.parseInt(output.nan, 16);
