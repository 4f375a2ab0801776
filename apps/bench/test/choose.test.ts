import { type Engine, findOp } from '@bitmma/core';
import { referenceEngine } from '@bitmma/core/reference';
import { cutTiles, predictSeconds, type SpeedModel } from 'bitmma/schedule';
import { describe, expect, test } from 'vitest';
import { compareRows } from '../src/choose.js';
import { conforms } from '../src/gate.js';
import { measure } from '../src/measure.js';
import { bestConstant, countRight, ENOUGH, isRight, PINNED } from '../src/pinned.js';
import { WORKLOADS, workloadsOf } from '../src/workloads.js';

/** Two engines of the kind there are: one with setup and speed, one with neither. */
const FAST: SpeedModel = { setup: 2e-3, perWord: 0, rate: 5e9, pool: 1e-3, start: 0.1 };
const SLOW: SpeedModel = { setup: 1e-5, perWord: 0, rate: 2e7, pool: 1e-3, start: 0.1 };
const cube = (n: number) => ({ m: n, n, k: n });
const pick = (n: number) => (predictSeconds(FAST, cube(n)) < predictSeconds(SLOW, cube(n)) ? 'fast' : 'slow');

describe('the chooser’s prediction', () => {
  test('small problems go to the engine without setup, large ones to the fast one', () => {
    expect([3, 20, 100, 1000].map(pick)).toEqual(['slow', 'slow', 'fast', 'fast']);
  });

  test('a pool is worth its cost only where there is work to share', () => {
    const two = (n: number, warm: boolean) => {
      const { tiles } = cutTiles(n, n, n, 1, 2);
      return predictSeconds(SLOW, cube(n), { tiles, threads: 2, warm });
    };
    const small = { m: 128, n: 128, k: 1 };
    const { tiles } = cutTiles(128, 128, 1, 1, 2);
    expect(predictSeconds(SLOW, small, { tiles, threads: 2, warm: true })).toBeGreaterThan(
      predictSeconds(SLOW, small),
    );
    expect(two(1024, true)).toBeLessThan(0.51 * predictSeconds(SLOW, cube(1024)));
    expect(two(128, false)).toBeGreaterThan(predictSeconds(SLOW, cube(128)));
  });
});

/** Milliseconds that scripts/choose-problems.mjs measured on a two-core server, problem by problem, and its picks. */
const MEASURED: readonly (readonly [string, string, Readonly<Record<string, number | null>>])[] = [
  ['large FP8', 'native', { native: 29.9, wasm: 154, reference: null }],
  ['large fp16', 'native', { native: 18.5, wasm: 101, reference: null }],
  ['tall CDNA3', 'native', { native: 6.48, wasm: 15.5, reference: null }],
  ['deep integers', 'native', { native: 1.51, wasm: 7.1, reference: 213 }],
  ['NVFP4', 'wasm', { wasm: 317, native: 402, reference: 4220 }],
  ['one FP8 dot', 'reference', { reference: 0.0189, wasm: 0.0821, native: 0.0787 }],
  ['one integer dot', 'reference', { reference: 0.00759, native: 0.0361, wasm: 0.0322 }],
  ['FP8 without Rust', 'wasm', { wasm: 4.64, reference: 317 }],
  ['fp16 without Rust', 'wasm', { wasm: 8.83, reference: 613 }],
  ['one fp16 dot without Rust', 'reference', { reference: 0.00931, wasm: 0.0326 }],
];
const measured = MEASURED.map(([name, chosen, times]) => ({
  name,
  pick: chosen,
  rows: Object.entries(times).map(([engine, ms]) => ({
    engine,
    threads: 1,
    predicted: 0,
    measured: ms === null ? null : ms / 1e3,
  })),
}));

describe('the ten pinned problems', () => {
  test('are those that were measured, and native wins at most seven', () => {
    expect(measured.map((x) => x.name)).toEqual(PINNED.map((x) => x.name));
    const others = measured.filter((x) => compareRows(x.pick, x.rows).fastest !== 'native');
    expect(others.length).toBeGreaterThanOrEqual(3);
  });

  test('the picks pass', () => {
    expect(countRight(measured)).toBeGreaterThanOrEqual(ENOUGH);
  });

  test.each(['native', 'wasm', 'reference'])('a chooser that always says %s fails', (engine) => {
    expect(countRight(measured.map(({ rows }) => ({ pick: engine, rows })))).toBeLessThan(ENOUGH);
    expect(bestConstant(measured.map((x) => x.rows))).toBeLessThan(ENOUGH);
  });

  test('a pick that was not measured, or is a fifth slower, is wrong', () => {
    const rows = [
      { engine: 'wasm', threads: 1, predicted: 0, measured: 1.2 },
      { engine: 'native', threads: 1, predicted: 0, measured: 1 },
      { engine: 'reference', threads: 1, predicted: 0, measured: null },
    ];
    expect(['native', 'wasm', 'reference', 'hip'].map((name) => isRight(name, rows))).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});

/** The reference with the lowest bit of every result turned, under another lineage. */
function wrongEngine(): Engine {
  const inner = referenceEngine();
  return {
    ...inner,
    id: 'wrong',
    lineage: 'wrong',
    open: async (op, options) => {
      const session = await inner.open(op, options);
      return new Proxy(session, {
        get(target, name) {
          if (name !== 'dots') {
            const value = Reflect.get(target, name, target);
            return typeof value === 'function' ? value.bind(target) : value;
          }
          return async function* (batches: Iterable<{ d: Uint32Array }>) {
            for await (const batch of target.dots(batches as never)) {
              for (let i = 0; i < batch.d.length; i++) batch.d[i]! ^= 1;
              yield batch;
            }
          };
        },
      });
    },
  };
}

describe('the gate before the clock', () => {
  const op = findOp('h100', 'wgmma.mma_async.m64n8k32.f32.e4m3.e4m3');

  test('an engine whose words differ is not timed, and the reason says how many', async () => {
    expect(await conforms(wrongEngine(), op)).toMatch(/does not conform: \d+ of \d+ words/);
    const skipped: string[] = [];
    const records = await measure(workloadsOf('fp8-64x64x128')[0]!, {
      engines: [{ engine: wrongEngine() }, { engine: referenceEngine() }],
      rounds: 2,
      commit: 'test',
      onSkip: (engine) => skipped.push(engine),
    });
    expect(skipped).toEqual(['wrong']);
    expect(records.map((r) => r.engine)).toEqual(['reference']);
    expect(records[0]).toMatchObject({ version: 2, workload: 'fp8-64x64x128', macs: 64 * 64 * 128 });
    expect(records[0]!.samples).toHaveLength(2);
  });
});

describe('workloads', () => {
  test('ids are unique, and an unknown one is named with the known', () => {
    expect(new Set(WORKLOADS.map((w) => w.id)).size).toBe(WORKLOADS.length);
    expect(() => workloadsOf('fp9')).toThrow(/got fp9; ids: fp8-/);
  });
});
