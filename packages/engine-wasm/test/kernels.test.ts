import { campaignOf, generateCases, runSuite } from '@bitmma/core/conformance';
import { referenceEngine } from '@bitmma/core/reference';
import { expect, test } from 'vitest';
import { wasmEngine } from '../src/index.js';
import { simdPlan } from '../src/simd-plan.js';
import { edgesOf } from './suite/edges.js';
import { distinctOps } from './suite/ops.js';
import { panelMismatch } from './suite/panels.js';
import { doubleTileMismatch } from './suite/tiles.js';

test('windows filled to the last quantum, of zero products, smallest terms and ties agree with the reference on every SIMD op', async () => {
  const engine = await wasmEngine();
  const ops = distinctOps().filter((op) => simdPlan(op) !== null);
  expect(ops.length).toBeGreaterThan(140);
  const result = await runSuite(ops.flatMap(edgesOf), {
    ...{ engine, kernel: 'simd', against: referenceEngine(), keep: 1 },
  });
  expect(result.ops.flatMap((op) => op.mismatches)).toEqual([]);
});

test('edges of CDNA, FMAs, integers and block-scaled groups agree with the reference on the integer path', async () => {
  const kinds = ['cdna3-window', 'cdna3-odd-even', 'pairwise', 'sequential-fma', 'integer', 'scaled-groups'];
  const ops = distinctOps().filter(({ datapath }) => kinds.includes(datapath.kind));
  const options = { engine: await wasmEngine(), kernel: 'scalar', against: referenceEngine(), keep: 1 };
  const result = await runSuite(ops.flatMap(edgesOf), options);
  expect(new Set(result.ops.map(({ op }) => op.datapath.kind))).toEqual(new Set(kinds));
  expect(result.ops.flatMap((op) => op.mismatches)).toEqual([]);
});

test('tiles of fp64 products agree with dot products one by one', async () => {
  const engine = await wasmEngine();
  const ops = distinctOps().filter(({ a }) => a === 'fp64');
  expect(ops.length).toBeGreaterThan(0);
  for (const op of ops)
    for (const set of [
      ...edgesOf(op),
      generateCases(op, campaignOf('normal'), { seed: 3, count: 50, k: op.k }),
    ])
      expect(await doubleTileMismatch(engine, set), op.instruction).toBe(null);
});

test('panels of one column 16 times agree with the integer path on edges of every SIMD op', async () => {
  const engine = await wasmEngine();
  for (const op of distinctOps().filter((op) => simdPlan(op) !== null && op.datapath.kind !== 'integer'))
    for (const set of edgesOf(op))
      expect(
        await panelMismatch(engine, set, op.datapath.kind.startsWith('cdna3') ? 1 : 3),
        op.instruction,
      ).toBe(null);
});

test('every lane of a panel computes alike, ragged panels included', async () => {
  const engine = await wasmEngine();
  for (const op of distinctOps().filter((op) => simdPlan(op) !== null && !op.sparsity)) {
    const set = generateCases(op, campaignOf(op.datapath.kind === 'integer' ? 'raw-bit' : 'cancellation'), {
      seed: 9,
      count: 35,
      k: 2 * op.k,
    });
    const run = async (kernel: string) => {
      const session = await engine.open(op, { kernel });
      const words = op.d === 'fp16' ? new Uint16Array(35 * 35) : new Uint32Array(35 * 35);
      const loaded = await session.load({
        ...{ m: 35, n: 35, k: 2 * op.k },
        a: { format: op.a, words: set.a, offset: 0, rowStride: 2 * op.k, colStride: 1 },
        b: { format: op.b, words: set.b, offset: 0, rowStride: 1, colStride: 2 * op.k },
      });
      const d = { format: op.d, words, offset: 0, rowStride: 35, colStride: 1 };
      await session.tile(loaded, { m0: 0, m1: 35, n0: 0, n1: 35, chain: [{ k0: 0, k1: 2 * op.k }], d });
      return words;
    };
    expect(await run('simd'), op.instruction).toEqual(await run('scalar'));
  }
});
