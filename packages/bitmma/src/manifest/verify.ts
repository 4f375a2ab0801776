import { BitmmaError, CancelledError, findOp, InputError, type MmaOp, opHash, parseOp } from '@bitmma/core';
import { silent } from '../events.js';
import { type GemmOptions, hashWords, runPrepared } from '../gemm/gemm.js';
import type { Matrices } from '../gemm/operand.js';
import { type GemmOperands, loadOperands, type PreparedGemm, prepareGemm } from '../gemm/prepare.js';
import { type GemmRun, locate, type ManifestRun, readManifest } from './manifest.js';
import { indeterminate, type Outcome, rejected, resultFile, type Verdict } from './outcome.js';
import { groupHash } from './rows.js';
import { verifyScaledMm } from './verify-scaled-mm.js';

export type { Verdict } from './outcome.js';

export interface VerifyOptions extends Pick<GemmOptions, 'engine' | 'kernel' | 'signal' | 'on'> {
  /** Result rows (batch included) to re-execute; absent: all. */
  readonly rows?: readonly number[];
}

/** Re-executes the runs of a manifest, whole or by rows. InputError where the manifest itself is malformed. */
export async function verify(path: string, options: VerifyOptions = {}): Promise<Verdict[]> {
  const manifest = await readManifest(path);
  const verdicts: Verdict[] = [];
  for (const run of manifest.runs) {
    const name = { device: String(run.op.device), instruction: String(run.op.instruction) };
    try {
      verdicts.push({ ...name, ...(await verifyRun(path, run, options)) });
    } catch (error) {
      if (!(error instanceof BitmmaError) || error instanceof CancelledError || error instanceof RowError)
        throw error;
      verdicts.push({ ...name, verdict: 'indeterminate', reason: error.message, engine: null, rows: 0 });
    }
  }
  return verdicts;
}

/** A row that the result does not have. */
class RowError extends InputError {}

async function verifyRun(path: string, run: ManifestRun, options: VerifyOptions): Promise<Outcome> {
  const listen = options.on ?? silent;
  const op = parseOp(run.op, `${path}: op`);
  if (opHash(op) !== run.opHash)
    return indeterminate('the op does not have the hash that the manifest states');
  if (op.device !== 'custom') {
    const current = currentHash(op.device, op.instruction);
    if (current !== run.opHash)
      listen({
        kind: 'note',
        message: `the catalog's arithmetic of ${op.instruction} on ${op.device} is not this run's`,
      });
  }
  const groups = chosenGroups(run, options.rows);
  if (run.kind === 'scaled-mm') return verifyScaledMm(path, run, groups, options);
  return verifyGemm(path, run, op, groups, options);
}

async function verifyGemm(
  path: string,
  run: GemmRun,
  op: MmaOp,
  groups: readonly number[],
  options: VerifyOptions,
): Promise<Outcome> {
  const operands = operandsOf(path, run);
  const { rounding, saturate, transA: _, transB: __, ...formats } = run.options;
  const request = { op, ...definedOf(formats) };
  const loaded = await loadOperands(operands, { ...request }, options.signal);
  for (const input of run.inputs)
    if (hashWords(loaded[input.role]!.words) !== input.sha256)
      return indeterminate(`${input.source} does not hold the words of the run's ${input.role}`);
  const done = await resultFile(path, run, options.on ?? silent);
  if (done !== null) return done;
  const cast = { ...(rounding !== undefined && { rounding }), ...(saturate !== undefined && { saturate }) };
  const prepared = prepareGemm(request, loaded, cast);
  return reexecute(run, prepared, groups, { ...request, ...options });
}

const definedOf = (formats: {
  aFormat?: string | undefined;
  bFormat?: string | undefined;
  outFormat?: string | undefined;
}) => ({
  ...(formats.aFormat !== undefined && { aFormat: formats.aFormat }),
  ...(formats.bFormat !== undefined && { bFormat: formats.bFormat }),
  ...(formats.outFormat !== undefined && { outFormat: formats.outFormat }),
});

/** Runs each chosen group of rows alone; consecutive groups of one batch index run together. */
async function reexecute(
  run: GemmRun,
  prepared: PreparedGemm,
  groups: readonly number[],
  options: GemmOptions,
): Promise<Outcome> {
  const { rowsPerHash } = run.result;
  const total = prepared.batch.reduce((x, y) => x * y, 1) * prepared.m;
  if (run.result.rowHashes.length * rowsPerHash !== total)
    return rejected(
      `the result has ${total} rows, the manifest hashes of ${run.result.rowHashes.length * rowsPerHash}`,
      null,
      0,
    );
  let engine = '';
  for (const { first, last } of consecutive(groups, prepared.m / rowsPerHash)) {
    const part = rowsOf(prepared, first * rowsPerHash, (last + 1) * rowsPerHash);
    const result = await runPrepared(part, { ...options, statistics: false }, silent);
    engine = result.engine;
    const step = result.words.length / (last - first + 1);
    for (let group = first; group <= last; group++) {
      const words = result.words.subarray((group - first) * step, (group - first + 1) * step);
      if (groupHash(words) !== run.result.rowHashes[group])
        return rejected(`row ${group * rowsPerHash} has other words`, engine, groups.length * rowsPerHash);
    }
  }
  const all = groups.length === run.result.rowHashes.length;
  return {
    verdict: 'accepted',
    reason: all
      ? 'every row has the words of the run'
      : `${groups.length * rowsPerHash} of ${total} rows have the words of the run`,
    engine,
    rows: groups.length * rowsPerHash,
  };
}

function currentHash(device: string, instruction: string): string | null {
  try {
    return opHash(findOp(device, instruction));
  } catch (error) {
    if (error instanceof BitmmaError) return null;
    throw error;
  }
}

function chosenGroups({ result }: ManifestRun, rows: readonly number[] | undefined): number[] {
  if (rows === undefined) return result.rowHashes.map((_, i) => i);
  const limit = result.rowHashes.length * result.rowsPerHash;
  for (const row of rows)
    if (row >= limit) throw new RowError(`--rows: expected rows of 0 to ${limit - 1}, got ${row}`);
  return [...new Set(rows.map((row) => Math.floor(row / result.rowsPerHash)))].sort((x, y) => x - y);
}

function operandsOf(path: string, run: GemmRun): GemmOperands {
  const at = Object.fromEntries(run.inputs.map(({ role, source }) => [role, locate(source, path)]));
  if (at.a === undefined || at.b === undefined) throw new InputError('the manifest names no A or no B');
  return { a: at.a, b: at.b, ...at, transA: run.options.transA, transB: run.options.transB };
}

/** Runs of neighbouring groups that stay within one batch index (`perBatch` groups each). */
function consecutive(groups: readonly number[], perBatch: number): { first: number; last: number }[] {
  const runs: { first: number; last: number }[] = [];
  for (const group of groups) {
    const current = runs.at(-1);
    const together =
      current?.last === group - 1 && Math.floor(current.first / perBatch) === Math.floor(group / perBatch);
    if (current !== undefined && together) current.last = group;
    else runs.push({ first: group, last: group });
  }
  return runs;
}

/** Rows r0..r1 (batch included, within one batch index) of a prepared GEMM, as a GEMM of its own. */
function rowsOf(prepared: PreparedGemm, r0: number, r1: number): PreparedGemm {
  const index = Math.floor(r0 / Math.max(prepared.m, 1));
  const row = r0 - index * prepared.m;
  const one = (matrices: Matrices): Matrices => ({
    ...matrices,
    batch: [],
    offsets: [matrices.offsets[matrices.offsets.length === 1 ? 0 : index]!],
  });
  const cut = (matrices: Matrices): Matrices => {
    const whole = one(matrices);
    return { ...whole, rows: r1 - r0, offsets: [whole.offsets[0]! + row * whole.rowStride] };
  };
  return {
    ...prepared,
    m: r1 - r0,
    batch: [],
    a: cut(prepared.a),
    b: one(prepared.b),
    c: prepared.c && cut(prepared.c),
    scaleA: prepared.scaleA && cut(prepared.scaleA),
    scaleB: prepared.scaleB && one(prepared.scaleB),
    sparse: prepared.sparse && cut(prepared.sparse),
  };
}
