import {
  CancelledError,
  type Engine,
  FORMATS,
  type Inputs,
  type MmaOp,
  type Operand,
  type RunReport,
  type Session,
  type WordArray,
} from '@bitmma/core';
import { allocateWords } from '@bitmma/core/formats';

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
  readonly signal?: AbortSignal;
  /** Multiply-adds done so far of all. */
  readonly onProgress?: (done: number, total: number) => void;
}

export interface GemmRun {
  /** batch x m x n words of op.d, contiguous, in shared memory. */
  readonly d: WordArray;
  readonly kernel: string;
  readonly report: RunReport;
  /** Seconds in load and tiles, of the monotonic clock. */
  readonly seconds: number;
}

/** A tile should last about this long, so that progress and cancellation stay prompt. */
const TILE_SECONDS = 0.2;
/** Multiply-adds of the first tile, from which the speed is learnt. */
const FIRST_TILE = 2 ** 18;

/** Runs a plan: M and N are split into tiles, K never is. CancelledError once the signal is raised. */
export async function runGemm(plan: GemmPlan): Promise<GemmRun> {
  const { op, m, n, k } = plan;
  const d = allocateWords(FORMATS[op.d].wordBits, plan.inputs.length * m * n, true);
  const session = await plan.engine.open(op, {
    ...(plan.kernel !== undefined && { kernel: plan.kernel }),
    ...(plan.signal !== undefined && { signal: plan.signal }),
  });
  const pace = { macs: FIRST_TILE };
  const total = plan.inputs.length * m * n * Math.max(k, 1);
  let done = 0;
  const start = process.hrtime.bigint();
  try {
    for (const [index, inputs] of plan.inputs.entries()) {
      const result = { format: op.d, words: d, offset: index * m * n, rowStride: n, colStride: 1 };
      const c = plan.c?.[index];
      await runOne(session, inputs, result, c, plan, pace, (macs) => {
        done += macs;
        plan.onProgress?.(done, total);
      });
    }
    const seconds = Number(process.hrtime.bigint() - start) / 1e9;
    return { d, kernel: session.kernel, report: session.report(), seconds };
  } finally {
    await session.close();
  }
}

async function runOne(
  session: Session,
  inputs: Inputs,
  d: Operand,
  c: Operand | undefined,
  plan: GemmPlan,
  pace: { macs: number },
  advance: (macs: number) => void,
): Promise<void> {
  const { m, n, k } = plan;
  const loaded = await session.load(inputs);
  try {
    for (let m0 = 0; m0 < m; ) {
      const rows = Math.max(1, Math.min(m - m0, Math.floor(pace.macs / Math.max(n * k, 1))));
      const width = rows > 1 ? n : Math.max(1, Math.min(n, Math.floor(pace.macs / Math.max(k, 1))));
      for (let n0 = 0; n0 < n; n0 += width) {
        if (plan.signal?.aborted) throw new CancelledError(`cancelled at row ${m0}, column ${n0}`);
        const tile = { m0, m1: m0 + rows, n0, n1: Math.min(n, n0 + width), chain: [{ k0: 0, k1: k }], d };
        const start = process.hrtime.bigint();
        await session.tile(loaded, c === undefined ? tile : { ...tile, c });
        const macs = rows * (tile.n1 - n0) * Math.max(k, 1);
        const seconds = Math.max(Number(process.hrtime.bigint() - start) / 1e9, 1e-6);
        pace.macs = Math.max(FIRST_TILE, Math.min(4 * pace.macs, (macs / seconds) * TILE_SECONDS));
        advance(macs);
        await new Promise((resolve) => setImmediate(resolve));
      }
      m0 += rows;
    }
    await session.settle();
  } finally {
    loaded.release();
  }
}
