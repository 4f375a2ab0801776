import type { Engine, MmaOp } from '@bitmma/core';
import { chooseEngine } from '../engines.js';
import type { Listener } from '../events.js';
import { chooseFastest } from '../schedule/choose.js';
import { defaultThreads } from '../schedule/pool.js';
import type { GemmOptions } from './gemm.js';

/**
 * The engine, its threads and predicted speed: for `auto` the fastest by this machine's calibration, said in a note;
 * for a named one every core, or --threads.
 */
export async function engineFor(
  options: Pick<GemmOptions, 'engine' | 'kernel' | 'threads'>,
  op: MmaOp,
  size: { readonly m: number; readonly n: number; readonly k: number },
  listen: Listener,
): Promise<{ engine: Engine; threads: number; speed?: number }> {
  const wanted = options.engine ?? process.env.BITMMA_ENGINE ?? 'auto';
  const kernel = options.kernel ?? process.env.BITMMA_KERNEL;
  if (wanted !== 'auto' || kernel !== undefined)
    return {
      engine: await chooseEngine(options.engine, op, listen),
      threads: options.threads ?? defaultThreads(),
    };
  const choice = await chooseFastest(
    op,
    size,
    options.threads === undefined ? {} : { threads: options.threads },
  );
  const { pick, candidates } = choice;
  const others = candidates.slice(1).map((x) => `${x.engine} ${formatSeconds(x.seconds)}`);
  listen({
    kind: 'note',
    message: `engine ${pick.engine}, ${pick.threads} thread${pick.threads === 1 ? '' : 's'}: predicted ${formatSeconds(pick.seconds)}${others.length > 0 ? ` (${others.join(', ')})` : ''}`,
  });
  return { engine: choice.engine, threads: pick.threads, speed: pick.speed };
}

const formatSeconds = (seconds: number): string =>
  seconds < 1 ? `${Number((seconds * 1000).toPrecision(2))} ms` : `${seconds.toPrecision(3)} s`;
