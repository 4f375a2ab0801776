import { catalog, EngineUnavailableError, findOp, UnsupportedError } from '@bitmma/core';
import { runSuite } from '@bitmma/core/conformance';
import { referenceEngine } from '@bitmma/core/reference';
import { afterAll, describe, expect, it } from 'vitest';
import { FLOAT_OPERATIONS, webglEngine } from '../src/index.js';
import { campaignSets, dataSets, hasData, testOps } from './cases.js';
import { inputsOf, operand, random, runTiles } from './gemm.js';
import { attempt } from './hosts/available.js';

const { engine, why } = await attempt(() => webglEngine());
afterAll(() => engine?.close());

describe.skipIf(!engine)(`webgl in Node${why}`, () => {
  const gl = engine!;
  const supported = testOps().filter((op) => gl?.supports(op).ok);

  it.each(supported.map((op) => [`${op.device} ${op.instruction}`, op] as const))(
    'agrees with the reference on %s',
    async (_, op) => {
      const result = await runSuite(campaignSets(op, 60), {
        engine: gl,
        against: referenceEngine(),
        keep: 2,
      });
      expect(result.ops[0].mismatches).toEqual([]);
      expect(result.passed).toBeGreaterThan(0);
    },
  );

  it.skipIf(!hasData)(
    `reproduces recordings and vectors${hasData ? '' : ' (skipped: BITMMA_DATA is no folder of them)'}`,
    async () => {
      const result = await runSuite(dataSets(1), { engine: gl });
      expect(result.ops.flatMap((op) => op.mismatches)).toEqual([]);
      expect(result.passed).toBeGreaterThan(80_000);
      for (const op of result.ops.filter((one) => one.skipped > 0))
        expect(op.reason).toMatch(/float32 limbs/);
    },
  );

  it('gives a reason for every op that it does not run', () => {
    const reasons = new Set(
      catalog().flatMap((op) => {
        const support = gl.supports(op);
        return support.ok ? [] : [support.reason];
      }),
    );
    expect([...reasons].toSorted()).toMatchInlineSnapshot(`
      [
        "float32 limbs are written for fused-window and cdna3-window, not cdna3-odd-even",
        "float32 limbs are written for fused-window and cdna3-window, not exact",
        "float32 limbs are written for fused-window and cdna3-window, not integer",
        "float32 limbs are written for fused-window and cdna3-window, not pairwise",
        "float32 limbs are written for fused-window and cdna3-window, not scaled-groups",
        "float32 limbs are written for fused-window and cdna3-window, not scaled-window",
        "float32 limbs are written for fused-window and cdna3-window, not sequential-fma",
        "float32 limbs are written for fused-window and cdna3-window, not split-window",
      ]
    `);
  });

  it('runs tiles of strided operands with chains out of order', async () => {
    for (const [device, instruction] of [
      ['a100', 'mma.sync.m16n8k16.f32.bf16.bf16.f32'],
      ['b200', 'tcgen05.mma.sp.kind::f8f6f4.f16.e5m2.e2m3'],
      ['mi300x', 'v_mfma_f32_16x16x8_xf32'],
    ] as const) {
      const op = findOp(device, instruction);
      const k = op.k * 3;
      const inputs = inputsOf(op, 23, 70, op.sparsity ? k : k - 1, 5);
      const c = operand(op.c, 23, 70, false, random(9));
      const jobs = [
        {
          m0: 2,
          m1: 21,
          n0: 5,
          n1: 69,
          chain: [
            { k0: op.k, k1: 2 * op.k },
            { k0: 0, k1: op.k },
            { k0: 2 * op.k, k1: inputs.k },
          ],
        },
        { m0: 0, m1: 2, n0: 0, n1: 9, chain: [{ k0: 0, k1: inputs.k }] },
      ];
      const got = await runTiles(gl, op, inputs, c, jobs);
      expect(got, instruction).toEqual(await runTiles(referenceEngine(), op, inputs, c, jobs));
    }
    expect(gl.memory()).toEqual({ kernels: 0, textures: 0 });
  });

  it('refuses what it does not run', async () => {
    const fp64 = findOp('a100', 'mma.sync.m8n8k4.f64.f64.f64.f64');
    await expect(gl.open(fp64)).rejects.toThrow(UnsupportedError);
    const op = findOp('h100', 'mma.sync.m16n8k16.f32.f16.f16.f32');
    await expect(gl.open(op, { kernel: 'none' })).rejects.toThrow(UnsupportedError);
  });

  it.each(FLOAT_OPERATIONS.map((operation) => [operation.name, operation] as const))(
    'refuses a device that gets %s wrong',
    async (name, operation) => {
      // One pair in thousands comes out wrong.
      const wrong = { ...operation, glsl: `(x == 8193.0 ? 1.0 : 0.0) + (${operation.glsl})` };
      const operations = FLOAT_OPERATIONS.map((other) => (other === operation ? wrong : other));
      const failure = await webglEngine({ operations }).then(
        () => null,
        (error: unknown) => error,
      );
      expect(failure).toBeInstanceOf(EngineUnavailableError);
      expect((failure as Error).message).toContain(`fails its self-test at ${name}`);
    },
  );
});
