import type { FormatName } from '@bitmma/core';
import type { Listener } from '../events.js';
import { loadTensor } from '../files/open.js';
import { hashWords } from '../gemm/gemm.js';
import { locate } from './manifest.js';
import type { ManifestRun } from './schema.js';

/** accepted: every re-executed row has the words of the run; indeterminate: it could not be re-executed. */
export interface Verdict {
  readonly verdict: 'accepted' | 'rejected' | 'indeterminate';
  readonly device: string;
  readonly instruction: string;
  readonly reason: string;
  readonly engine: string | null;
  /** Result rows re-executed. */
  readonly rows: number;
}

export type Outcome = Omit<Verdict, 'device' | 'instruction'>;

export const indeterminate = (reason: string): Outcome => ({
  verdict: 'indeterminate',
  reason,
  engine: null,
  rows: 0,
});
export const rejected = (reason: string, engine: string | null, rows: number): Outcome => ({
  verdict: 'rejected',
  reason,
  engine,
  rows,
});

/** The outcome that the file of the result settles already; null: it holds the words, or there is none. */
export async function resultFile(path: string, run: ManifestRun, listen: Listener): Promise<Outcome | null> {
  if (run.result.file === null) return null;
  const file = await loadTensor(locate(run.result.file, path), run.result.format as FormatName).catch(
    () => null,
  );
  if (file === null)
    listen({ kind: 'note', message: `${run.result.file} cannot be read; its words are not compared` });
  else if (hashWords(file.words) !== run.result.sha256)
    return rejected(`${run.result.file} does not hold the words of the run`, null, 0);
  return null;
}
