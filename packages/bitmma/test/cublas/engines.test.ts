import { BitmmaError, type Engine } from '@bitmma/core';
import { referenceEngine } from '@bitmma/core/reference';
import { describe, expect, test } from 'vitest';
import { accumulate, type SplitK } from '../../src/cublas/index.js';
import { ENGINES } from '../../src/engines.js';
import { fp8Words, rowMajor } from './matrices.js';

/** Sizes that are multiples of nothing. */
const [m, n, k] = [37, 29, 331];
const CASES: readonly [string, boolean, SplitK][] = [
  ['hopper', true, 1],
  ['hopper', false, 1],
  ['hopper', false, [2, 'contiguous']],
  ['ada', false, [3, 'pairwise']],
  ['ada', true, [2, 'serial']],
  ['b200_mma_sync', true, 1],
];

async function openOrReason(id: string): Promise<Engine | string> {
  try {
    return await ENGINES.open(id);
  } catch (error) {
    if (!(error instanceof BitmmaError)) throw error;
    return error.message;
  }
}

describe.each(['native', 'wasm'])('%s', async (id) => {
  const engine = await openOrReason(id);
  test.skipIf(typeof engine === 'string')('every engine here gives the words of the reference', async () => {
    for (const [preset, useFastAccum, splitK] of CASES)
      for (const [formatA, formatB] of [
        ['e4m3', 'e4m3'],
        ['e4m3', 'e5m2'],
        ['e5m2', 'e4m3'],
      ] as const) {
        const a = rowMajor(fp8Words(formatA, m * k, 5), m, k, formatA);
        const b = rowMajor(fp8Words(formatB, n * k, 6), n, k, formatB);
        const options = { preset, useFastAccum, splitK };
        const want = await accumulate(a, b, { ...options, engine: referenceEngine() });
        expect(await accumulate(a, b, { ...options, engine: engine as Engine })).toEqual(want);
      }
  });
});
