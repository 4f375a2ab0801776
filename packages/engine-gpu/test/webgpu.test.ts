import { CancelledError, catalog, EngineUnavailableError, findOp, UnsupportedError } from '@bitmma/core';
import { runSuite } from '@bitmma/core/conformance';
import { referenceEngine } from '@bitmma/core/reference';
import { afterAll, describe, expect, it } from 'vitest';
import { OPERATIONS, type Operation, webgpuEngine } from '../src/index.js';
import { campaignSets, dataSets, hasData, testOps } from './cases.js';
import { inputsOf, operand, random, runTiles } from './gemm.js';
import { attempt } from './hosts/available.js';

const { engine, why } = await attempt(() => webgpuEngine());
afterAll(() => engine?.close());

describe.skipIf(!engine)(`webgpu in Node${why}`, () => {
  const gpu = engine!;
  const supported = testOps().filter((op) => gpu?.supports(op).ok);

  it.each(supported.map((op) => [`${op.device} ${op.instruction}`, op] as const))(
    'agrees with the reference on %s',
    async (_, op) => {
      const result = await runSuite(campaignSets(op, 40), {
        engine: gpu,
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
      const result = await runSuite(dataSets(4), { engine: gpu });
      expect(result.ops.flatMap((op) => op.mismatches)).toEqual([]);
      expect(result.skipped).toBe(0);
      expect(result.passed).toBeGreaterThan(30_000);
    },
  );

  it('gives a reason for every op that it does not run', () => {
    const reasons = new Set(
      catalog().flatMap((op) => {
        const support = gpu.supports(op);
        return support.ok ? [] : [support.reason];
      }),
    );
    expect([...reasons].toSorted()).toMatchInlineSnapshot(`
      [
        "an exact sum of products and an fp32 addend spans several hundred bits, two 32-bit limbs hold 64",
        "fp64 significands do not fit a 32-bit limb",
      ]
    `);
  });

  it('runs tiles of strided operands with chains out of order', async () => {
    for (const [device, instruction] of [
      ['h100', 'mma.sync.m16n8k16.f32.f16.f16.f32'],
      ['b200', 'tcgen05.mma.sp.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.ue4m3'],
      ['mi210', 'v_mfma_f32_16x16x16f16'],
    ] as const) {
      const op = findOp(device, instruction);
      const k = op.k * 3;
      const inputs = inputsOf(op, 23, 70, op.scaling ? k : k - 1, 5);
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
      const got = await runTiles(gpu, op, inputs, c, jobs);
      expect(got, instruction).toEqual(await runTiles(referenceEngine(), op, inputs, c, jobs));
    }
  });

  it('refuses what it does not run, and a stopped signal', async () => {
    const fp64 = findOp('a100', 'mma.sync.m8n8k4.f64.f64.f64.f64');
    await expect(gpu.open(fp64)).rejects.toThrow(UnsupportedError);
    const op = findOp('h100', 'mma.sync.m16n8k16.f32.f16.f16.f32');
    await expect(gpu.open(op, { kernel: 'none' })).rejects.toThrow(UnsupportedError);
    const session = await gpu.open(op, { signal: AbortSignal.abort() });
    const loaded = await session.load(inputsOf(op, 4, 4, 16, 1));
    const d = operand('fp32', 4, 4, false, random(1));
    const tile = { m0: 0, m1: 4, n0: 0, n1: 4, chain: [{ k0: 0, k1: 16 }], d };
    await expect(session.tile(loaded, tile)).rejects.toThrow(CancelledError);
    loaded.release();
    await session.close();
    expect(gpu.memory()).toEqual({ buffers: 0, bytes: 0 });
  });
});

describe.skipIf(!engine)(`webgpu devices${why}`, () => {
  it.each(OPERATIONS.map((operation) => [operation.name, operation] as const))(
    'refuses a device that gets %s wrong',
    async (name, operation) => {
      const wrong: Operation = {
        ...operation,
        wgsl: `((${operation.wgsl}) ^ select(0u, 4u, x == 0x7f800001u))`,
      };
      const operations = OPERATIONS.map((other) => (other === operation ? wrong : other));
      const failure = await webgpuEngine({ operations }).then(
        () => null,
        (error: unknown) => error,
      );
      expect(failure).toBeInstanceOf(EngineUnavailableError);
      expect((failure as Error).message).toContain(`fails its self-test at ${name}`);
    },
  );

  it('says what is missing where there is no adapter', async () => {
    const gpu = { requestAdapter: async () => null } as unknown as GPU;
    await expect(webgpuEngine({ gpu })).rejects.toThrow(/no WebGPU adapter was found; install/);
  });
});
