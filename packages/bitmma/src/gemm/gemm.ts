import { createHash } from 'node:crypto';
import {
  FORMATS,
  type FormatName,
  findFormat,
  InputError,
  type MmaOp,
  opHash,
  type WordArray,
} from '@bitmma/core';
import { type Listener, silent } from '../events.js';
import { castWords } from '../numbers/cast.js';
import { engineFor } from './engine-for.js';
import { type CastNote, type CastOptions, castRule, operandAt } from './operand.js';
import {
  contractInputs,
  type GemmOperands,
  type LoadedOperands,
  loadOperands,
  type PreparedGemm,
  prepareGemm,
} from './prepare.js';
import type { OpRequest } from './resolve.js';
import { runGemm } from './run.js';
import { activeMask } from './sparse.js';
import { countSpecials, type ErrorStatistics, errorStatistics, type SpecialCounts } from './statistics.js';
import { onceOnly, warnOfEvidence } from './warn.js';

export interface GemmOptions extends OpRequest {
  /** Converts the result once at the end, RNE; absent: the instruction's own output. */
  readonly outFormat?: string;
  /** How fp32 and fp64 files become operands; see castRule. */
  readonly cast?: CastOptions;
  /** auto, reference, native, wasm, webgl, webgpu, cuda, hip. */
  readonly engine?: string;
  readonly kernel?: string;
  /** Worker threads; default: every core. */
  readonly threads?: number;
  /** false leaves out the fp64 product. */
  readonly statistics?: boolean;
  readonly signal?: AbortSignal;
  readonly on?: Listener;
}

export interface GemmResult {
  readonly op: MmaOp;
  readonly opHash: string;
  readonly engine: string;
  readonly kernel: string;
  /** [..batch, M, N]. */
  readonly shape: readonly number[];
  readonly k: number;
  /** Result words, contiguous, of `format`. */
  readonly words: WordArray;
  readonly format: FormatName;
  readonly casts: readonly CastNote[];
  readonly seconds: number;
  /** Multiply-adds. */
  readonly macs: number;
  readonly kernels: Readonly<Record<string, number>>;
  readonly rarePaths: Readonly<Record<string, number>>;
  readonly specials: SpecialCounts;
  /** null where it was not asked for. */
  readonly error: ErrorStatistics | null;
  /** SHA-256 of the words, little-endian, row by row. */
  readonly sha256: string;
}

/**
 * D = A x B + C as the device computes it, chained over K on one instruction. Operands come from files or memory;
 * the result is words. Throws InputError and its kin with one sentence; CancelledError on the signal.
 */
export async function gemm(operands: GemmOperands, options: GemmOptions): Promise<GemmResult> {
  const loaded = await loadOperands(operands, options, options.signal);
  return gemmLoaded(loaded, options);
}

/** The same over operands that are loaded already. */
export async function gemmLoaded(loaded: LoadedOperands, options: GemmOptions): Promise<GemmResult> {
  const listen = onceOnly(options.on ?? silent);
  const prepared = prepareGemm(options, loaded, options.cast ?? {});
  return runPrepared(prepared, options, listen);
}

/** Runs a prepared GEMM: warnings, engine, words, statistics. */
export async function runPrepared(
  prepared: PreparedGemm,
  options: GemmOptions,
  listen: Listener,
): Promise<GemmResult> {
  const { op, m, n, k, batch } = prepared;
  const outFormat = options.outFormat === undefined ? op.d : findFormat(options.outFormat);
  const checkOut = FORMATS[outFormat];
  if (outFormat !== op.d && (checkOut.kind !== 'float' || FORMATS[op.d].kind !== 'float' || !checkOut.signed))
    throw new InputError(`--out-format: expected a float format to convert ${op.d} into, got ${outFormat}`);
  warnOfEvidence(op, prepared.c !== null || k > op.k, listen);
  const inputs = contractInputs(prepared);
  const { engine, threads, speed } = await engineFor(options, op, { m, n, k }, listen);
  const kernel = options.kernel ?? process.env.BITMMA_KERNEL;
  const run = await runGemm({
    op,
    engine,
    threads,
    ...(speed !== undefined && { speed }),
    m,
    n,
    k,
    inputs,
    c: prepared.c === null ? null : inputs.map((_, index) => operandAt(prepared.c!, index)),
    ...(kernel !== undefined && { kernel }),
    ...(options.signal !== undefined && { signal: options.signal }),
    onProgress: (done, total) => listen({ kind: 'progress', phase: op.device, done, total }),
  });
  const casts = [...prepared.casts];
  let words = run.d;
  if (outFormat !== op.d) {
    const rule = { ...castRule(outFormat), rounding: 'RNE' } as const;
    const { changed, overflowed, words: converted } = castWords('D', run.d, op.d, outFormat, rule);
    casts.push({ operand: 'D', from: op.d, to: outFormat, ...rule, changed, overflowed });
    words = converted;
  }
  return {
    op,
    opHash: opHash(op),
    engine: engine.id,
    kernel: run.kernel,
    shape: [...batch, m, n],
    k,
    words,
    format: outFormat,
    casts,
    seconds: run.seconds,
    macs: inputs.length * m * n * k,
    kernels: run.report.kernels,
    rarePaths: run.report.rarePaths,
    specials: countSpecials(words, outFormat),
    error: options.statistics === false ? null : statisticsOf(prepared, inputs.length, words, outFormat),
    sha256: hashWords(words),
  };
}

function statisticsOf(
  prepared: PreparedGemm,
  batch: number,
  d: WordArray,
  dFormat: FormatName,
): ErrorStatistics {
  const { op, m, n, k, b, c, scaleA, scaleB } = prepared;
  return errorStatistics({
    m,
    n,
    k,
    a: op.sparsity === null ? prepared.a : withoutInactive(prepared),
    b,
    c,
    scaleA,
    scaleB,
    scaleBlock: op.scaling?.block ?? 1,
    batch,
    d,
    dFormat,
  });
}

/** A with +0 where the metadata disables a position: what the instruction multiplies. */
function withoutInactive({ op, a, sparse, m, k }: PreparedGemm): PreparedGemm['a'] {
  const mask = activeMask(op, sparse!, m, k);
  const words = a.words.slice(0, m * k);
  for (let row = 0; row < m; row++)
    for (let p = 0; p < k; p++)
      words[row * k + p] =
        mask[row * k + p] === 1 ? a.words[a.offsets[0]! + row * a.rowStride + p * a.colStride]! : 0;
  return { ...a, words, offsets: [0], batch: [], rowStride: k, colStride: 1 };
}

/** SHA-256 of words as little-endian bytes. */
export const hashWords = (words: WordArray): string =>
  createHash('sha256')
    .update(new Uint8Array(words.buffer, words.byteOffset, words.byteLength))
    .digest('hex');
