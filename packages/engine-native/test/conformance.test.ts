import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Engine } from '@bitmma/core';
import { campaignsFor, generateCases, runSuite, type SuiteResult } from '@bitmma/core/conformance';
import { runConformance } from '@bitmma/core/conformance/node';
import { referenceEngine } from '@bitmma/core/reference';
import { describe, expect, it } from 'vitest';
import { nativeEngine } from '../src/index.js';
import { arithmetics, recorded } from './ops.js';

const ops = arithmetics();
const engine: Engine = await nativeEngine();
const kernelsOf = (op: (typeof ops)[number]) => {
  const support = engine.supports(op);
  return support.ok ? support.kernels : [];
};
const kernels = [...new Set(ops.flatMap(kernelsOf))];

/** Adds up one record of each op's report. */
function total(records: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const record of records)
    for (const [name, count] of Object.entries(record)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

/** Prints the cases, elements by kernel and rare paths; fails where the forced kernel handed back three quarters. */
function tell(kernel: string, what: string, result: SuiteResult): void {
  const list = (record: Record<string, number>) =>
    Object.entries(record)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ') || 'none';
  const by = total(result.ops.map((op) => op.report.kernels));
  const rare = total(result.ops.map((op) => op.report.rarePaths));
  console.info(
    `kernel ${kernel}, ${what}: ${result.passed} cases right, ${result.failed} wrong; elements by ${list(by)}; rare paths ${list(rare)}`,
  );
  const all = Object.values(by).reduce((sum, count) => sum + count, 0);
  expect((by[kernel] ?? 0) / all, `${what}: share of kernel ${kernel}`).toBeGreaterThan(0.25);
}

function expectClean(result: SuiteResult, least: number): void {
  const wrong = result.ops.flatMap((op) =>
    op.mismatches.map((m) => `${op.op.instruction} ${m.inputs}: ${m.expected}, got ${m.got}`),
  );
  expect(wrong).toEqual([]);
  expect(result.failed).toBe(0);
  expect(result.passed).toBeGreaterThanOrEqual(least);
}

it('supports every op of the catalog', () => {
  expect(ops.filter((op) => !kernelsOf(op).includes('scalar')).map((op) => op.instruction)).toEqual([]);
});

describe.each(kernels)('kernel %s', (kernel) => {
  const recordings = recorded('recordings');
  it.skipIf(recordings === null)('reproduces every recorded word', async () => {
    const result = await runConformance({ paths: [recordings!], engine, kernel });
    expectClean(result, kernel === 'scalar' ? 150_000 : 5_000);
    tell(kernel, 'recordings', result);
  });

  const vectors = recorded('vectors');
  it.skipIf(vectors === null)('reproduces the recorded tcgen05 words', async () => {
    const result = await runConformance({ paths: [vectors!], engine, kernel });
    expectClean(result, kernel === 'scalar' ? 59 : 1);
    tell(kernel, 'tcgen05 words', result);
  });

  const targeted = fileURLToPath(new URL('../../core/vectors', import.meta.url));
  it.skipIf(!existsSync(targeted))('reproduces the targeted vectors', async () => {
    const result = await runConformance({ paths: [targeted], engine, kernel });
    expectClean(result, 1);
    tell(kernel, 'targeted vectors', result);
  });

  it.each([1, 3])('agrees with the reference on random dots of %s instructions', async (chain) => {
    function* sets() {
      for (const op of ops.filter((candidate) => kernelsOf(candidate).includes(kernel)))
        for (const campaign of campaignsFor(op))
          yield generateCases(op, campaign, { seed: 20 + chain, count: 24, k: op.k * chain });
    }
    const result = await runSuite(sets(), { engine, kernel, against: referenceEngine() });
    expectClean(result, 1_000);
    tell(kernel, `random dots of ${chain} instructions`, result);
    const rare = result.ops.map((op) => op.report.rarePaths);
    const paths =
      kernel === 'scalar' ? ['non-finite', 'overflow', 'subnormal-addend'] : ['handed-back-non-finite'];
    for (const path of paths)
      expect(
        rare.reduce((sum, paths) => sum + (paths[path] ?? 0), 0),
        path,
      ).toBeGreaterThan(0);
  });
});
