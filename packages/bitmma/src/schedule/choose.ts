import { existsSync } from 'node:fs';
import { type Engine, EngineUnavailableError, type MmaOp, UnsupportedError } from '@bitmma/core';
import { ENGINES } from '../engines.js';
import { speedOf } from './calibrate.js';
import { tilesFor } from './grain.js';
import { defaultThreads, poolRuns } from './pool.js';
import { type ProblemSize, predictSeconds } from './speed.js';

/** One engine on one problem: predicted seconds with the better thread count, or why it is left out. */
export interface Candidate {
  readonly engine: string;
  readonly kernel: string | null;
  readonly threads: number;
  /** One thread's multiply-adds a second, predicted. */
  readonly speed: number;
  readonly seconds: number;
}

export interface Choice {
  readonly engine: Engine;
  readonly pick: Candidate;
  /** Every supporting engine, fastest first. */
  readonly candidates: readonly Candidate[];
  readonly leftOut: readonly { readonly engine: string; readonly reason: string }[];
}

export interface ChooseOptions {
  /** Engines to consider; default: those that compute here, on a GPU where the machine shows one. */
  readonly engines?: readonly string[];
  readonly threads?: number;
  /** Whether worker threads count as running; default: whether this process has them. */
  readonly warm?: boolean;
}

const ON_CPU = ['native', 'wasm', 'reference'] as const;
const ON_GPU = ['webgpu', 'webgl'] as const;

/**
 * Whether this machine shows a GPU. Where it shows none, GPU engines run on software renderers: slower than the
 * reference, long to start, and their drivers write to stderr. They are asked for by name there.
 */
const showsGpu = (): boolean =>
  process.platform !== 'linux' || ['/dev/dri/renderD128', '/dev/nvidia0'].some((path) => existsSync(path));

const computed = (): readonly string[] => (showsGpu() ? [...ON_CPU, ...ON_GPU] : ON_CPU);

/**
 * The engine that a calibration of this machine predicts to be fastest for m x n x k of an op, with every prediction.
 * Engines that do not support the op or cannot run here are left out with the reason. Throws UnsupportedError where
 * none is left.
 */
export async function chooseFastest(
  op: MmaOp,
  size: ProblemSize,
  options: ChooseOptions = {},
): Promise<Choice> {
  const most = options.threads ?? defaultThreads();
  const candidates: (Candidate & { readonly instance: Engine })[] = [];
  const leftOut: { engine: string; reason: string }[] = [];
  for (const id of options.engines ?? computed()) {
    try {
      const instance = await ENGINES.open(id);
      const support = instance.supports(op);
      if (!support.ok) {
        leftOut.push({ engine: id, reason: support.reason });
        continue;
      }
      const model = await speedOf(instance, op);
      const counts = instance.placement === 'worker' && most > 1 ? [1, most] : [1];
      const best = counts
        .map((threads) => {
          const speed = model.rate;
          const tiles = tilesFor(id, support.kernels[0] ?? '', size, threads, { speed });
          const warm = options.warm ?? poolRuns(threads);
          return { threads, seconds: predictSeconds(model, size, { tiles, threads, warm }) };
        })
        .reduce((x, y) => (y.seconds < x.seconds ? y : x));
      candidates.push({ engine: id, kernel: null, speed: model.rate, ...best, instance });
    } catch (error) {
      if (!(error instanceof EngineUnavailableError)) throw error;
      leftOut.push({ engine: id, reason: `${error.reason}; ${error.remedy}` });
    }
  }
  candidates.sort((x, y) => x.seconds - y.seconds);
  const pick = candidates[0];
  if (!pick)
    throw new UnsupportedError(
      `no engine runs ${op.instruction} of ${op.device}: ${leftOut.map((x) => `${x.engine}: ${x.reason}`).join('; ')}`,
    );
  return { engine: pick.instance, pick, candidates, leftOut };
}
