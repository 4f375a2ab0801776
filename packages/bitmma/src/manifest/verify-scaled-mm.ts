import { opHash } from '@bitmma/core';
import type { Fp8Matrix } from '../cublas/accumulate.js';
import type { OutFormat } from '../cublas/epilogue.js';
import { loadFp8Matrix, toColumnMajor } from '../cublas/files.js';
import type { Fp8 } from '../cublas/presets.js';
import { findProfile } from '../cublas/profiles.js';
import { scaledMm, scaleWord } from '../cublas/scaled-mm.js';
import { chooseEngine } from '../engines.js';
import { silent } from '../events.js';
import { hashWords } from '../gemm/gemm.js';
import { locate } from './manifest.js';
import { indeterminate, type Outcome, rejected, resultFile } from './outcome.js';
import { groupHash } from './rows.js';
import type { ScaledMmRun } from './schema.js';
import type { VerifyOptions } from './verify.js';

/** Re-executes groups of rows of a scaled_mm: rows of A are independent, since the manifest fixes the split. */
export async function verifyScaledMm(
  path: string,
  run: ScaledMmRun,
  groups: readonly number[],
  options: VerifyOptions,
): Promise<Outcome> {
  const listen = options.on ?? silent;
  const signal = options.signal ?? new AbortController().signal;
  const { transB, aFormat, bFormat, fastAccum, splitK, scaleA, scaleB, scaleResult } = run.options;
  const profile = findProfile(run.options.profile);
  const op = profile.preset.op(aFormat as Fp8, bFormat as Fp8);
  if (opHash(op) !== run.opHash)
    return indeterminate(`the arithmetic of profile ${profile.name} is not this run's`);
  const [a, b] = run.inputs;
  if (a?.role !== 'a' || b?.role !== 'b') return indeterminate('the manifest names no A or no B');
  const input = await loadFp8Matrix(locate(a.source, path), aFormat, false, signal);
  const mat2 = await loadFp8Matrix(locate(b.source, path), bFormat, transB, signal);
  for (const [record, { words }] of [
    [a, input],
    [b, mat2],
  ] as const)
    if (hashWords(words) !== record.sha256)
      return indeterminate(`${record.source} does not hold the words of the run's ${record.role}`);
  const done = await resultFile(path, run, listen);
  if (done !== null) return done;

  const [m, n] = run.result.shape;
  const { rowsPerHash, rowHashes } = run.result;
  if (input.shape[0] !== m || mat2.shape[1] !== n || rowHashes.length * rowsPerHash !== m)
    return rejected(
      `the result has ${input.shape[0]} x ${mat2.shape[1]} words, the manifest others`,
      null,
      0,
    );
  const engine = await chooseEngine(options.engine, op, listen);
  const call = {
    scaleA: scaleWord(Number(scaleA)),
    scaleB: scaleWord(Number(scaleB)),
    ...(scaleResult !== undefined && { scaleResult: scaleWord(Number(scaleResult)) }),
    outDtype: run.result.format as OutFormat,
    useFastAccum: fastAccum,
    splitK,
    profile: profile.name,
    engine,
    signal,
  };
  const columnMajor = mat2.strides[0] === 1 ? mat2 : toColumnMajor(mat2);
  const rows = groups.length * rowsPerHash;
  const whole = groups.length === rowHashes.length;
  const { words } = await scaledMm(whole ? input : rowsOf(input, groups, rowsPerHash), columnMajor, call);
  const step = rowsPerHash * n!;
  for (const [at, group] of groups.entries())
    if (groupHash(words.subarray(at * step, (at + 1) * step)) !== rowHashes[group])
      return rejected(`row ${group * rowsPerHash} has other words`, engine.id, rows);
  return {
    verdict: 'accepted',
    reason: whole ? 'every row has the words of the run' : `${rows} of ${m} rows have the words of the run`,
    engine: engine.id,
    rows,
  };
}

/** The rows of the chosen groups, copied one after another. */
function rowsOf(x: Fp8Matrix, groups: readonly number[], each: number): Fp8Matrix {
  const [, k] = x.shape;
  const words = new Uint8Array(new SharedArrayBuffer(groups.length * each * k));
  groups.forEach((group, at) => {
    for (let row = 0; row < each; row++) {
      const from = (x.offset ?? 0) + (group * each + row) * x.strides[0];
      words.set(x.words.subarray(from, from + k), (at * each + row) * k);
    }
  });
  return { format: x.format, words, shape: [groups.length * each, k], strides: [k, 1] };
}
