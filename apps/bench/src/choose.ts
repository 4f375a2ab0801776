import type { MmaOp } from '@bitmma/core';
import { ENGINES } from 'bitmma';
import { type ChooseOptions, chooseFastest, resultOperand, sampleInputs, schedule } from 'bitmma/schedule';
import { median } from './stats.js';

export interface ChosenRow {
  readonly engine: string;
  readonly threads: number;
  readonly predicted: number;
  /** Median seconds; null where measuring was not asked for or would last longer than the limit. */
  readonly measured: number | null;
}

export interface ChooseReport {
  readonly op: MmaOp;
  readonly pick: string;
  /** The engine with the least measured time. */
  readonly fastest: string | null;
  /** Measured time of the pick over the least measured time. */
  readonly off: number | null;
  readonly rows: readonly ChosenRow[];
  readonly leftOut: readonly { readonly engine: string; readonly reason: string }[];
}

export interface ChooseRequest extends ChooseOptions {
  readonly measure: boolean;
  /** Engines predicted to take longer than this many seconds are not measured. */
  readonly limit: number;
}

/** Predicts every engine's time on m x n x k, measures them, and says which is picked and how far off it is. */
export async function choose(
  op: MmaOp,
  size: { readonly m: number; readonly n: number; readonly k: number },
  request: ChooseRequest,
): Promise<ChooseReport> {
  const { pick, candidates, leftOut } = await chooseFastest(op, size, request);
  const inputs = sampleInputs(op, size.m, size.n, size.k);
  const d = resultOperand(op, size.m, size.n);
  const rows: ChosenRow[] = [];
  for (const { engine, threads, seconds, speed } of candidates) {
    let measured: number | null = null;
    if (request.measure && seconds <= request.limit) {
      const instance = await ENGINES.open(engine);
      const times: number[] = [];
      // One run to warm the pool and the caches, then three.
      for (let i = 0; i < 4; i++) {
        const run = await schedule({ op, engine: instance, inputs, d, threads, speed });
        if (i > 0) times.push(run.seconds);
      }
      measured = median(times);
    }
    rows.push({ engine, threads, predicted: seconds, measured });
  }
  const timed = rows.filter((r) => r.measured !== null);
  const fastest = timed.reduce<ChosenRow | null>(
    (x, y) => (x === null || y.measured! < x.measured! ? y : x),
    null,
  );
  const own = timed.find((r) => r.engine === pick.engine);
  return {
    op,
    pick: pick.engine,
    fastest: fastest?.engine ?? null,
    off: fastest && own ? own.measured! / fastest.measured! : null,
    rows,
    leftOut,
  };
}
