import type { MmaOp } from '@bitmma/core';
import type { TileBounds } from './tiles.js';

export interface ProblemSize {
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

/**
 * Seconds of one job on one thread of a warm engine: setup + words x perWord + multiply-adds / rate, where words are
 * those of a, b and d. On worker threads `pool` comes on top, and `start` where they do not run yet.
 */
export interface SpeedModel {
  /** Seconds to open, load and call; the engine's own start and its compilation are over. */
  readonly setup: number;
  /** Seconds a word: packing, reading, writing. */
  readonly perWord: number;
  /** Multiply-adds a second. */
  readonly rate: number;
  /** Seconds to post tiles to running workers and to attach there. */
  readonly pool: number;
  /** Seconds until workers run and have the engine. */
  readonly start: number;
}

export interface ThreadPlan {
  readonly tiles: readonly TileBounds[];
  readonly threads: number;
  /** Whether the workers run already. */
  readonly warm: boolean;
}

/** Predicted seconds of a GEMM: on one thread, or with its tiles dealt to the threads of a plan. */
export function predictSeconds(model: SpeedModel, size: ProblemSize, plan?: ThreadPlan): number {
  const [one, words, macs] = terms(size);
  const alone = model.setup * one + model.perWord * words + macs / model.rate;
  const threads = plan === undefined ? 1 : Math.min(plan.threads, plan.tiles.length);
  if (plan === undefined || threads < 2) return alone;
  const lanes = new Array<number>(threads).fill(0);
  for (const { m0, m1, n0, n1 } of plan.tiles) {
    const next = lanes.indexOf(Math.min(...lanes));
    lanes[next]! += (m1 - m0) * (n1 - n0);
  }
  const share = Math.max(...lanes) / (size.m * size.n);
  return (
    model.setup +
    model.pool +
    (plan.warm ? 0 : model.start) +
    model.perWord * words +
    (share * macs) / model.rate
  );
}

const terms = ({ m, n, k }: ProblemSize): readonly [number, number, number] => {
  const depth = Math.max(k, 1);
  return [1, m * depth + depth * n + m * n, m * n * depth];
};

/** Ops of one family run at one speed: the datapath's kind and block, and the formats. */
export function familyOf(op: MmaOp): string {
  const block = 'block' in op.datapath ? op.datapath.block : op.k;
  const sparse = op.sparsity ? `/${op.sparsity}` : '';
  return `${op.datapath.kind}/${block}/${op.a}x${op.b}/${op.d}${sparse}`;
}

export interface Timing extends ProblemSize {
  readonly seconds: number;
}

/**
 * The setup, cost a word and rate that fit timings of several sizes with the least sum of squared relative errors,
 * none of them negative. Noise that leaves no rate takes all of the largest size's time for work.
 */
export function fitSpeed(timings: readonly Timing[]): Pick<SpeedModel, 'setup' | 'perWord' | 'rate'> {
  const rows = timings.map((t) => terms(t).map((x) => x / t.seconds));
  let best: { error: number; x: readonly [number, number, number] } | null = null;
  // With three unknowns every set of those that are not zero can be tried.
  for (const kept of [[0, 1, 2], [0, 2], [1, 2], [2]]) {
    const x = leastSquares(rows, kept);
    if (x === null || kept.some((i) => x[i]! <= 0)) continue;
    const error = rows.reduce((sum, row) => sum + (dot(row, x) - 1) ** 2, 0);
    if (best === null || error < best.error) best = { error, x };
  }
  if (best !== null) return { setup: best.x[0], perWord: best.x[1], rate: 1 / best.x[2] };
  const last = timings.at(-1)!;
  return { setup: 0, perWord: 0, rate: terms(last)[2] / last.seconds };
}

const dot = (x: readonly number[], y: readonly number[]): number =>
  x.reduce((sum, value, i) => sum + value * y[i]!, 0);

/** The x, zero outside `kept`, with the least |rows x - 1|: normal equations by elimination; null where singular. */
function leastSquares(
  rows: readonly (readonly number[])[],
  kept: readonly number[],
): readonly [number, number, number] | null {
  const system = kept.map((i) => [
    ...kept.map((j) => rows.reduce((sum, row) => sum + row[i]! * row[j]!, 0)),
    rows.reduce((sum, row) => sum + row[i]!, 0),
  ]);
  const size = kept.length;
  for (let column = 0; column < size; column++) {
    const pivot = system[column]!;
    if (!(pivot[column]! > 0)) return null;
    for (let row = 0; row < size; row++) {
      if (row === column) continue;
      const factor = system[row]![column]! / pivot[column]!;
      for (let j = column; j <= size; j++) system[row]![j]! -= factor * pivot[j]!;
    }
  }
  const x: [number, number, number] = [0, 0, 0];
  kept.forEach((i, at) => {
    x[i] = system[at]![size]! / system[at]![at]!;
  });
  return x;
}
