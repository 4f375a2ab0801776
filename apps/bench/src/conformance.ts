import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { catalog, catalogHash, type Engine, InputError, type MmaOp, opHash } from '@bitmma/core';
import { campaignsFor, generateCases, runSuite } from '@bitmma/core/conformance';
import { referenceEngine } from '@bitmma/core/reference';
import { engineBuild } from 'bitmma/schedule';
import { mismatchBound } from './bayes.js';

/** Trials of one engine on one arithmetic, over any number of runs. */
export interface Cell {
  readonly engine: string;
  readonly build: string;
  readonly opHash: string;
  readonly instruction: string;
  readonly device: string;
  /** Ops of the catalog with this arithmetic. */
  readonly ops: number;
  readonly trials: number;
  readonly mismatches: number;
  /** Upper bound on the mismatch probability at certainty 1 - 10^-6. */
  readonly bound: number;
  /** Next case index of every campaign: where a resumed run goes on. */
  readonly next: number;
  /** Why the engine does not run the op. */
  readonly reason: string | null;
}

export interface MatrixState {
  readonly version: 1;
  readonly catalogHash: string;
  readonly seed: number;
  readonly cells: readonly Cell[];
}

export interface MatrixOptions {
  readonly engines: readonly Engine[];
  /** Stops once this many seconds have passed, or every cell has this many cases. */
  readonly seconds: number;
  readonly cases: number;
  readonly seed: number;
  /** State to go on from; another catalog hash or seed is refused. */
  readonly resume?: MatrixState;
  /** Where mismatches are appended as vectors, shrunk. */
  readonly mismatchFile?: string;
  readonly filter?: (op: MmaOp) => boolean;
  readonly signal?: AbortSignal;
  readonly onCell?: (cell: Cell) => void;
}

const BATCH = 100;

/** One op for every distinct arithmetic of the catalog, and how many ops share it. */
export function distinctOps(
  filter: (op: MmaOp) => boolean = () => true,
): { op: MmaOp; hash: string; ops: number }[] {
  const byHash = new Map<string, { op: MmaOp; hash: string; ops: number }>();
  for (const op of catalog()) {
    if (!filter(op)) continue;
    const hash = opHash(op);
    const known = byHash.get(hash);
    if (known) known.ops++;
    else byHash.set(hash, { op, hash, ops: 1 });
  }
  return [...byHash.values()];
}

/**
 * Runs engines x ops against the reference, in rounds over all cells, until the time or count budget is spent; returns
 * the state, from which a later call goes on. Mismatches are shrunk and appended as vectors.
 */
export async function conformanceMatrix(options: MatrixOptions): Promise<MatrixState> {
  const hash = catalogHash();
  const { resume, seed } = options;
  if (resume && (resume.catalogHash !== hash || resume.seed !== seed))
    throw new InputError(
      `resume: expected catalog ${hash.slice(0, 12)} and seed ${seed}, got ${resume.catalogHash.slice(0, 12)} and ${resume.seed}`,
    );
  const cells = new Map<string, Cell>();
  const keyOf = (engine: string, op: string) => `${engine} ${op}`;
  for (const cell of resume?.cells ?? [])
    if (cell.build === engineBuild(cell.engine)) cells.set(keyOf(cell.engine, cell.opHash), cell);
  const until = performance.now() + options.seconds * 1000;
  const ops = distinctOps(options.filter);
  let progressed = true;
  while (progressed && performance.now() < until && !options.signal?.aborted) {
    progressed = false;
    for (const engine of options.engines)
      for (const { op, hash: opKey, ops: count } of ops) {
        if (performance.now() >= until || options.signal?.aborted) break;
        const key = keyOf(engine.id, opKey);
        const before = cells.get(key) ?? emptyCell(engine, op, opKey, count);
        if (before.reason !== null || before.next >= options.cases) {
          cells.set(key, before);
          continue;
        }
        const after = await runCell(engine, op, before, options);
        cells.set(key, after);
        options.onCell?.(after);
        progressed = true;
      }
  }
  return { version: 1, catalogHash: hash, seed, cells: [...cells.values()] };
}

function emptyCell(engine: Engine, op: MmaOp, hash: string, ops: number): Cell {
  const support = engine.supports(op);
  return {
    engine: engine.id,
    build: engineBuild(engine.id),
    opHash: hash,
    instruction: op.instruction,
    device: op.device,
    ops,
    trials: 0,
    mismatches: 0,
    bound: 1,
    next: 0,
    reason: support.ok ? null : support.reason,
  };
}

async function runCell(engine: Engine, op: MmaOp, before: Cell, options: MatrixOptions): Promise<Cell> {
  const count = Math.min(BATCH, options.cases - before.next);
  const sets = campaignsFor(op).map((campaign) =>
    generateCases(op, campaign, { seed: options.seed, start: before.next, count }),
  );
  const result = await runSuite(sets, { engine, against: referenceEngine() });
  if (result.failed > 0 && options.mismatchFile) {
    const lines = result.ops
      .flatMap((o) => o.mismatches)
      .map(
        (m) =>
          `${JSON.stringify(m.smallest ? { ...m.smallest.vector, note: `${engine.id} gave ${m.smallest.got}` } : m)}\n`,
      );
    await mkdir(dirname(options.mismatchFile), { recursive: true });
    await appendFile(options.mismatchFile, lines.join(''));
  }
  const trials = before.trials + result.passed + result.failed;
  const mismatches = before.mismatches + result.failed;
  return {
    ...before,
    trials,
    mismatches,
    bound: mismatchBound(trials, mismatches),
    next: before.next + count,
  };
}

/** Reads a state file. Throws InputError for another version or no JSON. */
export async function readMatrix(path: string): Promise<MatrixState> {
  try {
    const state = JSON.parse(await readFile(path, 'utf8')) as MatrixState;
    if (state.version !== 1 || !Array.isArray(state.cells)) throw new Error('not a version 1 state');
    return state;
  } catch (error) {
    throw new InputError(`${path}: expected a conformance state, got: ${(error as Error).message}`);
  }
}

export const writeMatrix = (path: string, state: MatrixState): Promise<void> =>
  writeFile(path, `${JSON.stringify(state, null, 1)}\n`);

/** Totals of one engine: cells, trials, mismatches and the bound over all of them. */
export function engineTotals(state: MatrixState) {
  const engines = [...new Set(state.cells.map((c) => c.engine))];
  return engines.map((engine) => {
    const own = state.cells.filter((c) => c.engine === engine);
    const run = own.filter((c) => c.reason === null);
    const trials = run.reduce((sum, c) => sum + c.trials, 0);
    const mismatches = run.reduce((sum, c) => sum + c.mismatches, 0);
    return {
      engine,
      arithmetics: run.length,
      unsupported: own.length - run.length,
      trials,
      mismatches,
      bound: trials > 0 ? mismatchBound(trials, mismatches) : 1,
    };
  });
}
