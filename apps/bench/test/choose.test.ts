import { type Engine, findOp } from '@bitmma/core';
import { referenceEngine } from '@bitmma/core/reference';
import { predictSeconds, type SpeedModel } from 'bitmma/schedule';
import { describe, expect, test } from 'vitest';
import { conforms } from '../src/gate.js';
import { measure } from '../src/measure.js';
import { WORKLOADS, workloadsOf } from '../src/workloads.js';

/** Two engines of the kind there are: one with setup and speed, one with neither. */
const FAST: SpeedModel = { setup: 2e-3, rate: 5e9 };
const SLOW: SpeedModel = { setup: 1e-5, rate: 2e7 };
const pick = (macs: number) =>
  predictSeconds(FAST, macs, 1) < predictSeconds(SLOW, macs, 1) ? 'fast' : 'slow';

describe('the chooser’s prediction', () => {
  test('small problems go to the engine without setup, large ones to the fast one', () => {
    expect([32, 1e4, 1e6, 1e9].map(pick)).toEqual(['slow', 'slow', 'fast', 'fast']);
  });

  test('a pool is worth its cost only where there is work to share', () => {
    expect(predictSeconds(SLOW, 1e3, 2)).toBeGreaterThan(predictSeconds(SLOW, 1e3, 1));
    expect(predictSeconds(SLOW, 1e9, 2)).toBeLessThan(0.51 * predictSeconds(SLOW, 1e9, 1));
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
    expect(records[0]).toMatchObject({ version: 1, workload: 'fp8-64x64x128', macs: 64 * 64 * 128 });
    expect(records[0]!.samples).toHaveLength(2);
  });
});

describe('workloads', () => {
  test('ids are unique, and an unknown one is named with the known', () => {
    expect(new Set(WORKLOADS.map((w) => w.id)).size).toBe(WORKLOADS.length);
    expect(() => workloadsOf('fp9')).toThrow(/got fp9; ids: fp8-/);
  });
});
