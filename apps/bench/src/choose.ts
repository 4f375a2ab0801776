import type { MmaOp } from '@bitmma/core';
import { ENGINES } from 'bitmma';
import {
  type ChooseOptions,
  chooseFastest,
  type ProblemSize,
  resultOperand,
  sampleInputs,
  schedule,
} from 'bitmma/schedule';
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

/** Rounds of samples, and seconds that one engine gets in a round and to warm up. */
const ROUNDS = 7;
const ROUND_SECONDS = 0.02;
const WARM_SECONDS = 0.1;
const WARM_UPS = 200;

/**
 * Predicts every engine's time on m x n x k, measures them, and says which is picked and how far off it is. Both are
 * times of a warm engine: its threads run and its code is compiled.
 */
export async function choose(op: MmaOp, size: ProblemSize, request: ChooseRequest): Promise<ChooseReport> {
  const { pick, candidates, leftOut } = await chooseFastest(op, size, { warm: true, ...request });
  const inputs = sampleInputs(op, size.m, size.n, size.k);
  const d = resultOperand(op, size.m, size.n);
  const samples = new Map<string, number[]>();
  const runs = new Map<string, () => Promise<number>>();
  for (const { engine, threads, seconds, speed } of candidates) {
    if (!request.measure || seconds > request.limit) continue;
    const instance = await ENGINES.open(engine);
    const run = async () => (await schedule({ op, engine: instance, inputs, d, threads, speed })).seconds;
    await repeat(run, WARM_UPS, WARM_SECONDS);
    runs.set(engine, run);
    samples.set(engine, []);
  }
  // Interleaved, so that whatever else the machine does meets all of them.
  for (let round = 0; round < ROUNDS; round++)
    for (const [engine, run] of runs)
      samples.get(engine)!.push(median(await repeat(run, WARM_UPS, ROUND_SECONDS)));
  const rows = candidates.map(({ engine, threads, seconds }): ChosenRow => {
    const times = samples.get(engine);
    return { engine, threads, predicted: seconds, measured: times ? median(times) : null };
  });
  return { op, pick: pick.engine, ...compareRows(pick.engine, rows), rows, leftOut };
}

/** At least one run, then more up to a count and a time. */
async function repeat(run: () => Promise<number>, count: number, seconds: number): Promise<number[]> {
  const times: number[] = [];
  for (let spent = 0; times.length < count && (times.length === 0 || spent < seconds); spent += times.at(-1)!)
    times.push(await run());
  return times;
}

/** The fastest engine that was measured, and how far off a pick is. */
export function compareRows(
  pick: string,
  rows: readonly ChosenRow[],
): { readonly fastest: string | null; readonly off: number | null } {
  const timed = rows.filter((r) => r.measured !== null);
  const fastest = timed.reduce<ChosenRow | null>(
    (x, y) => (x === null || y.measured! < x.measured! ? y : x),
    null,
  );
  const own = timed.find((r) => r.engine === pick);
  return {
    fastest: fastest?.engine ?? null,
    off: fastest && own ? own.measured! / fastest.measured! : null,
  };
}
