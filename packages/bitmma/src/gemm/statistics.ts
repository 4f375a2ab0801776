import { FORMATS, type FormatName, type WordArray } from '@bitmma/core';
import { castElement, decode, type FloatFormat, maxExponent, minExponent } from '@bitmma/core/formats';
import { doubleReader } from '../numbers/value.js';
import type { Matrices } from './operand.js';

/** Counts of result words of each special class. */
export interface SpecialCounts {
  readonly nan: number;
  readonly infinite: number;
  /** Words at the format's largest finite magnitude (integers: either limit). */
  readonly saturated: number;
  readonly zero: number;
}

/** Distances from the fp64 product of the same operand words. */
export interface ErrorStatistics {
  /** Elements compared; fewer than the result where it was sampled by rows. */
  readonly elements: number;
  readonly sampled: boolean;
  readonly maxAbsolute: number;
  /** Mean of |d - r| / |r| over elements with r not zero. */
  readonly meanRelative: number;
  /** Mean of (d - r) / |r| over the same: below zero means toward minus infinity. */
  readonly signedBias: number;
  /** Mean of (|d| - |r|) / |r| over the same: below zero means toward zero. */
  readonly magnitudeBias: number;
  readonly maxUlp: number;
  /** Elements with an error of at most this many units in the last place of the result's format at r; null: more. */
  readonly ulpHistogram: readonly { readonly upTo: number | null; readonly count: number }[];
  /** Elements left out because d or r is not finite. */
  readonly nonFinite: number;
}

/** More multiply-adds than this are sampled by rows: about two seconds of fp64. */
const SAMPLE_LIMIT = 2 ** 30;
/** Elements of B held as doubles at most (256 MiB); more are sampled by columns. */
const HELD_LIMIT = 2 ** 25;
/** Larger errors, of results that cancelled, share one bucket. */
const LAST_BUCKET = 1024;

export function countSpecials(words: WordArray, format: FormatName): SpecialCounts {
  const read = doubleReader(words, format);
  const count = FORMATS[format].wordBits === 64 ? words.length / 2 : words.length;
  const limits = limitsOf(format);
  let nan = 0;
  let infinite = 0;
  let saturated = 0;
  let zero = 0;
  for (let i = 0; i < count; i++) {
    const value = read(i);
    if (Number.isNaN(value)) nan++;
    else if (Math.abs(value) === Number.POSITIVE_INFINITY) infinite++;
    else if (value === limits.high || value === limits.low) saturated++;
    else if (value === 0) zero++;
  }
  return { nan, infinite, saturated, zero };
}

function limitsOf(format: FormatName): { low: number; high: number } {
  const descriptor = FORMATS[format];
  if (descriptor.kind === 'integer') {
    const span = 2 ** descriptor.wordBits;
    return descriptor.signed ? { low: -span / 2, high: span / 2 - 1 } : { low: Number.NaN, high: span - 1 };
  }
  if (descriptor.kind === 'exponent') return { low: Number.NaN, high: Number.NaN };
  const infinity = { kind: 'inf', negative: false, sig: 0, signed: 0, lsb: 0, e: 0 } as const;
  const largest = decode(descriptor, castElement(infinity, descriptor, { saturate: true }));
  const high = largest.sig * 2 ** largest.lsb;
  return { low: -high, high };
}

/** What one batch index multiplies: doubles of the sampled rows of a and columns of b, contiguous along k. */
interface Doubles {
  readonly a: Float64Array;
  readonly b: Float64Array;
}

export interface ErrorInput {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly a: Matrices;
  readonly b: Matrices;
  readonly c: Matrices | null;
  readonly scaleA: Matrices | null;
  readonly scaleB: Matrices | null;
  readonly scaleBlock: number;
  readonly batch: number;
  readonly d: WordArray;
  readonly dFormat: FormatName;
}

/**
 * Error of d against the product in IEEE fp64 of the same operand words (after any cast), summed in order of k. Sampled
 * by evenly spaced rows and columns where the whole would take long or would not fit.
 */
export function errorStatistics(input: ErrorInput): ErrorStatistics {
  const { m, n, k, batch } = input;
  const colStep = Math.max(1, Math.ceil((n * k) / HELD_LIMIT));
  const rowStep = Math.max(
    1,
    Math.ceil((batch * m * Math.ceil(n / colStep) * Math.max(k, 1)) / SAMPLE_LIMIT),
  );
  const d = doubleReader(input.d, input.dFormat);
  const c = input.c && doubleReader(input.c.words, input.c.format);
  const unit = ulpOf(input.dFormat);
  const total = {
    elements: 0,
    maxAbsolute: 0,
    relative: 0,
    bias: 0,
    magnitude: 0,
    counted: 0,
    maxUlp: 0,
    nonFinite: 0,
  };
  const buckets = new Map<number, number>();
  for (let index = 0; index < batch; index++) {
    const { a, b } = gather(input, index, rowStep, colStep);
    for (let i = 0, line = 0; i < m; i += rowStep, line++)
      for (let j = 0, column = 0; j < n; j += colStep, column++) {
        let r = c === null ? 0 : c(elementAt(input.c!, index, i, j));
        for (let p = 0, x = line * k, y = column * k; p < k; p++) r += a[x + p]! * b[y + p]!;
        const got = d((index * m + i) * n + j);
        total.elements++;
        if (!Number.isFinite(r) || !Number.isFinite(got)) {
          total.nonFinite++;
          continue;
        }
        const error = got - r;
        total.maxAbsolute = Math.max(total.maxAbsolute, Math.abs(error));
        if (r !== 0) {
          total.relative += Math.abs(error) / Math.abs(r);
          total.bias += error / Math.abs(r);
          total.magnitude += (Math.abs(got) - Math.abs(r)) / Math.abs(r);
          total.counted++;
        }
        const ulps = Math.abs(error) / unit(r);
        total.maxUlp = Math.max(total.maxUlp, ulps);
        const bucket =
          ulps <= 0.5 ? 0.5 : ulps > LAST_BUCKET ? Number.POSITIVE_INFINITY : 2 ** Math.ceil(Math.log2(ulps));
        buckets.set(bucket, (buckets.get(bucket) ?? 0) + 1);
      }
  }
  return {
    elements: total.elements,
    sampled: rowStep > 1 || colStep > 1,
    maxAbsolute: total.maxAbsolute,
    meanRelative: total.counted === 0 ? 0 : total.relative / total.counted,
    signedBias: total.counted === 0 ? 0 : total.bias / total.counted,
    magnitudeBias: total.counted === 0 ? 0 : total.magnitude / total.counted,
    maxUlp: total.maxUlp,
    ulpHistogram: [...buckets]
      .sort(([x], [y]) => x - y)
      .map(([upTo, count]) => ({ upTo: upTo === Number.POSITIVE_INFINITY ? null : upTo, count })),
    nonFinite: total.nonFinite,
  };
}

/** The unit in the last place of a format at r, as a double. */
function ulpOf(name: FormatName): (r: number) => number {
  const format = FORMATS[name];
  if (format.kind !== 'float') return () => 1;
  const { fractionBits } = format;
  const [emin, emax] = [minExponent(format as FloatFormat), maxExponent(format as FloatFormat)];
  return (r) => {
    const e = r === 0 ? emin : Math.min(Math.max(Math.floor(Math.log2(Math.abs(r))), emin), emax);
    return 2 ** Math.max(e - fractionBits, -1074);
  };
}

const elementAt = (
  { offsets, rowStride, colStride }: Matrices,
  index: number,
  row: number,
  col: number,
): number => offsets[offsets.length === 1 ? 0 : index]! + row * rowStride + col * colStride;

/** Operands of one batch index as doubles, scales multiplied in: every rowStep-th row of a, colStep-th column of b. */
function gather(input: ErrorInput, index: number, rowStep: number, colStep: number): Doubles {
  const { m, n, k, a, b, scaleA, scaleB, scaleBlock } = input;
  const scaled = (scales: Matrices | null, line: number): ((p: number) => number) => {
    if (scales === null) return () => 1;
    const read = doubleReader(scales.words, scales.format);
    return (p) => read(elementAt(scales, index, line, Math.floor(p / scaleBlock)));
  };
  const lines = (operand: Matrices, scales: Matrices | null, count: number, step: number, byRow: boolean) => {
    const read = doubleReader(operand.words, operand.format);
    const out = new Float64Array(Math.ceil(count / step) * k);
    for (let line = 0, to = 0; line < count; line += step) {
      const scale = scaled(scales, line);
      for (let p = 0; p < k; p++, to++)
        out[to] =
          read(byRow ? elementAt(operand, index, line, p) : elementAt(operand, index, p, line)) * scale(p);
    }
    return out;
  };
  return { a: lines(a, scaleA, m, rowStep, true), b: lines(b, scaleB, n, colStep, false) };
}
