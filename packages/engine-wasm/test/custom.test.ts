import { type MmaOp, parseOp } from '@bitmma/core';
import { campaignsFor, generateCases, runSuite } from '@bitmma/core/conformance';
import { referenceEngine } from '@bitmma/core/reference';
import { expect, test } from 'vitest';
import { wasmEngine } from '../src/index.js';
import { fitsNarrow } from '../src/narrow.js';
import { SIMD, simdPlan } from '../src/simd-plan.js';
import { customOp } from './suite/custom.js';

const OPS = Number(process.env.BITMMA_CUSTOM_OPS ?? 150);
const FIRST = Number(process.env.BITMMA_CUSTOM_SEED ?? 1);

test('random custom ops agree with the reference, windows beyond 62 bits included', async () => {
  const engine = await wasmEngine();
  const refused = new Map<string, number>();
  const ran = { wide: 0, narrow: 0 };
  for (let seed = FIRST; seed < FIRST + OPS; seed++) {
    const op: MmaOp | null = customOp(seed);
    if (!op) continue;
    const support = engine.supports(op);
    if (!support.ok) {
      refused.set(support.reason, (refused.get(support.reason) ?? 0) + 1);
      continue;
    }
    ran[fitsNarrow(op) ? 'narrow' : 'wide']++;
    const k = op.k * (1 + (seed % 2));
    const sets = campaignsFor(op).map((campaign) => generateCases(op, campaign, { seed, count: 4, k }));
    for (const kernel of support.kernels) {
      const result = await runSuite(sets, { engine, kernel, against: referenceEngine(), keep: 1 });
      const found = result.ops.flatMap((ran) => ran.mismatches);
      expect(found, `custom op ${seed}: ${JSON.stringify(op)}`).toEqual([]);
    }
  }
  expect(ran.wide).toBeGreaterThan(OPS / 10);
  expect(ran.narrow).toBeGreaterThan(OPS / 10);
  // What the engine refuses, it refuses by name.
  for (const reason of refused.keys()) expect(reason).toMatch(/^sparse (pairwise|sequential-fma)/);
});

test('fused windows of other widths agree with the reference on the SIMD kernels that take them', async () => {
  const engine = await wasmEngine();
  const seen = new Set<number>();
  let windows = 0;
  const formats = ['e4m3', 'e5m2', 'e2m1', 'fp16', 'bf16', 'tf32', 'e5m2fnuz', 'e4m3fnuz'] as const;
  for (const [i, a] of formats.entries())
    for (const block of [2, 4, 8, 16, 20, 32, 48, 64])
      for (let fraction = 9 + (i % 3); fraction <= 26; fraction += 3) {
        const half = (block + fraction + i) % 3 === 0;
        const precision = half ? 10 : (block + fraction) % 2 === 0 ? 23 : 12;
        const output = {
          ...{ format: half ? 'fp16' : 'fp32', rounding: half ? 'RNE' : 'RZ', precision },
          ...{ underflow: 'positive', nan: half ? '7fff' : '7fffffff' },
        };
        const floor = [null, -20, -60, -133][(block + i) % 4];
        const nothing = { zeroAddendExponent: null, productOverflow: null };
        const datapath = {
          kind: 'fused-window',
          block,
          fraction,
          floor,
          alignment: 'RZ',
          ...nothing,
          output,
        };
        const op = parseOp({ a, b: formats[(i + (fraction % 2)) % 8], k: block, datapath }, 'window');
        const plan = simdPlan(op);
        if (!plan) continue;
        seen.add(plan.kernel);
        windows++;
        const sets = campaignsFor(op).map((c) =>
          generateCases(op, c, { seed: fraction, count: 6, k: 2 * block }),
        );
        const result = await runSuite(sets, { engine, kernel: 'simd', against: referenceEngine(), keep: 1 });
        expect(
          result.ops.flatMap((ran) => ran.mismatches),
          JSON.stringify(op),
        ).toEqual([]);
      }
  expect(windows).toBeGreaterThan(100);
  expect([...seen].sort()).toEqual([SIMD.f32, SIMD.i32, SIMD.i32Shorts]);
});
