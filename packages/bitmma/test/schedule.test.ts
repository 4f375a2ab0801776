import { CancelledError, findOp, type MmaOp, type WordArray } from '@bitmma/core';
import { referenceEngine } from '@bitmma/core/reference';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import {
  closePools,
  cutTiles,
  fitSpeed,
  predictSeconds,
  resultOperand,
  type ScheduleRequest,
  sampleInputs,
  schedule,
  sharedPool,
  TilePool,
  WorkerLostError,
} from '../dist/schedule/index.js';

afterAll(closePools);

const OPS: readonly MmaOp[] = [
  findOp('h100', 'wgmma.mma_async.m64n8k32.f32.e4m3.e4m3'),
  findOp('mi300x', 'v_mfma_f32_16x16x16_f16'),
  findOp('b200', 'tcgen05.mma.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.ue4m3'),
  findOp('a100', 'mma.sync.m8n8k4.f64.f64.f64.f64'),
];

async function words(
  op: MmaOp,
  m: number,
  n: number,
  k: number,
  more: Partial<ScheduleRequest>,
): Promise<WordArray> {
  const d = resultOperand(op, m, n);
  await schedule({ op, engine: referenceEngine(), inputs: sampleInputs(op, m, n, k), d, ...more });
  return d.words;
}

describe('cutTiles', () => {
  test('covers every element once and never cuts K', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 400 }),
        fc.integer({ min: 0, max: 400 }),
        fc.integer({ min: 0, max: 5000 }),
        fc.integer({ min: 1, max: 1 << 30 }),
        fc.integer({ min: 1, max: 16 }),
        (m, n, k, macs, threads) => {
          const seen = new Uint8Array(m * n);
          for (const t of cutTiles(m, n, k, macs, threads).tiles)
            for (let i = t.m0; i < t.m1; i++) for (let j = t.n0; j < t.n1; j++) seen[i * n + j]!++;
          expect(seen.every((count) => count === 1)).toBe(true);
        },
      ),
    );
  });

  test('parts of a side are about even: 1024 is not cut into 448, 448 and 128', () => {
    const { tiles } = cutTiles(1024, 1024, 1024, 448 * 448 * 1024, 1);
    expect(new Set(tiles.map((t) => `${t.m1 - t.m0} x ${t.n1 - t.n0}`))).toEqual(
      new Set(['384 x 512', '256 x 512']),
    );
  });

  test('gives every thread a tile where the result has one for each', () => {
    expect(cutTiles(1024, 1024, 1024, 2 ** 40, 8).tiles.length).toBeGreaterThanOrEqual(8);
  });
});

describe('a scheduled GEMM', () => {
  test.each(OPS.map((op) => [op.instruction, op] as const))(
    '%s: the same words for every thread count and tile size',
    async (_, op) => {
      const [m, n, k] = [66, 70, 2 * op.k];
      const want = await words(op, m, n, k, { threads: 1 });
      for (const threads of [1, 2, 3])
        for (const tileMacs of [1, 2 ** 30])
          expect(await words(op, m, n, k, { threads, tileMacs })).toEqual(want);
    },
  );

  test('progress reaches the total, tile by tile', async () => {
    const seen: number[] = [];
    await words(OPS[0]!, 128, 128, 64, {
      threads: 2,
      tileMacs: 64 * 64 * 64,
      onProgress: (done, total) => seen.push(done / total),
    });
    expect(seen).toEqual([0.5, 1]);
  });

  test('every job reports its own elements, and operands of its own', async () => {
    // Two ops in turn: workers keep their sessions from job to job.
    for (const op of [OPS[0]!, OPS[1]!, OPS[0]!, OPS[1]!, OPS[0]!]) {
      const d = resultOperand(op, 70, 80);
      const request = { op, engine: referenceEngine(), inputs: sampleInputs(op, 70, 80, op.k), d };
      const { report, busy, seconds } = await schedule({ ...request, threads: 2, tileMacs: 1 });
      expect(report.kernels).toEqual({ bigint: 70 * 80 });
      expect(busy).toBeLessThanOrEqual(2 * seconds);
      expect(d.words).toEqual(await words(op, 70, 80, op.k, { threads: 1 }));
    }
  });

  test('cancelled before and in the middle, the pool still works', async () => {
    const controller = new AbortController();
    const options = { threads: 2, tileMacs: 1, signal: controller.signal } as const;
    const running = words(OPS[0]!, 256, 256, 64, { ...options, onProgress: () => controller.abort() });
    await expect(running).rejects.toThrow(CancelledError);
    await expect(words(OPS[0]!, 8, 8, 64, options)).rejects.toThrow(/before the first tile/);
    expect(await words(OPS[0]!, 8, 8, 64, { threads: 2 })).toHaveLength(64);
  });

  test('a worker that dies is replaced and its tile redone', async () => {
    const op = OPS[0]!;
    const want = await words(op, 256, 256, 256, { threads: 1 });
    const pool = sharedPool(2);
    let killed = 0;
    const d = resultOperand(op, 256, 256);
    const run = await schedule({
      op,
      engine: referenceEngine(),
      inputs: sampleInputs(op, 256, 256, 256),
      d,
      threads: 2,
      tileMacs: 64 * 64 * 256,
      onProgress: () => {
        if (killed++ < 2) void pool.workers[0]?.terminate();
      },
    });
    expect(run.redone).toBeGreaterThan(0);
    expect(d.words).toEqual(want);
  });

  test('a worker that keeps dying is a clear error that names the tile', async () => {
    const pool = sharedPool(2);
    const stop = setInterval(() => {
      for (const worker of pool.workers) void worker.terminate();
    }, 400);
    await expect(words(OPS[0]!, 256, 256, 8192, { threads: 2, retries: 1 })).rejects.toThrow(WorkerLostError);
    clearInterval(stop);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await words(OPS[0]!, 8, 8, 64, { threads: 2 })).toHaveLength(64);
  });

  test('workers that die while they start are replaced too', async () => {
    const want = await words(OPS[0]!, 128, 128, 64, { threads: 1 });
    const pool = sharedPool(2);
    const running = words(OPS[0]!, 128, 128, 64, { threads: 2, tileMacs: 1, retries: 10 });
    for (let i = 0; i < 5; i++) {
      for (const worker of pool.workers) void worker.terminate();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(await running).toEqual(want);
  });

  test('workers ended at any moment of their start leave the process alive', async () => {
    for (let wait = 0; wait < 120; wait += 10) {
      const pool = new TilePool(2);
      await new Promise((resolve) => setTimeout(resolve, wait));
      await Promise.all(pool.workers.map((worker) => worker.terminate()));
      await pool.close();
    }
    expect(await words(OPS[0]!, 8, 8, 64, { threads: 2 })).toHaveLength(64);
  });

  test('an engine error in a worker comes back with its class and message', async () => {
    const op = OPS[0]!;
    const inputs = sampleInputs(op, 128, 128, 64);
    const d = resultOperand(op, 64, 64);
    await expect(schedule({ op, engine: referenceEngine(), inputs, d, threads: 2 })).rejects.toMatchObject({
      engineError: 'InputError',
      message: expect.stringMatching(/^d: expected at least/),
    });
  });
});

describe('the speed model', () => {
  const [SETUP, WORD, RATE] = [1e-4, 2e-9, 1e9];
  const at = (m: number, n: number, k: number) => ({
    m,
    n,
    k,
    seconds: SETUP + WORD * (m * k + k * n + m * n) + (m * n * k) / RATE,
  });
  const SHAPES = [
    [64, 64, 64],
    [1, 1, 32],
    [4, 4, 32],
    [4, 4, 8192],
    [256, 256, 256],
  ] as const;
  const model = { ...fitSpeed(SHAPES.map(([m, n, k]) => at(m, n, k))), pool: 1e-3, start: 0.3 };

  test('timings of several shapes give setup, cost a word and rate back', () => {
    expect(model.setup / SETUP).toBeCloseTo(1, 6);
    expect(model.perWord / WORD).toBeCloseTo(1, 6);
    expect(model.rate / RATE).toBeCloseTo(1, 6);
    expect(predictSeconds(model, at(512, 64, 128))).toBeCloseTo(at(512, 64, 128).seconds, 9);
  });

  test('one slow timing moves nothing below zero', () => {
    for (const slow of SHAPES.keys()) {
      const noisy = fitSpeed(
        SHAPES.map(([m, n, k], i) => ({ m, n, k, seconds: at(m, n, k).seconds * (i === slow ? 20 : 1) })),
      );
      expect(Math.min(noisy.setup, noisy.perWord)).toBeGreaterThanOrEqual(0);
      expect(noisy.rate).toBeGreaterThan(0);
    }
    expect(fitSpeed([{ m: 4, n: 4, k: 32, seconds: 0.1 }]).rate).toBeGreaterThan(0);
  });

  test('threads share the tiles there are, and workers that do not run yet cost their start', () => {
    const size = { m: 1024, n: 64, k: 1024 };
    const alone = predictSeconds(model, size);
    const plan = (rows: number, warm: boolean) => ({
      tiles: cutTiles(size.m, size.n, size.k, rows * 64 * size.k, 2).tiles,
      threads: 2,
      warm,
    });
    const [two, cold] = [
      predictSeconds(model, size, plan(512, true)),
      predictSeconds(model, size, plan(512, false)),
    ];
    const work = (size.m * size.n * size.k) / model.rate;
    expect(alone - two).toBeCloseTo(work / 2 - model.pool, 9);
    expect(cold - two).toBeCloseTo(model.start, 9);
    // One tile: there is nothing to share.
    const one = { tiles: cutTiles(64, 64, 1024, 1, 1).tiles, threads: 2, warm: false };
    expect(predictSeconds(model, at(64, 64, 1024), one)).toBe(predictSeconds(model, at(64, 64, 1024)));
  });
});
