import type { Loaded, RunReport, Session } from '@bitmma/core';
import { ENGINES } from '../engines.js';
import type { TileAnswer, TileTask } from './tasks.js';

interface Attached {
  readonly session: Session;
  readonly loaded: Loaded;
  counted: RunReport;
}

/** Jobs attached at a time in one worker; the least recently used is released first. */
const KEPT = 4;
const attached = new Map<number, Promise<Attached>>();

/** Runs one tile in this worker, attaching the job's operands on its first tile. */
export default async function runTile(task: TileTask): Promise<TileAnswer> {
  try {
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
  const fresh = attach(task);
  attached.set(task.job, fresh);
  for (const [job, old] of attached) {
    if (attached.size <= KEPT) break;
    attached.delete(job);
    const { session, loaded } = await old;
    loaded.release();
    await session.close();
  }
  return fresh;
}

async function attach({ engine, kernel, op, token }: TileTask): Promise<Attached> {
  const open = await ENGINES.open(engine);
  const session = await open.open(op, kernel === null ? {} : { kernel });
  const loaded = await session.attach(token);
  return { session, loaded, counted: session.report() };
}

function difference(after: Readonly<Record<string, number>>, before: Readonly<Record<string, number>>) {
  return Object.fromEntries(Object.entries(after).map(([key, count]) => [key, count - (before[key] ?? 0)]));
}
