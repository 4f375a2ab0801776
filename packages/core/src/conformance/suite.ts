import type { MmaOp } from '../datapath/op.js';
import type { DotBatch, Engine, RunReport, Session, WordArray } from '../engine/engine.js';
import { BitmmaError, CancelledError, InputError } from '../errors.js';
import { batchOf, type CaseSet, describeCase, sliceCases } from './cases.js';
import { mismatches } from './compare.js';
import { type SmallestFailure, shrinkMismatch } from './shrink.js';
import { formatWords } from './words.js';

/** An engine or kernel that was named and computed nothing: never a pass. */
export class NothingRanError extends BitmmaError {}

export interface Mismatch {
  readonly id: string;
  readonly source: string;
  /** The case's operands, one line. */
  readonly inputs: string;
  readonly expected: string;
  readonly got: string;
  /** Where a second engine decides what is right: the smallest case on which the two still differ. */
  readonly smallest?: SmallestFailure;
}

export interface OpResult {
  readonly op: MmaOp;
  readonly kernel: string | null;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Why the engine does not run the op. */
  readonly reason?: string;
  readonly sources: readonly string[];
  readonly mismatches: readonly Mismatch[];
  readonly report: RunReport;
}

export interface SuiteResult {
  readonly engine: string;
  readonly ops: readonly OpResult[];
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export interface SuiteOptions {
  readonly engine: Engine;
  /** Force this kernel; ops that do not have it are skipped, and no op having it is an error. */
  readonly kernel?: string;
  /** Gives the expected words of sets without d, and shrinks mismatches. Of another lineage than `engine`. */
  readonly against?: Engine;
  /** Cases of one batch. */
  readonly batch?: number;
  /** Mismatches kept with their words, per op. */
  readonly keep?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: { readonly source: string; readonly done: number }) => void;
}

/** Running state of one op. */
interface OpRun {
  readonly op: MmaOp;
  readonly session: Session | null;
  readonly judge: Session | null;
  readonly reason: string | undefined;
  readonly sources: Set<string>;
  readonly mismatches: Mismatch[];
  passed: number;
  failed: number;
  skipped: number;
}

const keyOf = (op: MmaOp) =>
  `${op.device}\n${op.instruction}\n${op.device === 'custom' ? JSON.stringify(op) : ''}`;

/** Runs one batch on a session and returns its d. */
export async function runBatch(session: Session, batch: DotBatch): Promise<WordArray> {
  let count = 0;
  for await (const done of session.dots([batch])) {
    if (done !== batch && done.d !== batch.d)
      throw new InputError(`${session.op.instruction}: expected the batch's own d back, got another array`);
    count++;
  }
  if (count !== 1) throw new InputError(`${session.op.instruction}: expected 1 batch back, got ${count}`);
  return batch.d;
}

class Suite {
  private readonly runs = new Map<string, OpRun>();
  private done = 0;

  constructor(private readonly options: SuiteOptions) {}

  private async open(op: MmaOp): Promise<OpRun> {
    const { engine, kernel, against, signal } = this.options;
    const support = engine.supports(op);
    const reason = !support.ok
      ? support.reason
      : kernel !== undefined && !support.kernels.includes(kernel)
        ? `no kernel ${kernel} for this op, it has ${support.kernels.join(', ')}`
        : undefined;
    const session =
      reason === undefined
        ? await engine.open(op, {
            ...(kernel === undefined ? {} : { kernel }),
            ...(signal ? { signal } : {}),
          })
        : null;
    const judge = session && against ? await against.open(op) : null;
    return {
      op,
      session,
      judge,
      reason,
      sources: new Set(),
      mismatches: [],
      passed: 0,
      failed: 0,
      skipped: 0,
    };
  }

  private async run(op: MmaOp): Promise<OpRun> {
    const key = keyOf(op);
    let run = this.runs.get(key);
    if (!run) {
      run = await this.open(op);
      this.runs.set(key, run);
    }
    return run;
  }

  async add(whole: CaseSet): Promise<void> {
    const { batch = 2048, onProgress, signal } = this.options;
    const run = await this.run(whole.op);
    run.sources.add(whole.source);
    if (!run.session) {
      run.skipped += whole.count;
      return;
    }
    for (let start = 0; start < whole.count; start += batch) {
      if (signal?.aborted) throw new CancelledError(`conformance stopped after ${this.done} cases`);
      const set = sliceCases(whole, start, Math.min(batch, whole.count - start));
      await this.check(run, run.session, set);
      this.done += set.count;
      onProgress?.({ source: whole.source, done: this.done });
    }
  }

  private async check(run: OpRun, session: Session, set: CaseSet): Promise<void> {
    const got = await runBatch(session, batchOf(set));
    if (!set.d && !run.judge)
      throw new InputError(`${set.source}: expected d words or a second engine to compare with, got neither`);
    const expected = set.d ?? (await runBatch(run.judge!, batchOf(set)));
    const failed = mismatches(set, got, expected);
    run.failed += failed.length;
    run.passed += set.count - failed.length;
    const { keep = 8 } = this.options;
    for (const i of failed) {
      if (run.mismatches.length >= keep) break;
      run.mismatches.push({
        id: set.id(i),
        source: set.source,
        inputs: describeCase(set, i),
        expected: formatWords(set.op.d, expected, i, 1),
        got: formatWords(set.op.d, got, i, 1),
        ...(run.judge ? { smallest: await shrinkMismatch(sliceCases(set, i, 1), session, run.judge) } : {}),
      });
    }
  }

  async finish(): Promise<SuiteResult> {
    const { engine, kernel } = this.options;
    const ops: OpResult[] = [];
    for (const run of this.runs.values()) {
      const report = run.session?.report() ?? { kernels: {}, rarePaths: {} };
      const ran = Object.values(report.kernels).reduce((sum, n) => sum + n, 0);
      if (run.session && run.passed + run.failed > 0 && ran === 0)
        throw new NothingRanError(`engine ${engine.id} reports no kernel that ran ${run.op.instruction}`);
      const rare = Object.values(report.rarePaths).reduce((sum, n) => sum + n, 0);
      // A kernel may hand every case of an op back, if it counts them.
      if (kernel !== undefined && run.session && !report.kernels[kernel] && rare < run.passed + run.failed)
        throw new NothingRanError(
          `engine ${engine.id} was to run kernel ${kernel}, but reports ${Object.keys(report.kernels).join(', ') || 'none'} for ${run.op.instruction}`,
        );
      ops.push({
        op: run.op,
        kernel: run.session?.kernel ?? null,
        passed: run.passed,
        failed: run.failed,
        skipped: run.skipped,
        ...(run.reason === undefined ? {} : { reason: run.reason }),
        sources: [...run.sources],
        mismatches: run.mismatches,
        report,
      });
    }
    const total = (field: 'passed' | 'failed' | 'skipped') => ops.reduce((sum, op) => sum + op[field], 0);
    const result = {
      engine: engine.id,
      ops,
      passed: total('passed'),
      failed: total('failed'),
      skipped: total('skipped'),
    };
    if (result.passed + result.failed === 0)
      throw new NothingRanError(
        `engine ${engine.id}${kernel === undefined ? '' : `, kernel ${kernel},`} ran nothing: ${
          ops.length === 0
            ? 'there were no cases'
            : ops.map((op) => `${op.op.instruction}: ${op.reason}`).join('; ')
        }`,
      );
    return result;
  }

  async close(): Promise<void> {
    for (const run of this.runs.values()) {
      await run.session?.close();
      await run.judge?.close();
    }
  }
}

/**
 * Runs an engine over case sets and compares every word.
 * @throws NothingRanError where the engine, or the forced kernel, computed nothing; what the engine throws.
 */
export async function runSuite(
  sets: AsyncIterable<CaseSet> | Iterable<CaseSet>,
  options: SuiteOptions,
): Promise<SuiteResult> {
  if (options.against && options.against.lineage === options.engine.lineage)
    throw new InputError(
      `expected two lineages, ${options.engine.id} and ${options.against.id} both descend from ${options.engine.lineage}`,
    );
  const suite = new Suite(options);
  try {
    for await (const set of sets) await suite.add(set);
    return await suite.finish();
  } finally {
    await suite.close();
  }
}
