import { FORMATS, type WordArray } from '@bitmma/core';
import { allocateWords, maxExponent, minExponent } from '@bitmma/core/formats';
import { toDoubles } from '../../numbers/value.js';

/** The formats of the study and the bound that scaling puts on magnitudes: every word then stays in range. */
export const THETA = Object.freeze({ fp16: 2 ** 15, bf16: 1, e5m2: 2 ** 15, e5m2fnuz: 2 ** 15 });
export type WordFormat = keyof typeof THETA;

/** Lines of doubles as a sum of words: line l is about sum over i of u^i words[i] / scale[l]. */
export interface Split {
  readonly lines: number;
  readonly n: number;
  readonly format: WordFormat;
  /** Word after word: `lines` lines of n elements each, in shared memory. */
  readonly words: WordArray;
  /** The power of two that each line was multiplied by. */
  readonly scale: Float64Array;
}

/** u = 2^-(w + 1), the unit roundoff of the format: what one word leaves for the next, relative to it. */
export const unitRoundoff = (format: WordFormat): number => 2 ** -(FORMATS[format].fractionBits + 1);

const bits = new DataView(new ArrayBuffer(8));

/** floor(log2 x) of a normal positive double. */
function exponentOf(x: number): number {
  bits.setFloat64(0, x);
  return ((bits.getUint32(0) >>> 20) & 0x7ff) - 1023;
}

/**
 * Splits each line into `count` words after Mary and Mikaitis (2025), section 4: the line is scaled by the largest
 * power of two that leaves every magnitude below theta, and A_i = RNE((A' - sum over j < i of u^(j-1) A_j) / u^(i-1)).
 * Residuals are exact in fp64: RNE leaves fewer bits than it took.
 */
export function splitLines(
  values: Float64Array,
  lines: number,
  n: number,
  format: WordFormat,
  count: number,
): Split {
  const theta = THETA[format];
  const u = unitRoundoff(format);
  const words = allocateWords(FORMATS[format].wordBits, count * lines * n, true);
  const scale = new Float64Array(lines);
  const round = roundTo(format);
  for (let line = 0; line < lines; line++) {
    const row = values.subarray(line * n, (line + 1) * n);
    let largest = 0;
    for (const value of row) largest = Math.max(largest, Math.abs(value));
    scale[line] = largest === 0 ? 1 : 2 ** (exponentOf(theta) - 1 - exponentOf(largest));
    for (let p = 0; p < n; p++) {
      let rest = row[p]! * scale[line]!;
      for (let i = 0; i < count; i++) rest = (rest - round(rest, words, (i * lines + line) * n + p)) / u;
    }
  }
  return { lines, n, format, words, scale };
}

/** The words of x * factor for every word x, rounded again: exact unless it falls below the normal range. */
export function scaleWords(words: WordArray, format: WordFormat, factor: number): WordArray {
  const round = roundTo(format);
  const scaled = allocateWords(FORMATS[format].wordBits, words.length, true);
  for (const [at, value] of toDoubles(words, format).entries()) round(value * factor, scaled, at);
  return scaled;
}

/**
 * Rounds a double to the format, nearest even, writes its word and returns its value. Adding 1.5 * 2^(52 + q), whose
 * last place is 2^q, and taking it off again rounds |x| < 2^(51 + q) to a multiple of 2^q; below theta nothing overflows.
 */
function roundTo(format: WordFormat): (x: number, into: WordArray, at: number) => number {
  const f = FORMATS[format];
  const w = f.fractionBits;
  const emin = minExponent(f);
  const signBit = 2 ** (w + f.exponentBits);
  const noNegativeZero = f.specials === 'fnuz';
  const magic = Float64Array.from(
    { length: maxExponent(f) - emin + 1 },
    (_, i) => 1.5 * 2 ** (52 + emin + i - w),
  );
  const double = new Float64Array(1);
  const halves = new Uint32Array(double.buffer);
  return (x, into, at) => {
    double[0] = x;
    const negative = halves[1]! >>> 31 === 1;
    const e = Math.max(((halves[1]! >>> 20) & 0x7ff) - 1023, emin);
    const t = magic[e - emin]!;
    const rounded = x + t - t;
    double[0] = rounded;
    const high = halves[1]! & 0x7fffffff;
    const exponent = (high >>> 20) - 1023;
    const magnitude =
      exponent < emin
        ? Math.abs(rounded) * 2 ** (w - emin)
        : (exponent + f.bias) * 2 ** w + ((high & 0xfffff) >>> (20 - w));
    into[at] = negative && (magnitude !== 0 || !noNegativeZero) ? signBit + magnitude : magnitude;
    return negative ? -Math.abs(rounded) : rounded;
  };
}
