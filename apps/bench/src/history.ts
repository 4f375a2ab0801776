import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { InputError } from '@bitmma/core';
import type { BenchRecord } from './measure.js';
import { findSteps, mannWhitney, median } from './stats.js';

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
    if (record.version !== 1 || !Array.isArray(record.samples) || typeof record.workload !== 'string')
      throw new InputError(`${path}:${i + 1}: expected a version 1 bench record`);
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
  readonly verdict: 'slower' | 'faster' | 'same';
}

export interface CompareRule {
  /** A difference counts only beyond this factor... */
  readonly factor: number;
  /** ...and only where the Mann-Whitney test gives a smaller p, divided by the number of comparisons (Bonferroni). */
  readonly p: number;
}

export const DEFAULT_RULE: CompareRule = { factor: 1.05, p: 0.01 };

/**
 * Compares the records of two commits, series by series. Times are taken relative to sgemm of the same run where both
 * have it, so that a machine that was slower as a whole is no regression.
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
    const relative = [...b, ...h].every((r) => r.ratioToSgemm !== null);
    const samples = (list: readonly BenchRecord[]) =>
      list.flatMap((r) => r.samples.map((s) => (relative ? s / (r.ratioToSgemm! * r.median) : s)));
    const [x, y] = [samples(b), samples(h)];
    const factor = median(y) / median(x);
    const p = mannWhitney(x, y);
    const significant = p < rule.p / pairs.length;
    const verdict =
      significant && factor > rule.factor
        ? 'slower'
        : significant && factor < 1 / rule.factor
          ? 'faster'
          : 'same';
    const { workload, engine, kernel } = h[0]!;
    return { workload, engine, kernel, base: median(x), head: median(y), factor, p, verdict };
  });
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
