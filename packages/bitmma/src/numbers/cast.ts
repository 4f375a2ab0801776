import { FORMATS, type FormatName, InputError, type WordArray } from '@bitmma/core';
import {
  allocateWords,
  cast,
  decode,
  type FloatFormat,
  maxExponent,
  maxSignificand,
  minExponent,
  readWord,
  type Word,
  writeWord,
} from '@bitmma/core/formats';
import type { StoredFormat } from '../files/dtype.js';
import { elementToDouble, scale } from './value.js';

export interface CastRule {
  /** RNE: to nearest, ties to even. RZ: toward zero. */
  readonly rounding: 'RNE' | 'RZ';
  /** Overflow gives the largest finite number (CUDA's satfinite), or else Inf (NaN where there is none). */
  readonly saturate: boolean;
}

export interface CastResult {
  readonly words: WordArray;
  /** Elements whose value the cast changed. */
  readonly changed: number;
  /** Elements beyond the format's range: saturated, or turned into Inf or NaN. */
  readonly overflowed: number;
}

/**
 * Converts words of one format to another. Float to float rounds once by `rule`; integers convert only into integers
 * that hold them. InputError: an integer out of range, or a pair that has no conversion.
 */
export function castWords(
  where: string,
  words: WordArray,
  from: StoredFormat,
  to: FormatName,
  rule: CastRule,
): CastResult {
  if (from === to) return { words, changed: 0, overflowed: 0 };
  const target = FORMATS[to];
  const source = from === 'int64' ? null : FORMATS[from];
  if (target.kind === 'integer' && (source === null || source.kind === 'integer'))
    return castIntegers(where, words, from, to);
  if (source === null || source.kind !== 'float' || target.kind !== 'float')
    throw new InputError(`${where}: expected elements that convert to ${to}, got ${from}`);
  if (to === 'tf32' && from === 'fp32' && rule.rounding === 'RZ') return { words, changed: 0, overflowed: 0 };
  if (source.wordBits <= 16) return castByTable(words, source, target, rule);
  if (source.wordBits === 32 && target.wordBits < 64) return castSingles(words, source, target, rule);
  return castEach(words, source, target, rule);
}

interface Counts {
  changed: number;
  overflowed: number;
}

/** Adds one converted word to the counts; doubles hold every value of both formats. */
function count(counts: Counts, from: FloatFormat, word: Word, to: FloatFormat, result: Word): void {
  const before = elementToDouble(decode(from, word));
  if (before === elementToDouble(decode(to, result)) || Number.isNaN(before)) return;
  counts.changed++;
  if (Math.abs(before) > largest(to)) counts.overflowed++;
}

/** The largest finite number of a format. */
const largest = (format: FloatFormat): number =>
  scale(maxSignificand(format), maxExponent(format) - format.fractionBits);

function castByTable(words: WordArray, from: FloatFormat, to: FloatFormat, rule: CastRule): CastResult {
  const size = 2 ** from.wordBits;
  const table = allocateWords(to.wordBits, size);
  const seen = new Uint8Array(size);
  const flags = new Uint8Array(size);
  const result = allocateWords(to.wordBits, words.length, true);
  const counts = { changed: 0, overflowed: 0 };
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    if (seen[word] === 0) {
      const converted = cast(word, from, to, rule);
      writeWord(table, word, to.wordBits, converted);
      const one = { changed: 0, overflowed: 0 };
      count(one, from, word, to, converted);
      flags[word] = one.changed + 2 * one.overflowed;
      seen[word] = 1;
    }
    if (to.wordBits === 64) {
      result[2 * i] = table[2 * word]!;
      result[2 * i + 1] = table[2 * word + 1]!;
    } else result[i] = table[word]!;
    counts.changed += flags[word]! & 1;
    counts.overflowed += flags[word]! >> 1;
  }
  return { words: result, ...counts };
}

/**
 * fp32 words by exact double arithmetic: |x| / quantum is below 2^(w+1) + 1 and exact, so that Math.floor and the
 * remainder decide the rounding. Subnormal, infinite and NaN words take the general path.
 */
function castSingles(words: WordArray, from: FloatFormat, to: FloatFormat, rule: CastRule): CastResult {
  const mask = from.droppedBits === 0 ? 0xffffffff : 0xffffe000;
  const values = new Float32Array(1);
  const bits = new Uint32Array(values.buffer);
  const emin = minExponent(to);
  const limit = largest(to);
  const w = to.fractionBits;
  const signShift = to.exponentBits + w;
  const result = allocateWords(to.wordBits, words.length, true);
  const counts = { changed: 0, overflowed: 0 };
  for (let i = 0; i < words.length; i++) {
    const word = (words[i]! & mask) >>> 0;
    const x = (word >>> 23) & 0xff;
    if (x === 0 || x === 0xff || !to.signed) {
      const converted = cast(word, from, to, rule);
      result[i] = Number(converted);
      count(counts, from, word, to, converted);
      continue;
    }
    bits[0] = word & 0x7fffffff;
    const magnitude = values[0]!;
    const e = Math.max(x - 127, emin);
    const units = magnitude * 2 ** (w - e);
    let sig = Math.floor(units);
    const rest = units - sig;
    if (rule.rounding === 'RNE' && (rest > 0.5 || (rest === 0.5 && (sig & 1) === 1))) sig++;
    const negative = word >>> 31 === 1;
    if (rest !== 0 || magnitude > limit) counts.changed++;
    if (magnitude > limit) counts.overflowed++;
    if (scale(sig, e - w) > limit || sig === 0) {
      result[i] = Number(cast(word, from, to, rule));
      continue;
    }
    // sig = 2^(w+1) carries into the exponent by itself; a subnormal result has no hidden bit to take off.
    const biased = e + to.bias;
    const packed = sig < 2 ** w ? sig : (biased - 1) * 2 ** w + sig;
    result[i] = ((negative ? 2 ** signShift : 0) + packed) * 2 ** to.droppedBits;
  }
  return { words: result, ...counts };
}

function castEach(words: WordArray, from: FloatFormat, to: FloatFormat, rule: CastRule): CastResult {
  const length = from.wordBits === 64 ? words.length / 2 : words.length;
  const result = allocateWords(to.wordBits, length, true);
  const counts = { changed: 0, overflowed: 0 };
  for (let i = 0; i < length; i++) {
    const word = readWord(words, i, from.wordBits);
    const converted = cast(word, from, to, rule);
    writeWord(result, i, to.wordBits, converted);
    count(counts, from, word, to, converted);
  }
  return { words: result, ...counts };
}

const RANGES: Partial<Record<FormatName, readonly [bigint, bigint]>> = {
  s8: [-128n, 127n],
  u8: [0n, 255n],
  s32: [-(2n ** 31n), 2n ** 31n - 1n],
};

function castIntegers(where: string, words: WordArray, from: StoredFormat, to: FormatName): CastResult {
  const [low, high] = RANGES[to]!;
  const length = from === 'int64' ? words.length / 2 : words.length;
  const result = allocateWords(FORMATS[to].wordBits, length, true);
  for (let i = 0; i < length; i++) {
    const value =
      from === 'int64'
        ? BigInt.asIntN(64, readWord(words, i, 64) as bigint)
        : from === 's8'
          ? BigInt((words[i]! << 24) >> 24)
          : from === 's32'
            ? BigInt(words[i]! | 0)
            : BigInt(words[i]!);
    if (value < low || value > high)
      throw new InputError(
        `${where}: expected ${to} values of ${low}..${high}, got ${value} at element ${i}`,
      );
    result[i] = Number(BigInt.asUintN(FORMATS[to].wordBits, value));
  }
  return { words: result, changed: 0, overflowed: 0 };
}
