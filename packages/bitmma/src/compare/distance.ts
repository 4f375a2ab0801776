import { FORMATS, type FormatName, type WordArray } from '@bitmma/core';
import { readWord } from '@bitmma/core/formats';
import { doubleReader } from '../numbers/value.js';

/** How two results of one format differ, word by word. */
export interface Difference {
  readonly words: number;
  readonly different: number;
  /** Largest distance in units of the last place, over pairs of finite words. Integers: the difference itself. */
  readonly maxUlp: number;
  /** Differing pairs of which at least one word is NaN or infinite. */
  readonly nonFinite: number;
  /** Index of the first different word; null where there is none. */
  readonly first: number | null;
  /** Index of the largest distance. */
  readonly worst: number | null;
  /** Distance of every word: 0 equal, -1 where one is not finite. */
  readonly ulps: Float64Array;
}

/**
 * Compares two arrays of words. Bits decide equality (NaN payloads and the sign of zero count); the distance counts the
 * representable numbers between two finite ones, so that +0 and -0 differ at distance 0.
 */
export function differenceOf(left: WordArray, right: WordArray, format: FormatName): Difference {
  const { wordBits } = FORMATS[format];
  const items = wordBits === 64 ? 2 : 1;
  const words = left.length / items;
  const ulps = new Float64Array(words);
  const [x, y] = [doubleReader(left, format), doubleReader(right, format)];
  let different = 0;
  let nonFinite = 0;
  let maxUlp = 0;
  let first: number | null = null;
  let worst: number | null = null;
  for (let i = 0; i < words; i++) {
    if (left[i * items] === right[i * items] && (items === 1 || left[i * 2 + 1] === right[i * 2 + 1]))
      continue;
    different++;
    first ??= i;
    if (!Number.isFinite(x(i)) || !Number.isFinite(y(i))) {
      nonFinite++;
      ulps[i] = -1;
      worst ??= i;
      continue;
    }
    const distance = ulpDistance(left, right, i, format);
    ulps[i] = distance;
    if (distance > maxUlp || worst === null) {
      maxUlp = Math.max(maxUlp, distance);
      worst = i;
    }
  }
  return { words, different, maxUlp, nonFinite, first, worst, ulps };
}

/** Numbers of up to 32 bits are ordered exactly in doubles; fp64 words in bigints. */
function ulpDistance(left: WordArray, right: WordArray, index: number, name: FormatName): number {
  const { kind, wordBits } = FORMATS[name];
  if (wordBits === 64) {
    const order = (words: WordArray): bigint => {
      const word = readWord(words, index, wordBits) as bigint;
      return word >> 63n === 0n ? word : (1n << 63n) - word;
    };
    const distance = order(left) - order(right);
    return Number(distance < 0n ? -distance : distance);
  }
  const half = 2 ** (wordBits - 1);
  const order = (word: number): number =>
    word < half ? word : kind === 'float' ? half - word : word - 2 * half;
  return Math.abs(order(left[index]!) - order(right[index]!));
}
