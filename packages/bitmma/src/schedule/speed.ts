import type { MmaOp } from '@bitmma/core';

/** seconds(m, n, k) = setup + elements * perElement + macs / rate, on one thread. */
export interface SpeedModel {
  /** Seconds of open, load and the first call. */
  readonly setup: number;
  /** Multiply-adds a second. */
  readonly rate: number;
}

/** Predicted seconds of a GEMM; `threads` divide the work where the engine runs in worker threads. */
export function predictSeconds(model: SpeedModel, macs: number, threads: number): number {
  const pool = threads > 1 ? POOL_SECONDS : 0;
  return model.setup + pool + macs / (model.rate * threads);
}

/** Posting tiles to a warm pool and attaching there; measured at 1 to 2 ms on a two-core machine. */
export const POOL_SECONDS = 0.002;

/** Ops of one family run at one speed: the datapath's kind and block, and the formats. */
export function familyOf(op: MmaOp): string {
  const block = 'block' in op.datapath ? op.datapath.block : op.k;
  const sparse = op.sparsity ? `/${op.sparsity}` : '';
  return `${op.datapath.kind}/${block}/${op.a}x${op.b}/${op.d}${sparse}`;
}

/** Fits the model to two timed sizes (multiply-adds and seconds), the smaller first. */
export function fitSpeed(small: readonly [number, number], large: readonly [number, number]): SpeedModel {
  const [macs0, t0] = small;
  const [macs1, t1] = large;
  // Where noise makes the larger not slower, all of its time is taken for work.
  const rate = t1 > t0 ? (macs1 - macs0) / (t1 - t0) : macs1 / t1;
  return { setup: Math.max(0, t0 - macs0 / rate), rate };
}
