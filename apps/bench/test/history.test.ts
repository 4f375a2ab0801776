import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { appendRecords, compareRecords, historySteps, readRecords } from '../src/history.js';
import type { BenchRecord } from '../src/measure.js';
import { renderReport } from '../src/report.js';
import { median, medianInterval } from '../src/stats.js';

const machine = { processor: 'x', cores: 2, platform: 'linux-x64', node: '20', avx2: true, avx512: true };

/** A record whose samples have a long tail above `seconds`; `drift` slows the whole machine. */
function record(
  commit: string,
  seconds: number,
  seed: number,
  more: Partial<BenchRecord> & { drift?: number } = {},
): BenchRecord {
  let state = seed * 7919 + 1;
  const next = () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
  const { drift = 1, ...rest } = more;
  const times = (each: number) => Array.from({ length: 15 }, () => drift * each * (1 + 0.5 * next() ** 6));
  const samples = times(seconds);
  return {
    version: 2,
    workload: 'fp8-512x512x512',
    benchVersion: 'v',
    engine: 'native',
    kernel: 'avx512',
    build: 'b',
    commit,
    catalogHash: 'c',
    opHash: 'o',
    machine,
    date: '2026-01-01T00:00:00.000Z',
    macs: 512 ** 3,
    samples,
    sgemm: times(0.002),
    median: median(samples),
    interval: medianInterval(samples),
    gmacs: 512 ** 3 / median(samples) / 1e9,
    ratioToSgemm: (0.002 * drift) / median(samples),
    ratioToReference: null,
    ...rest,
  };
}

/** Five runs of two commits in turn. */
const inTurn = (
  seed: number,
  [base, head]: readonly [number, number],
  more: (run: number) => Parameters<typeof record>[3] = () => ({}),
): BenchRecord[] =>
  Array.from({ length: 5 }, (_, i) => [
    record('base', base, 100 * seed + 2 * i, more(2 * i)),
    record('head', head, 100 * seed + 2 * i + 1, more(2 * i + 1)),
  ]).flat();

describe('compare', () => {
  test('catches a 10 % slowdown of one kernel among unchanged ones', () => {
    const records = [
      ...inTurn(1, [0.005, 0.0055]),
      ...inTurn(2, [0.05, 0.05], () => ({ engine: 'wasm', kernel: 'simd' })),
    ];
    expect(compareRecords(records, 'base', 'head').map((c) => [c.engine, c.verdict])).toEqual([
      ['native', 'slower'],
      ['wasm', 'same'],
    ]);
    expect(compareRecords(records, 'head', 'base')[0]!.verdict).toBe('faster');
  });

  test('stays quiet in 20 repeats of an unchanged kernel', () => {
    for (let i = 0; i < 20; i++)
      expect(compareRecords(inTurn(i, [0.005, 0.005]), 'base', 'head')[0]!.verdict).toBe('same');
  });

  test('a machine that is slower as a whole, or for a while, is no regression', () => {
    const later = inTurn(1, [0.005, 0.005], (run) => ({ drift: run % 2 === 1 ? 1.4 : 1 }));
    expect(compareRecords(later, 'base', 'head')[0]!.verdict).toBe('same');
    const wandering = inTurn(1, [0.005, 0.0055], (run) => ({ drift: 1 + 0.1 * run }));
    expect(compareRecords(wandering, 'base', 'head')[0]!.verdict).toBe('slower');
  });

  test('fewer than three runs of a commit are no verdict', () => {
    const records = inTurn(1, [0.005, 0.01]);
    expect(compareRecords(records.slice(0, 4), 'base', 'head')[0]!.verdict).toBe('unclear');
    expect(compareRecords(records.slice(0, 6), 'base', 'head')[0]!.verdict).toBe('slower');
  });

  test('records of another benchmark version or machine are never compared', () => {
    const base = record('base', 0.005, 1);
    expect(compareRecords([base, record('head', 0.01, 2, { benchVersion: 'w' })], 'base', 'head')).toEqual(
      [],
    );
    const other = { ...machine, cores: 4 };
    expect(compareRecords([base, record('head', 0.01, 2, { machine: other })], 'base', 'head')).toEqual([]);
  });
});

describe('the history file', () => {
  test('is appended to, never rewritten, and reads back', async () => {
    const path = join(await mkdtemp(join(tmpdir(), 'bench-')), 'h.jsonl');
    await appendRecords(path, [record('a', 1, 1)]);
    const before = await readFile(path, 'utf8');
    await appendRecords(path, [record('b', 1, 2)]);
    expect((await readFile(path, 'utf8')).startsWith(before)).toBe(true);
    expect((await readRecords(path)).map((r) => r.commit)).toEqual(['a', 'b']);
  });

  test('a line that is no record is named', async () => {
    const path = join(await mkdtemp(join(tmpdir(), 'bench-')), 'h.jsonl');
    await writeFile(path, `${JSON.stringify(record('a', 1, 1))}\n{"x`);
    await expect(readRecords(path)).rejects.toThrow(/h\.jsonl:2: expected one JSON object/);
    await writeFile(path, '{"version":1}\n');
    await expect(readRecords(path)).rejects.toThrow(/h\.jsonl:1: expected a version 2/);
  });

  test('a step is found at the commit that made it', () => {
    const records = Array.from({ length: 12 }, (_, i) => record(`c${i}`, i < 6 ? 0.005 : 0.006, i + 1));
    expect(historySteps(records).map((s) => s.commit)).toEqual(['c6']);
  });
});

test('the report is one HTML file with its SVG inside, the same bytes twice', () => {
  const records = Array.from({ length: 4 }, (_, i) => record(`c${i}`, 0.005, i + 1));
  const html = renderReport(records, null);
  expect(html).toContain('<svg');
  expect(html).not.toMatch(/<script|https?:\/\/(?!www\.w3\.org)/);
  expect(renderReport(records, null)).toBe(html);
});
