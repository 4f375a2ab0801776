import type { Engine } from '@bitmma/core';
import { referenceEngine } from '@bitmma/core/reference';
import { type Fp8Matrix, resolveSplit, runPlan, type SplitK } from './accumulate.js';
import { checkCall, checkProblem, checkTypes, type ScaleTensor } from './checks.js';
import { checkSubnormals } from './combine.js';
import { alphaOf, type OutFormat } from './epilogue.js';
import {
  ContractTypeError,
  type OnWarning,
  ReferenceRejectsError,
  UnsupportedFeatureError,
} from './errors.js';
import { makePlan } from './plan.js';
import type { Fp8 } from './presets.js';
import { findProfile, type Profile } from './profiles.js';
import { lookUpSplit, type SplitTable } from './split-table.js';
import { type Fp32Vectors, vectorsFor } from './vectors.js';

/** A result or an `out` argument: words with shape and strides; a resized out gets new words in place. */
export interface OutMatrix {
  readonly format: OutFormat;
  words: Uint8Array | Uint16Array | Uint32Array;
  shape: readonly [number, number];
  strides: readonly [number, number];
  readonly offset?: number;
}

export interface ScaledMmOptions {
  readonly scaleA: ScaleTensor;
  readonly scaleB: ScaleTensor;
  readonly bias?: unknown;
  readonly scaleResult?: ScaleTensor;
  /** Default: the input's format. */
  readonly outDtype?: OutFormat;
  /** Default false, as in torch. */
  readonly useFastAccum?: boolean;
  readonly out?: OutMatrix;
  /** hopper (default) or ada. */
  readonly profile?: string;
  /** Default 'auto'. */
  readonly splitK?: SplitK;
  readonly splitTables?: readonly SplitTable[];
  readonly engine?: Engine;
  /** fp32 vectors; default: those that go with the engine. */
  readonly vectors?: Fp32Vectors;
  readonly signal?: AbortSignal;
  readonly onWarning?: OnWarning;
  readonly onProgress?: (done: number) => void;
}

/** One fp32 word as a scale tensor. */
export const scaleWord = (word: number): ScaleTensor => ({
  format: 'fp32',
  words: Uint32Array.of(word),
  shape: [],
});

/**
 * torch 2.7.1's torch._scaled_mm with tensor-wise scales, as the profile's cuBLAS computes it: input [M, K] row-major
 * times mat2 [K, N] column-major, accumulated by the profile's plan, scaled and converted. Returns out.
 * Throws the contract's classes (errors.ts); its warnings go to onWarning.
 */
export async function scaledMm(
  input: Fp8Matrix,
  mat2: Fp8Matrix,
  options: ScaledMmOptions,
): Promise<OutMatrix> {
  const useFastAccum = options.useFastAccum ?? false;
  checkTypes({ input, mat2, scaleA: options.scaleA, scaleB: options.scaleB, useFastAccum });
  const profile = findProfile(options.profile);
  const outFormat = options.outDtype ?? options.out?.format ?? (input.format as OutFormat);
  if (options.out && options.out.format !== outFormat)
    throw new ReferenceRejectsError(
      `out: expected the format of outDtype, ${outFormat}, got ${options.out.format}`,
    );
  const isEmpty = input.shape[0] === 0 || input.shape[1] === 0 || mat2.shape[1] === 0;
  checkCall(input, mat2, options.scaleA, options.scaleB, options.scaleResult, isEmpty ? 'fp32' : outFormat);
  if (options.bias !== undefined && options.bias !== null && !isEmpty)
    throw new UnsupportedFeatureError(
      'bias is not characterised; add it to the result yourself, or leave it out',
    );
  checkSubnormals();

  const shape = [input.shape[0], mat2.shape[1]] as const;
  const out = prepareOut(options.out, outFormat, shape, options.onWarning);
  if (isEmpty) {
    writeOut(out, (words, index) => {
      words[index] = 0;
    });
    return out;
  }
  checkProblem(input, mat2, outFormat, profile.name);
  const layout = outLayout(out);
  if (layout === 'neither') {
    options.onWarning?.({
      kind: 'out-strided',
      message: `out with strides (${out.strides.join(', ')}) is neither row- nor column-major and is returned unchanged`,
    });
    return out;
  }
  const acc = await accumulator(input, mat2, layout, outFormat, useFastAccum, profile, options);
  const converted = newWords(outFormat, acc.length);
  const vectors = options.vectors ?? (await vectorsFor(options.engine ?? referenceEngine()));
  const alpha = alphaOf(options.scaleA.words[0]!, options.scaleB.words[0]!);
  vectors.epilogue(acc, converted, outFormat, alpha, options.scaleResult?.words[0]);
  // The accumulator is row-major of the problem solved: [M, N], or [N, M] where out is column-major.
  const [rows, columns] = shape;
  if (layout === 'row' && out.strides[0] === columns && (out.offset ?? 0) === 0) out.words.set(converted);
  else
    writeOut(out, (words, index, i, j) => {
      words[index] = converted[layout === 'row' ? i * columns + j : j * rows + i]!;
    });
  return out;
}

/** The accumulator of A x B, or of the swapped problem (N, M, K) for a column-major out: B^T x A^T. */
async function accumulator(
  input: Fp8Matrix,
  mat2: Fp8Matrix,
  layout: 'row' | 'column',
  out: OutFormat,
  useFastAccum: boolean,
  profile: Profile,
  options: ScaledMmOptions,
): Promise<Uint32Array> {
  const flipped: Fp8Matrix = {
    ...mat2,
    shape: [mat2.shape[1], mat2.shape[0]],
    strides: [mat2.strides[1], mat2.strides[0]],
  };
  const [a, b] = layout === 'row' ? [input, flipped] : [flipped, input];
  const [m, k] = a.shape;
  const problem = {
    m,
    n: b.shape[0],
    k,
    a: a.format as Fp8,
    b: b.format as Fp8,
    out,
    fastAccum: useFastAccum,
  };
  const split = resolveSplit(options.splitK ?? 'auto', () =>
    lookUpSplit(problem, profile, options.splitTables ?? []),
  );
  const plan = makePlan({ preset: profile.preset, k, useFastAccum, split });
  for (const warning of plan.warnings) options.onWarning?.(warning);
  return runPlan(profile.preset, plan, a, b, options);
}

function newWords(format: OutFormat, count: number): OutMatrix['words'] {
  if (format === 'fp32') return new Uint32Array(count);
  return format === 'bf16' || format === 'fp16' ? new Uint16Array(count) : new Uint8Array(count);
}

/** A fresh row-major out, or the given one, resized first where its shape differs. */
function prepareOut(
  out: OutMatrix | undefined,
  format: OutFormat,
  shape: readonly [number, number],
  onWarning: OnWarning | undefined,
): OutMatrix {
  const [m, n] = shape;
  if (!out) return { format, words: newWords(format, m * n), shape: [m, n], strides: [n, 1] };
  if (out.words.BYTES_PER_ELEMENT !== newWords(format, 0).BYTES_PER_ELEMENT)
    throw new ContractTypeError(
      `out: expected ${newWords(format, 0).BYTES_PER_ELEMENT * 8}-bit words for ${format}, got ${out.words.BYTES_PER_ELEMENT * 8}-bit`,
    );
  if (out.shape[0] !== m || out.shape[1] !== n) {
    onWarning?.({
      kind: 'out-resized',
      message: `out of shape (${out.shape.join(', ')}) is resized to (${m}, ${n})`,
    });
    out.words = newWords(format, m * n);
    out.shape = [m, n];
    out.strides = [n, 1];
  }
  return out;
}

function outLayout({ shape, strides }: OutMatrix): 'row' | 'column' | 'neither' {
  const [m, n] = shape;
  if (strides[1] === 1 && (m === 1 || strides[0] >= n)) return 'row';
  if (strides[0] === 1 && strides[1] >= m) return 'column';
  return 'neither';
}

function writeOut(
  out: OutMatrix,
  write: (words: OutMatrix['words'], index: number, i: number, j: number) => void,
): void {
  const offset = out.offset ?? 0;
  for (let i = 0; i < out.shape[0]; i++)
    for (let j = 0; j < out.shape[1]; j++)
      write(out.words, offset + i * out.strides[0] + j * out.strides[1], i, j);
}
