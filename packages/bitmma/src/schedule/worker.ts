import type { Loaded, RunReport, Session } from '@bitmma/core';
import { ENGINES } from '../engines.js';
import type { TileAnswer, TileTask } from './tasks.js';

interface Attached {
  readonly live: Int32Array;
  readonly session: Session;
  readonly loaded: Loaded;
  counted: RunReport;
}

/** Running jobs attached at a time in one worker; the least recently used is released first. */
const KEPT = 4;
const attached = new Map<number, Promise<Attached>>();

let turn: Promise<unknown> = Promise.resolve();

/** Runs one tile in this worker, one after another, attaching the job's operands on its first tile. */
export default function runTile(task: TileTask): Promise<TileAnswer> {
  const answer = turn.then(() => runOne(task));
  // A turn of the event loop, in which the answer leaves before the next tile begins.
  turn = answer.then(() => new Promise(setImmediate));
  return answer;
}

async function runOne(task: TileTask): Promise<TileAnswer> {
  try {
    const start = process.hrtime.bigint();
    const job = await attachOnce(task);
    const { bounds, chain, d, c } = task;
    await job.session.tile(job.loaded, { ...bounds, chain, d, ...(c !== null && { c }) });
    await job.session.settle();
    const before = job.counted;
    job.counted = job.session.report();
    return {
      ok: true,
      kernel: job.session.kernel,
      kernels: difference(job.counted.kernels, before.kernels),
      rarePaths: difference(job.counted.rarePaths, before.rarePaths),
      seconds: Number(process.hrtime.bigint() - start) / 1e9,
    };
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return { ok: false, name, message };
  }
}

async function attachOnce(task: TileTask): Promise<Attached> {
  const known = attached.get(task.job);
  if (known) {
    attached.delete(task.job);
    attached.set(task.job, known);
    return known;
  }
  for (const [job, old] of attached) {
    const { live } = await old;
    if (Atomics.load(live, 0) === 0 || attached.size >= KEPT) await release(job);
  }
  const fresh = attach(task);
  attached.set(task.job, fresh);
  // One that fails is not kept; its error goes to the tile that waits for it.
  fresh.catch(() => attached.delete(task.job));
  return fresh;
}

/** Lets a job's operands go. */
async function release(job: number): Promise<void> {
  const { session, loaded } = await attached.get(job)!;
  attached.delete(job);
  loaded.release();
  await session.close();
}

async function attach({ live, engine, kernel, op, token }: TileTask): Promise<Attached> {
  const open = await ENGINES.open(engine);
  const session = await open.open(op, kernel === null ? {} : { kernel });
  const loaded = await session.attach(token);
  return { live, session, loaded, counted: session.report() };
}

function difference(after: Readonly<Record<string, number>>, before: Readonly<Record<string, number>>) {
  return Object.fromEntries(Object.entries(after).map(([key, count]) => [key, count - (before[key] ?? 0)]));
}
