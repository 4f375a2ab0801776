import { type FloatFormat, FORMATS, type MmaOp, type WordArray } from '@bitmma/core';
import { type CaseSet, campaignOf, generateCases, runSuite } from '@bitmma/core/conformance';
import { referenceEngine } from '@bitmma/core/reference';
import { expect, test } from 'vitest';
import { wasmEngine } from '../src/index.js';
import { simdPlan } from '../src/simd-plan.js';
import { distinctOps } from './suite/ops.js';

/** Word of (-1)^negative * (2 - ulp) * 2^e, the largest significand of an exponent. */
function largest(format: FloatFormat, e: number, negative: boolean): number {
  const { exponentBits, fractionBits, droppedBits, bias } = format;
  const sign = Number(negative) * 2 ** (exponentBits + fractionBits);
  const word = sign + (e + bias) * 2 ** fractionBits + (2 ** fractionBits - 1);
  return word * 2 ** droppedBits;
}

/**
 * Every product (2 - ulp)^2 * 2^e of one sign: the largest sum that a window can hold, then c of either sign at, above
 * and below the products' exponent, and one term turned or missing.
 */
function fullWindows(op: MmaOp): CaseSet {
  const [a, b, c] = [op.a, op.b, op.d].map((name) => FORMATS[name] as FloatFormat);
  const base = generateCases(op, campaignOf('normal'), { seed: 1, count: 1, k: op.k });
  const addends = [-3, -1, 0, 1, 2, 3, 4, 5, 6, 9];
  const count = addends.length * 4 * 3;
  const grown = (words: WordArray, length: number): WordArray =>
    words instanceof Uint8Array
      ? new Uint8Array(length)
      : words instanceof Uint16Array
        ? new Uint16Array(length)
        : new Uint32Array(length);
  const set = {
    ...base,
    count,
    a: grown(base.a, count * op.k),
    b: grown(base.b, count * op.k),
    c: grown(base.c, count),
    ...(base.sparse && { sparse: new Uint32Array(count * base.sparse.length) }),
    source: 'full windows',
    id: (i: number) => `full-window-${i}`,
  };
  for (let i = 0; i < count; i++) {
    const negative = (i & 1) === 1;
    const variant = Math.floor(i / 2) % 2 === 0;
    const change = Math.floor(i / 4) % 3;
    for (let k = 0; k < op.k; k++) {
      set.a[i * op.k + k] = largest(a, 0, negative !== (change === 1 && k === 1));
      set.b[i * op.k + k] = change === 2 && k === op.k - 1 ? 0 : largest(b, 0, false);
    }
    set.c[i] = largest(c, addends[Math.floor(i / 12)], negative === variant);
    base.sparse?.forEach((word, w) => {
      set.sparse![i * base.sparse!.length + w] = word;
    });
  }
  return set;
}

test('windows filled to the last quantum agree with the reference on every SIMD op', async () => {
  const engine = await wasmEngine();
  const ops = distinctOps().filter((op) => simdPlan(op) !== null && op.datapath.kind !== 'integer');
  expect(ops.length).toBeGreaterThan(140);
  const result = await runSuite(ops.map(fullWindows), {
    ...{ engine, kernel: 'simd', against: referenceEngine(), keep: 1 },
  });
  expect(result.ops.flatMap((op) => op.mismatches)).toEqual([]);
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
