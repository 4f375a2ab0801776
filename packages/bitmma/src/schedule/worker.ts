import type { Loaded, RunReport, Session } from '@bitmma/core';
import { ENGINES } from '../engines.js';
import type { TileAnswer, TileTask } from './tasks.js';

/** An engine's session, kept from job to job: it holds scratch memory that is slow to get anew. */
interface Kept {
  readonly key: string;
  readonly session: Session;
  counted: RunReport;
}

interface Attached {
  readonly live: Int32Array;
  readonly kept: Kept;
  readonly loaded: Loaded;
}

/** Running jobs attached at a time in one worker, and sessions; the least recently used is let go first. */
const KEPT = 4;
const attached = new Map<number, Attached>();
const sessions = new Map<string, Kept>();

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
    const { kept, loaded } = await attachOnce(task);
    const { session } = kept;
    const { bounds, chain, d, c } = task;
    await session.tile(loaded, { ...bounds, chain, d, ...(c !== null && { c }) });
    await session.settle();
    const before = kept.counted;
    kept.counted = session.report();
    return {
      ok: true,
      kernel: session.kernel,
      kernels: difference(kept.counted.kernels, before.kernels),
      rarePaths: difference(kept.counted.rarePaths, before.rarePaths),
      seconds: Number(process.hrtime.bigint() - start) / 1e9,
    };
  } catch (error) {
    // A session that failed is not used again.
    attached.delete(task.job);
    sessions.delete(keyOf(task));
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return { ok: false, name, message };
  }
}

const keyOf = ({ engine, kernel, op }: TileTask): string => `${engine} ${kernel} ${JSON.stringify(op)}`;

/** The job's operands and session; tiles come one at a time, so that nothing is attached twice. */
async function attachOnce(task: TileTask): Promise<Attached> {
  const known = attached.get(task.job);
  attached.delete(task.job);
  if (known) {
    attached.set(task.job, known);
    return known;
  }
  for (const [job, { live, loaded }] of attached)
    if (Atomics.load(live, 0) === 0 || attached.size >= KEPT) {
      attached.delete(job);
      loaded.release();
    }
  const kept = await sessionFor(task);
  const loaded = await kept.session.attach(task.token);
  const fresh = { live: task.live, kept, loaded };
  attached.set(task.job, fresh);
  return fresh;
}

/** The session of an op on an engine's kernel, opened once; one beyond KEPT that no job uses is closed. */
async function sessionFor(task: TileTask): Promise<Kept> {
  const key = keyOf(task);
  const known = sessions.get(key);
  sessions.delete(key);
  const kept = known ?? (await openFor(task, key));
  sessions.set(key, kept);
  const used = new Set([...attached.values()].map((job) => job.kept));
  for (const old of sessions.values()) {
    if (sessions.size <= KEPT) break;
    if (old === kept || used.has(old)) continue;
    sessions.delete(old.key);
    await old.session.close();
  }
  return kept;
}

async function openFor({ engine, kernel, op }: TileTask, key: string): Promise<Kept> {
  const opened = await ENGINES.open(engine);
  const session = await opened.open(op, kernel === null ? {} : { kernel });
  return { key, session, counted: session.report() };
}

function difference(after: Readonly<Record<string, number>>, before: Readonly<Record<string, number>>) {
  return Object.fromEntries(Object.entries(after).map(([key, count]) => [key, count - (before[key] ?? 0)]));
}
