import {
  CancelledError,
  type Engine,
  FORMATS,
  type Inputs,
  type KRange,
  type Loaded,
  type MmaOp,
  type Operand,
  type RunReport,
  type Session,
  type WordArray,
} from '@bitmma/core';
import { allocateWords } from '@bitmma/core/formats';
import { tilesFor } from './grain.js';
import { sharedPool, type TilePool } from './pool.js';
import type { TileBounds } from './tiles.js';

/** One GEMM on one engine: every element of d is written, K is never split. */
export interface ScheduleRequest {
  readonly op: MmaOp;
  readonly engine: Engine;
  readonly kernel?: string;
  readonly inputs: Inputs;
  /** Default: one range over all of K. */
  readonly chain?: readonly KRange[];
  readonly c?: Operand;
  /** In shared memory; must not share words with c. */
  readonly d: Operand;
  /** Worker threads for an engine that runs in any; 0 or 1: this thread. */
  readonly threads?: number;
  /** Multiply-adds of a tile; default: what `speed` does in 10 or 50 ms, by engine. */
  readonly tileMacs?: number;
  /** Predicted multiply-adds a second of one thread. */
  readonly speed?: number;
  readonly signal?: AbortSignal;
  /** Multiply-adds done so far of all. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Worker threads to use; default: the process's own of that many. */
  readonly pool?: TilePool;
  /** Times a tile may be redone after its worker died; default 3. */
  readonly retries?: number;
}

export interface ScheduleRun {
  readonly kernel: string;
  readonly report: RunReport;
  readonly threads: number;
  readonly tiles: number;
  /** Tiles run again because their worker died. */
  readonly redone: number;
  /** Seconds until the first tile was done, and until all were. */
  readonly firstTile: number;
  readonly seconds: number;
  /** Seconds that the threads spent in load, attach and tiles, all together; the rest of threads x seconds is overhead. */
  readonly busy: number;
}

let jobs = 0;

/**
 * Runs a GEMM tile by tile: in worker threads where the engine lives in any and more than one is asked for, else in
 * this thread (engines that live once a process, or outside it). The words are the same for every engine, thread
 * count and tile size. CancelledError on the signal; WorkerLostError where a worker keeps dying.
 */
export async function schedule(request: ScheduleRequest): Promise<ScheduleRun> {
  const { op, engine, signal } = request;
  if (signal?.aborted) throw new CancelledError('cancelled before the first tile');
  const start = now();
  const inputs = shareInputs(request.inputs);
  const wanted = engine.placement === 'worker' ? Math.max(1, request.threads ?? 1) : 1;
  const session = await engine.open(op, {
    ...(request.kernel !== undefined && { kernel: request.kernel }),
    ...(signal !== undefined && { signal }),
  });
  const tiles = tilesFor(engine.id, session.kernel, inputs, wanted, request);
  const threads = Math.min(wanted, Math.max(1, tiles.length));
  let loaded: Loaded | undefined;
  try {
    const before = now();
    loaded = await session.load(inputs);
    const job = { request: { ...request, inputs }, session, loaded, tiles, start, loading: now() - before };
    return threads > 1 ? await runInPool(job, request.pool ?? sharedPool(threads)) : await runHere(job);
  } finally {
    loaded?.release();
    await session.close();
  }
}

interface Job {
  readonly request: ScheduleRequest;
  readonly session: Session;
  readonly loaded: Loaded;
  readonly tiles: readonly TileBounds[];
  readonly start: number;
  /** Seconds in load. */
  readonly loading: number;
}

const now = (): number => Number(process.hrtime.bigint()) / 1e9;

const chainOf = ({ chain, inputs }: ScheduleRequest): readonly KRange[] => chain ?? [{ k0: 0, k1: inputs.k }];

/** Counts multiply-adds and calls back. */
function progress({ inputs, onProgress }: ScheduleRequest): (bounds: TileBounds) => void {
  const depth = Math.max(inputs.k, 1);
  const total = inputs.m * inputs.n * depth;
  let done = 0;
  return ({ m0, m1, n0, n1 }) => {
    done += (m1 - m0) * (n1 - n0) * depth;
    onProgress?.(done, total);
  };
}

async function runHere({ request, session, loaded, tiles, start, loading }: Job): Promise<ScheduleRun> {
  const advance = progress(request);
  let firstTile = 0;
  let busy = loading;
  for (const [index, bounds] of tiles.entries()) {
    if (request.signal?.aborted) throw new CancelledError(`cancelled at tile ${index} of ${tiles.length}`);
    const tile = { ...bounds, chain: chainOf(request), d: request.d };
    const before = now();
    await session.tile(loaded, request.c ? { ...tile, c: request.c } : tile);
    busy += now() - before;
    firstTile ||= now() - start;
    advance(bounds);
    // Lets timers and signals in between tiles.
    if (index + 1 < tiles.length) await new Promise((resolve) => setImmediate(resolve));
  }
  const before = now();
  await session.settle();
  return {
    kernel: session.kernel,
    report: session.report(),
    threads: 1,
    tiles: tiles.length,
    redone: 0,
    firstTile,
    seconds: now() - start,
    busy: busy + now() - before,
  };
}

async function runInPool(
  { request, session, loaded, tiles, start, loading }: Job,
  pool: TilePool,
): Promise<ScheduleRun> {
  const { signal } = request;
  const job = ++jobs;
  const live = new Int32Array(new SharedArrayBuffer(4)).fill(1);
  const advance = progress(request);
  const kernels: Record<string, number> = {};
  const rarePaths: Record<string, number> = {};
  let redone = 0;
  let firstTile = 0;
  let busy = loading;
  let next = 0;
  let failure: unknown;
  const lane = async (): Promise<void> => {
    while (next < tiles.length && failure === undefined && !signal?.aborted) {
      const bounds = tiles[next++]!;
      try {
        const done = await pool.run(
          {
            job,
            live,
            engine: request.engine.id,
            kernel: request.kernel ?? null,
            op: request.op,
            token: loaded.token,
            bounds,
            chain: chainOf(request),
            c: request.c ?? null,
            d: request.d,
          },
          request.retries,
        );
        firstTile ||= now() - start;
        redone += done.redone;
        busy += done.seconds;
        addCounts(kernels, done.kernels);
        addCounts(rarePaths, done.rarePaths);
        advance(bounds);
      } catch (error) {
        failure ??= error;
      }
    }
  };
  // Two tiles a worker in flight: the next one waits in its queue, and no more memory is held.
  await Promise.all(Array.from({ length: Math.min(2 * pool.threads, tiles.length) }, lane));
  Atomics.store(live, 0, 0);
  if (failure !== undefined) throw failure;
  if (signal?.aborted) throw new CancelledError(`cancelled after ${next} of ${tiles.length} tiles`);
  return {
    kernel: session.kernel,
    report: { kernels, rarePaths },
    threads: pool.threads,
    tiles: tiles.length,
    redone,
    firstTile,
    seconds: now() - start,
    busy,
  };
}

function addCounts(sum: Record<string, number>, part: Readonly<Record<string, number>>): void {
  for (const [key, count] of Object.entries(part)) sum[key] = (sum[key] ?? 0) + count;
}

/** The inputs with every operand in shared memory; words that are there already are not copied. */
export function shareInputs(inputs: Inputs): Inputs {
  const shared = { ...inputs, a: shareOperand(inputs.a), b: shareOperand(inputs.b) };
  return {
    ...shared,
    ...(inputs.scaleA && { scaleA: shareOperand(inputs.scaleA) }),
    ...(inputs.scaleB && { scaleB: shareOperand(inputs.scaleB) }),
    ...(inputs.sparse && { sparse: shareOperand(inputs.sparse) }),
  };
}

function shareOperand(operand: Operand): Operand {
  if (operand.words.buffer instanceof SharedArrayBuffer) return operand;
  const { wordBits } = FORMATS[operand.format];
  const items = operand.words.length / (wordBits === 64 ? 2 : 1);
  const words: WordArray = allocateWords(wordBits, items, true);
  words.set(operand.words);
  return { ...operand, words };
}
