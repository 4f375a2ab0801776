import { type Datapath, type Engine, findOp, type MmaOp } from '@bitmma/core';
import { runSuite } from '@bitmma/core/conformance';
import { referenceEngine } from '@bitmma/core/reference';
import { afterAll, describe, expect, it } from 'vitest';
import { webglEngine, webgpuEngine } from '../src/index.js';
import { campaignSets } from './cases.js';
import { attempt } from './hosts/available.js';

const webgpu = await attempt(() => webgpuEngine());
const webgl = await attempt(() => webglEngine());
afterAll(async () => {
  webgpu.engine?.close();
  await webgl.engine?.close();
});

/** An op of the catalog with other parameters: what `supports` declares beyond the catalog is tested too. */
function changed(
  device: string,
  instruction: string,
  datapath: Partial<Datapath>,
  more: Partial<MmaOp> = {},
): MmaOp {
  const op = findOp(device, instruction);
  const rule =
    'output' in op.datapath && 'output' in datapath ? { ...op.datapath.output, ...datapath.output } : null;
  const merged = { ...op.datapath, ...datapath, ...(rule ? { output: rule } : {}) } as Datapath;
  return { ...op, ...more, device: 'custom', datapath: merged };
}

type Output = Extract<Datapath, { kind: 'fused-window' }>['output'];
const output = (more: Partial<Output>): { output: Output } => ({ output: more as Output });

const F16 = ['h100', 'mma.sync.m16n8k16.f32.f16.f16.f32'] as const;
const BF16 = ['a100', 'mma.sync.m16n8k16.f32.bf16.bf16.f32'] as const;
const FP8 = ['l40s', 'mma.sync.m16n8k32.f32.e4m3.e5m2.f32'] as const;
const C3 = ['mi300x', 'v_mfma_f32_16x16x16_bf16'] as const;
const C3FP8 = ['mi300x', 'v_mfma_f32_16x16x32_fp8_bf8'] as const;
const SPLIT = ['h100', 'mma.sync.m16n8k32.f32.e5m2.e4m3.f32'] as const;
const NVFP4 = 'tcgen05.mma.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.ue4m3';

const BOTH: readonly (readonly [string, MmaOp])[] = [
  ['few fraction bits', changed(...F16, { fraction: 12 })],
  ['a window cut by RD', changed(...F16, { fraction: 24, block: 8, alignment: 'RD' })],
  ['a window cut by RNE', changed(...FP8, { fraction: 9, alignment: 'RNE' })],
  ['an exponent of a zero addend', changed(...BF16, { zeroAddendExponent: -3 })],
  ['products that overflow', changed(...BF16, { productOverflow: 6, floor: null })],
  ['rounding up', changed(...FP8, output({ rounding: 'RU' }))],
  [
    'rounding down to few bits',
    changed(...BF16, output({ rounding: 'RD', precision: 9, underflow: 'signed' })),
  ],
  ['rounding to nearest of few bits', changed(...F16, output({ rounding: 'RNE', precision: 4 }))],
  ['a floor that binds', changed(...F16, { floor: 2 })],
  ['CDNA3 with short cuts', changed(...C3, { normalFraction: 24, sumFraction: 27 })],
  ['CDNA3 with a reach', changed(...C3, { addendReach: 5, normalFraction: null, sumRounding: 'RZ' })],
];

const WEBGPU: readonly (readonly [string, MmaOp])[] = [
  ['30 fraction bits', changed(...F16, { fraction: 30 })],
  ['30 fraction bits cut by RNE', changed(...BF16, { fraction: 30, alignment: 'RNE' })],
  ['50 fraction bits cut by RD', changed(...FP8, { fraction: 50, alignment: 'RD' })],
  ['a late window', changed(...F16, { kind: 'late-window', addition: 'RNE' } as Partial<Datapath>)],
  [
    'a late window, fp16',
    changed('h100', 'mma.sync.m16n8k16.f16.f16.f16.f16', {
      kind: 'late-window',
      addition: 'RZ',
    } as Partial<Datapath>),
  ],
  ['a split on bit 2, added by RD', changed(...SPLIT, { selectBit: 2, addition: 'RD' })],
  ['CDNA3 with c on a finer grid', changed(...C3, { addendFraction: 27, addendRounding: 'RNE' })],
  ['CDNA3 with c on a coarser grid', changed(...C3, { addendFraction: 20, normalRounding: 'RZ' })],
  [
    'CDNA3 FP8 with its own merge',
    changed(...C3FP8, { mergeFraction: 20, mergeRounding: 'RZ', addendReach: 3, floor: -6 }),
  ],
  [
    'a tree without flushes, by RU',
    changed('mi210', 'v_mfma_f32_16x16x16bf16_1k', {
      flushInputs: false,
      flushResults: false,
      ...output({ rounding: 'RU' }),
    }),
  ],
  [
    'fused multiply-adds with flushes, by RZ',
    changed('mi100', 'v_mfma_f32_32x32x2f32', {
      flushInputs: true,
      flushResults: true,
      ...output({ rounding: 'RZ' }),
    }),
  ],
  ['fused multiply-adds by RD', changed('mi100', 'v_mfma_f32_32x32x2f32', output({ rounding: 'RD' }))],
  [
    'groups of eight and the addend rule',
    changed('b200', NVFP4, { group: 8, dominantGroup: 16, groupAddendFraction: 30, leaveOut: -100 }),
  ],
  [
    'groups larger than the dominant ones',
    changed('b200', NVFP4, { group: 16, dominantGroup: 4, scaleFraction: 30 }),
  ],
  [
    'a scaled window of 20 bits',
    changed('b200', 'tcgen05.mma.kind::mxf8f6f4.block_scale.f32.e5m2.e2m3.ue8m0', { fraction: 20 }),
  ],
];

async function agree(engine: Engine, op: MmaOp): Promise<void> {
  expect(engine.supports(op)).toMatchObject({ ok: true });
  const result = await runSuite(campaignSets(op, 48), { engine, against: referenceEngine(), keep: 2 });
  expect(result.ops[0].mismatches).toEqual([]);
  expect(result.passed).toBeGreaterThan(0);
}

describe.skipIf(!webgpu.engine)(`webgpu beyond the catalog${webgpu.why}`, () => {
  it.each([...BOTH, ...WEBGPU])('%s', (_, op) => agree(webgpu.engine!, op));

  it('says why it does not run what is too wide', () => {
    const reason = (op: MmaOp): string => {
      const support = webgpu.engine!.supports(op);
      return support.ok ? 'supported' : support.reason;
    };
    expect(reason(changed(...F16, { fraction: 60 }))).toMatch(/needs 68 bits, two limbs hold 63/);
    expect(reason(changed(...F16, { block: 12 }))).toMatch(/K = 16 is not a multiple of its block of 12/);
    expect(reason(changed('b200', NVFP4, {}, { a: 'e5m2' }))).toMatch(/too wide for exact 32-bit group sums/);
    expect(reason(changed(...F16, {}, { a: 'fp32' }))).toMatch(/too wide for one 32-bit product/);
  });
});

describe.skipIf(!webgl.engine)(`webgl beyond the catalog${webgl.why}`, () => {
  it.each(BOTH)('%s', (_, op) => agree(webgl.engine!, op));

  it('says why it does not run what is too wide', () => {
    const reason = (op: MmaOp): string => {
      const support = webgl.engine!.supports(op);
      return support.ok ? 'supported' : support.reason;
    };
    expect(reason(changed(...F16, { fraction: 36 }))).toMatch(/need 43 bits, two float32 limbs hold 39/);
    expect(reason(changed(...C3, { addendFraction: 27 }))).toMatch(/another grid/);
    expect(reason(changed(...F16, {}, { a: 'fp32' }))).toMatch(/fp32 significands exceed the 11 bits/);
  });
});
