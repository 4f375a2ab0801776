import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { InputError } from '@bitmma/core';
import type { BenchRecord } from './measure.js';
import { findSteps, lowerQuartile, median, welch } from './stats.js';

/** Appends records as JSON Lines: nothing that stands in the file is ever changed. */
export async function appendRecords(path: string, records: readonly BenchRecord[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await appendFile(path, records.map((r) => `${JSON.stringify(r)}\n`).join(''));
}

/** Reads a history. Throws InputError naming the line that is no record. */
export async function readRecords(path: string): Promise<BenchRecord[]> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new InputError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  return text.split('\n').flatMap((line, i) => {
    if (line.trim() === '') return [];
    let record: BenchRecord;
    try {
      record = JSON.parse(line) as BenchRecord;
    } catch {
      throw new InputError(`${path}:${i + 1}: expected one JSON object, got ${line.slice(0, 40)}`);
    }
    if (record.version !== 2 || !Array.isArray(record.samples) || typeof record.workload !== 'string')
      throw new InputError(`${path}:${i + 1}: expected a version 2 bench record`);
    return [record];
  });
}

/** Records that may be compared: one workload, engine, kernel, machine and benchmark version. */
export const seriesKey = (r: BenchRecord): string =>
  [r.workload, r.engine, r.kernel, r.benchVersion, JSON.stringify(r.machine)].join(' ');

export interface Comparison {
  readonly workload: string;
  readonly engine: string;
  readonly kernel: string;
  readonly base: number;
  readonly head: number;
  /** head / base: above 1 is slower. */
  readonly factor: number;
  readonly p: number;
  /** unclear: fewer than LEAST_RUNS runs of a commit. */
  readonly verdict: 'slower' | 'faster' | 'same' | 'unclear';
}

export interface CompareRule {
  /** A difference counts only beyond this factor... */
  readonly factor: number;
  /** ...and only where Welch's test gives a smaller p, divided by the number of comparisons (Bonferroni). */
  readonly p: number;
}

export const DEFAULT_RULE: CompareRule = { factor: 1.05, p: 0.01 };
/**
 * Runs of each commit that a verdict needs. Samples of one run share its memory, its minute and its neighbours on the
 * machine: taken for independent, they called 8 of 20 unchanged kernels different.
 */
export const LEAST_RUNS = 3;

/**
 * Compares the records of two commits, series by series. The unit is a run. Its figure is the lower quartile of its times
 * over that of sgemm in the same rounds where both commits have it: other work on the machine only adds time, and one
 * that is slower as a whole is no regression. Runs of the two commits should alternate.
 */
export function compareRecords(
  records: readonly BenchRecord[],
  base: string,
  head: string,
  rule: CompareRule = DEFAULT_RULE,
): Comparison[] {
  const of = (commit: string) => {
    const bySeries = new Map<string, BenchRecord[]>();
    for (const r of records)
      if (r.commit.startsWith(commit)) bySeries.set(seriesKey(r), [...(bySeries.get(seriesKey(r)) ?? []), r]);
    return bySeries;
  };
  const [bases, heads] = [of(base), of(head)];
  const pairs = [...heads].flatMap(([key, h]) => {
    const b = bases.get(key);
    return b ? [[b, h] as const] : [];
  });
  return pairs.map(([b, h]) => {
    const relative = [...b, ...h].every((r) => r.sgemm !== null);
    const figures = (list: readonly BenchRecord[]) =>
      list.map((r) => lowerQuartile(r.samples) / (relative ? lowerQuartile(r.sgemm!) : 1));
    const [x, y] = [figures(b), figures(h)];
    const factor = median(y) / median(x);
    const p = welch(x, y);
    const { workload, engine, kernel } = h[0]!;
    const verdict = verdictOf(Math.min(x.length, y.length), factor, p < rule.p / pairs.length, rule);
    return { workload, engine, kernel, base: median(x), head: median(y), factor, p, verdict };
  });
}

function verdictOf(
  runs: number,
  factor: number,
  significant: boolean,
  rule: CompareRule,
): Comparison['verdict'] {
  if (runs < LEAST_RUNS) return 'unclear';
  if (significant && factor > rule.factor) return 'slower';
  return significant && factor < 1 / rule.factor ? 'faster' : 'same';
}

export interface Step {
  readonly series: string;
  readonly commit: string;
  readonly before: number;
  readonly after: number;
}

/** Where a series' medians step, in the order of the file. */
export function historySteps(records: readonly BenchRecord[]): Step[] {
  const bySeries = new Map<string, BenchRecord[]>();
  for (const r of records) bySeries.set(seriesKey(r), [...(bySeries.get(seriesKey(r)) ?? []), r]);
  return [...bySeries.values()].flatMap((list) => {
    const medians = list.map((r) => r.median);
    const steps = findSteps(medians);
    return steps.map((at, i) => ({
      series: `${list[0]!.workload} ${list[0]!.engine}/${list[0]!.kernel}`,
      commit: list[at]!.commit,
      before: median(medians.slice(steps[i - 1] ?? 0, at)),
      after: median(medians.slice(at, steps[i + 1] ?? medians.length)),
    }));
  });
}
