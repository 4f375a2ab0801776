import {
  type Engine,
  FORMATS,
  type Inputs,
  type MmaOp,
  type Operand,
  type RunReport,
  type WordArray,
} from '@bitmma/core';
import { allocateWords } from '@bitmma/core/formats';
import { schedule } from '../schedule/schedule.js';

/** One op over one or more GEMMs of one shape, on one engine. */
export interface GemmPlan {
  readonly op: MmaOp;
  readonly engine: Engine;
  readonly kernel?: string;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** One a batch index. */
  readonly inputs: readonly Inputs[];
  /** One a batch index, or none: +0. */
  readonly c: readonly Operand[] | null;
  /** Worker threads; default 1: this thread. */
  readonly threads?: number;
  /** Predicted multiply-adds a second of one thread, which sizes the tiles. */
  readonly speed?: number;
  readonly signal?: AbortSignal;
  /** Multiply-adds done so far of all. */
  readonly onProgress?: (done: number, total: number) => void;
}

export interface GemmRun {
  /** batch x m x n words of op.d, contiguous, in shared memory. */
  readonly d: WordArray;
  readonly kernel: string;
  readonly threads: number;
  readonly report: RunReport;
  /** Seconds in load and tiles, of the monotonic clock. */
  readonly seconds: number;
}

/** Runs a plan, one batch index after another. CancelledError once the signal is raised. */
export async function runGemm(plan: GemmPlan): Promise<GemmRun> {
  const { op, m, n, k, inputs } = plan;
  const d = allocateWords(FORMATS[op.d].wordBits, inputs.length * m * n, true);
  const each = m * n * Math.max(k, 1);
  const kernels: Record<string, number> = {};
  const rarePaths: Record<string, number> = {};
  let kernel = plan.kernel ?? '';
  let threads = 1;
  const start = process.hrtime.bigint();
  for (const [index, one] of inputs.entries()) {
    const c = plan.c?.[index];
    const run = await schedule({
      op,
      engine: plan.engine,
      inputs: one,
      d: { format: op.d, words: d, offset: index * m * n, rowStride: n, colStride: 1 },
      ...(c !== undefined && { c }),
      ...(plan.kernel !== undefined && { kernel: plan.kernel }),
      ...(plan.threads !== undefined && { threads: plan.threads }),
      ...(plan.speed !== undefined && { speed: plan.speed }),
      ...(plan.signal !== undefined && { signal: plan.signal }),
      onProgress: (done) => plan.onProgress?.(index * each + done, inputs.length * each),
    });
    ({ kernel, threads } = run);
    addCounts(kernels, run.report.kernels);
    addCounts(rarePaths, run.report.rarePaths);
  }
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  return { d, kernel, threads, report: { kernels, rarePaths }, seconds };
}

function addCounts(sum: Record<string, number>, part: Readonly<Record<string, number>>): void {
  for (const [key, count] of Object.entries(part)) sum[key] = (sum[key] ?? 0) + count;
}
