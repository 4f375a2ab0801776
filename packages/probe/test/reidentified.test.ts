import { readFileSync } from 'node:fs';
import { opHash } from '@bitmma/core';
import { referenceEngine } from '@bitmma/core/reference';
import { describe, expect, it } from 'vitest';
import { floatArithmetics, reidentify } from '../src/index.js';
import { judge } from './engines.js';

/** Written by `node scripts/reidentify.mjs --write`: a line an arithmetic, the same for both boxes. */
const lines = readFileSync(new URL('../reidentified.snap', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n');
const summary = lines.pop();
const ops = floatArithmetics();

describe('the snapshot of blind re-identification', () => {
  it('has a line for every floating-point arithmetic of the catalog, each found', () => {
    const heads = lines.map((line) => line.split('; ').slice(0, 3));
    const expected = ops.map((op) => ['found', opHash(op).slice(0, 8), `${op.device} ${op.instruction}`]);
    expect(heads).toEqual(expected);
    const most = Math.max(...lines.map((line) => Number(/(\d+) questions/.exec(line)?.[1])));
    expect(summary).toBe(`${ops.length} of ${ops.length} found, at most ${most} questions`);
    expect(most).toBeLessThan(10_000);
  });

  const sampled = [
    ['t4', 'mma.sync.m16n8k8.f16.f16.f16.f16'],
    ['mi100', 'v_mfma_f32_32x32x2bf16'],
    ['mi210', 'v_mfma_f32_32x32x8f16'],
    ['b200', 'tcgen05.mma.kind::f8f6f4.f16.e3m2.e4m3'],
    ['b200', 'tcgen05.mma.sp.kind::tf32.f32.tf32.tf32'],
  ] as const;
  it.each(sampled)('is what comes out today for %s %s', async (device, instruction) => {
    const at = ops.findIndex((op) => op.device === device && op.instruction === instruction);
    const { line } = await reidentify(ops[at]!, referenceEngine(), { judge: await judge() });
    expect(line).toBe(lines[at]);
  });
});
