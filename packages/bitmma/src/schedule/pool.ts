import { availableParallelism } from 'node:os';
import { BitmmaError } from '@bitmma/core';
import { Piscina } from 'piscina';
import type { TileAnswer, TileTask } from './tasks.js';

/** A tile whose worker died more often than it may. */
export class WorkerLostError extends BitmmaError {}

/** An engine's error that came back from a worker; `engineError` is its class name there. */
export class WorkerEngineError extends BitmmaError {
  constructor(
    readonly engineError: string,
    message: string,
  ) {
    super(message);
  }
}

/** Milliseconds that piscina has to replace a worker. */
const REPLACE_AFTER = 20;

/** The worker's entry, built: from the sources too, as tests run them. */
const ENTRY = new URL('../../dist/schedule/worker-entry.cjs', import.meta.url).href;

export type TileResult = Extract<TileAnswer, { ok: true }>;

/** Worker threads that run tiles: the one place that knows piscina. */
export class TilePool {
  #piscina: Piscina<TileTask, TileAnswer>;
  #closed = false;

  constructor(readonly threads: number) {
    this.#piscina = this.#start();
  }

  #start(): Piscina<TileTask, TileAnswer> {
    const piscina = new Piscina<TileTask, TileAnswer>({
      filename: ENTRY,
      minThreads: this.threads,
      maxThreads: this.threads,
      // The second waits in the worker, which takes it without asking.
      concurrentTasksPerWorker: 2,
    });
    // A worker that dies idle is replaced by piscina; one that dies under a tile rejects that tile's run().
    piscina.on('error', () => {});
    // One that dies while it starts is not, and its pool takes no more work: then the whole pool is replaced.
    piscina.on('workerDestroy', () => {
      setTimeout(() => {
        if (this.#closed || piscina !== this.#piscina || piscina.threads.length >= this.threads) return;
        this.#piscina = this.#start();
        void piscina.destroy();
      }, REPLACE_AFTER);
    });
    return piscina;
  }

  /**
   * Runs a tile; a worker that dies under it is replaced and the tile redone up to `retries` times. Tiles write every
   * element of their own d and read nothing from it, so redoing one is safe. Throws WorkerLostError, WorkerEngineError.
   */
  async run(task: TileTask, retries = 3): Promise<TileResult & { readonly redone: number }> {
    for (let redone = 0; ; redone++) {
      let answer: TileAnswer;
      try {
        answer = await this.#piscina.run(task);
      } catch (error) {
        if (redone < retries) continue;
        const { m0, m1, n0, n1 } = task.bounds;
        throw new WorkerLostError(
          `rows ${m0}..${m1}, columns ${n0}..${n1}: the worker died ${redone + 1} times, last of: ${(error as Error).message}`,
        );
      }
      if (!answer.ok) throw new WorkerEngineError(answer.name, answer.message);
      return { ...answer, redone };
    }
  }

  /** Thread ids of the workers that live now; tests kill them. */
  get workers(): readonly { readonly threadId: number; terminate(): Promise<number> }[] {
    return this.#piscina.threads;
  }

  /** Ends every worker once its tile is done. */
  close(): Promise<void> {
    this.#closed = true;
    return this.#piscina.close();
  }
}

const pools = new Map<number, TilePool>();

/** The process's pool of so many workers, kept warm; idle workers do not keep the process alive. */
export function sharedPool(threads: number): TilePool {
  let pool = pools.get(threads);
  if (!pool) {
    pool = new TilePool(threads);
    pools.set(threads, pool);
  }
  return pool;
}

/** Whether the process's pool of so many workers was started. */
export const poolRuns = (threads: number): boolean => pools.has(threads);

/** Worker threads by default: every core that this process may use. */
export const defaultThreads = (): number => availableParallelism();

/** Ends every shared pool. */
export async function closePools(): Promise<void> {
  const open = [...pools.values()];
  pools.clear();
  await Promise.all(open.map((pool) => pool.close()));
}
