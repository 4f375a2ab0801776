import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readVectorFile } from '../../src/conformance/node.js';
import { runSuite } from '../../src/conformance/suite.js';
import { findOp } from '../../src/datapath/aliases/op.js';
import type { Datapath } from '../../src/datapath/datapath.js';
import { referenceEngine } from '../../src/reference/index.js';

const file = (path: string) => fileURLToPath(new URL(`../../vectors/${path}`, import.meta.url));

/** Failures of a vector file when every op of a kind has other fields. */
async function failures<K extends Datapath['kind']>(
  path: string,
  kind: K,
  change: Partial<Extract<Datapath, { kind: K }>> | ((datapath: Extract<Datapath, { kind: K }>) => Datapath),
): Promise<number> {
  const resolve = (device: string, instruction: string) => {
    const op = findOp(device, instruction);
    if (op.datapath.kind !== kind) return op;
    const datapath = op.datapath as Extract<Datapath, { kind: K }>;
    return {
      ...op,
      datapath: typeof change === 'function' ? change(datapath) : ({ ...datapath, ...change } as Datapath),
    };
  };
  // Claims are about the op as it is.
  async function* sets() {
    for await (const { claims: _, ...set } of readVectorFile(file(path), { resolve })) yield set;
  }
  return (await runSuite(sets(), { engine: referenceEngine() })).failed;
}

describe('a wrong rule fails the targeted vectors', () => {
  test.each([
    ['sequential-fma', 'cdna1/fp32.jsonl', 'sequential-fma', { flushInputs: true }],
    ['sequential-fma', 'cdna1/fp32.jsonl', 'sequential-fma', { flushResults: true }],
    ['exact', 'cdna1/fp16.jsonl', 'exact', { block: 8 }],
    ['exact', 'cdna1/bf16.jsonl', 'exact', { block: 4 }],
    ['pairwise', 'cdna2/fp16.jsonl', 'pairwise', { flushInputs: false }],
    ['pairwise', 'cdna2/fp16.jsonl', 'pairwise', { block: 2 }],
    ['pairwise', 'cdna2/bf16.jsonl', 'pairwise', { flushResults: false, flushInputs: false }],
    ['pairwise', 'cdna2/bf16-1k.jsonl', 'pairwise', { block: 2 }],
    ['cdna3-window', 'cdna3/fp16.jsonl', 'cdna3-window', { sumFraction: 31 }],
    ['cdna3-window', 'cdna3/fp16.jsonl', 'cdna3-window', { sumRounding: 'RZ' }],
    ['cdna3-window', 'cdna3/fp16.jsonl', 'cdna3-window', { normalFraction: null }],
    ['cdna3-window', 'cdna3/fp16.jsonl', 'cdna3-window', { normalRounding: 'RZ' }],
    ['cdna3-window', 'cdna3/fp16.jsonl', 'cdna3-window', { addendRounding: 'RZ' }],
    ['cdna3-window', 'cdna3/fp16.jsonl', 'cdna3-window', { addendFraction: 25 }],
    ['cdna3-window', 'cdna3/fp16.jsonl', 'cdna3-window', { fraction: 25 }],
    ['cdna3-window', 'cdna3/fp16.jsonl', 'cdna3-window', { block: 4 }],
    ['cdna3-window', 'cdna3/bf16.jsonl', 'cdna3-window', { productOverflow: null }],
    ['cdna3-window', 'cdna3/bf16.jsonl', 'cdna3-window', { zeroAddendExponent: -1000 }],
    ['cdna3-odd-even', 'cdna3/fp8-fp8.jsonl', 'cdna3-odd-even', { addendReach: null }],
    ['cdna3-odd-even', 'cdna3/fp8-fp8.jsonl', 'cdna3-odd-even', { mergeRounding: 'RZ' }],
    ['cdna3-odd-even', 'cdna3/bf8-bf8.jsonl', 'cdna3-odd-even', { mergeFraction: 25 }],
    ['cdna3-odd-even', 'cdna3/bf8-bf8.jsonl', 'cdna3-odd-even', { sumFraction: 31 }],
    ['fused-window', 'blackwell/tcgen05-tf32.jsonl', 'fused-window', { fraction: 24 }],
    ['fused-window', 'blackwell/tcgen05-tf32.jsonl', 'fused-window', { fraction: 26 }],
    ['fused-window', 'blackwell/tcgen05-bf16.jsonl', 'fused-window', { zeroAddendExponent: 1 }],
    ['fused-window', 'disputes/items.jsonl', 'fused-window', { floor: -132 }],
    ['fused-window', 'disputes/items.jsonl', 'fused-window', { floor: -133 }],
    ['fused-window', 'disputes/items.jsonl', 'fused-window', { floor: null }],
    ['cdna3-window', 'disputes/items.jsonl', 'cdna3-window', { sumFraction: 31 }],
    ['scaled-window', 'blackwell/tcgen05-mxf8f6f4.jsonl', 'scaled-window', { fraction: 24 }],
    ['scaled-groups', 'blackwell/tcgen05-nvfp4.jsonl', 'scaled-groups', { group: 16 }],
    ['scaled-groups', 'blackwell/tcgen05-nvfp4.jsonl', 'scaled-groups', { dominantGroup: 4 }],
    ['scaled-groups', 'blackwell/tcgen05-nvfp4.jsonl', 'scaled-groups', { dominantFraction: 36 }],
    ['scaled-groups', 'blackwell/tcgen05-mxf4.jsonl', 'scaled-groups', { scaleFraction: 36 }],
    ['scaled-groups', 'blackwell/tcgen05-mxf4.jsonl', 'scaled-groups', { group: 4 }],
  ] as const)('%s: %s with %s %j', async (_, path, kind, change) => {
    expect(await failures(path, kind, change as Partial<Datapath>)).toBeGreaterThan(0);
  });

  test('CDNA1 as pairwise sums', async () => {
    const failed = await failures('cdna1/fp16.jsonl', 'exact', ({ block, output }) => ({
      kind: 'pairwise',
      block,
      flushInputs: false,
      flushResults: false,
      output,
    }));
    expect(failed).toBeGreaterThan(0);
  });

  test('mma.sync FP8 of sm_100 with c in the window', async () => {
    const failed = await failures(
      'disputes/items.jsonl',
      'split-window',
      ({ block, fraction, floor, alignment, output }) => ({
        kind: 'fused-window',
        block,
        fraction,
        floor,
        alignment,
        output,
        zeroAddendExponent: null,
        productOverflow: null,
      }),
    );
    expect(failed).toBeGreaterThan(0);
  });
});
