import { campaignsFor, generateCases, runSuite } from '@bitmma/core/conformance';
import { runConformance } from '@bitmma/core/conformance/node';
import { referenceEngine } from '@bitmma/core/reference';
import { describe, expect, test } from 'vitest';
import { wasmEngine } from '../src/index.js';
import { DATA_PATHS, hasData } from './data.js';
import { distinctOps } from './ops.js';

const engine = await wasmEngine();
const KERNELS = ['scalar', 'simd'] as const;

const opsOf = (kernel: string) =>
  distinctOps().filter((op) => {
    const support = engine.supports(op);
    return support.ok && support.kernels.includes(kernel);
  });

describe.each(KERNELS)('kernel %s', (kernel) => {
  test('every op of the catalog agrees with the reference on every campaign', async () => {
    const sets = opsOf(kernel).flatMap((op) =>
      campaignsFor(op).map((c) => generateCases(op, c, { seed: 1, count: 12 })),
    );
    const result = await runSuite(sets, { engine, kernel, against: referenceEngine(), keep: 1 });
    expect(result.ops.flatMap((op) => op.mismatches)).toEqual([]);
    expect(result.passed).toBe(sets.length * 12);
  });

  test('a chain of several instructions with a ragged end agrees with the reference', async () => {
    const sets = opsOf(kernel).flatMap((op) => {
      const k = op.scaling || op.sparsity ? 2 * op.k : 3 * op.k - 1;
      return campaignsFor(op).map((c) => generateCases(op, c, { seed: 2, count: 3, k }));
    });
    const result = await runSuite(sets, { engine, kernel, against: referenceEngine(), keep: 1 });
    expect(result.ops.flatMap((op) => op.mismatches)).toEqual([]);
    expect(result.passed).toBe(sets.length * 3);
  });

  test.skipIf(!hasData)('every recorded word is reproduced', async () => {
    const result = await runConformance({ paths: DATA_PATHS, engine, kernel });
    expect(result.ops.flatMap((op) => op.mismatches)).toEqual([]);
    expect(result.failed).toBe(0);
    expect(result.passed).toBeGreaterThan(120_000);
  });
});

test('every op of the catalog is supported', () => {
  const refused = distinctOps().filter((op) => !engine.supports(op).ok);
  expect(refused).toEqual([]);
});
