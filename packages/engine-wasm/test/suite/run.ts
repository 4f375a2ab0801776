import { findOp, type MmaOp } from '@bitmma/core';
import {
  type CaseSet,
  campaignsFor,
  generateCases,
  type Mismatch,
  readRecording,
  readVectors,
  recordingFiles,
  recordingSetOf,
  runSuite,
} from '@bitmma/core/conformance';
import { referenceEngine } from '@bitmma/core/reference';
import { wasmEngine } from '../../src/index.js';
import { distinctOps } from './ops.js';

/** Cases of a campaign, of one instruction and of a chain of three. */
const CASES = 6;
const CHAINS = 2;

/** What one host and kernel computed: cases an instruction, rare paths, and every mismatch. */
export interface Outcome {
  readonly passed: Readonly<Record<string, number>>;
  readonly total: number;
  readonly failed: number;
  readonly rarePaths: Readonly<Record<string, number>>;
  readonly mismatches: readonly Mismatch[];
}

/** Files of the suite by path, and how this host reads one. */
export interface Files {
  readonly paths: readonly string[];
  read(path: string): Promise<string>;
}

function* generated(ops: readonly MmaOp[]): Generator<CaseSet> {
  for (const op of ops)
    for (const campaign of campaignsFor(op)) {
      yield generateCases(op, campaign, { seed: 1, count: CASES });
      // A ragged end, where the op allows one.
      const k = op.scaling || op.sparsity ? 2 * op.k : 3 * op.k - 1;
      yield generateCases(op, campaign, { seed: 2, count: CHAINS, k });
    }
}

/** Recorded d files with the files beside them, and vector files. */
async function* stored({ paths, read }: Files): AsyncGenerator<CaseSet> {
  for (const path of paths) {
    if (path.endsWith('.jsonl')) {
      yield* readVectors([await read(path)], { source: path, resolve: findOp });
      continue;
    }
    const set = recordingSetOf(path);
    if (!set) continue;
    const folder = path.slice(0, path.lastIndexOf('/'));
    const names = recordingFiles(set);
    const [a, b, c, d] = await Promise.all(
      [names.a, names.b, names.c, names.d].map((name) => read(`${folder}/${name}`)),
    );
    yield readRecording(set, { a, b, c, d }, findOp, path);
  }
}

/** The whole suite on one kernel: the same code in Node and in a browser. */
export async function runEverything(kernel: string, files: Files): Promise<Outcome> {
  const engine = await wasmEngine();
  const has = (op: MmaOp) => {
    const support = engine.supports(op);
    return support.ok && support.kernels.includes(kernel);
  };
  async function* sets() {
    yield* generated(distinctOps().filter(has));
    for await (const set of stored(files)) if (has(set.op)) yield set;
  }
  const result = await runSuite(sets(), { engine, kernel, against: referenceEngine(), keep: 1 });
  const passed: Record<string, number> = {};
  const rarePaths: Record<string, number> = {};
  for (const { op, passed: count, report } of result.ops) {
    passed[`${op.device} ${op.instruction}`] = count;
    for (const [name, times] of Object.entries(report.rarePaths))
      rarePaths[name] = (rarePaths[name] ?? 0) + times;
  }
  const mismatches = result.ops.flatMap((op) => op.mismatches);
  return { passed, total: result.passed, failed: result.failed, rarePaths, mismatches };
}
