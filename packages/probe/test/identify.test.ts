import { findOp } from '@bitmma/core';
import { referenceEngine } from '@bitmma/core/reference';
import { describe, expect, it } from 'vitest';
import { identify, proveEqual, readFeatures, signatureOf } from '../src/index.js';
import { FAMILIES, judge } from './engines.js';

const OPS = [
  ...FAMILIES,
  findOp('v100', 'mma.sync.m8n8k4.f32.f16.f16.f32'),
  findOp('l40s', 'mma.sync.m16n8k32.f32.e4m3.e5m2.f32'),
  findOp('b200', 'tcgen05.mma.kind::f8f6f4.f16.e2m1.e2m1'),
  findOp('b200', 'tcgen05.mma.sp.kind::f16.f32.bf16.bf16'),
  findOp('b200', 'tcgen05.mma.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.ue4m3'),
  findOp('a100', 'mma.sync.m8n8k4.f64.f64.f64.f64'),
];

describe('blind re-identification on the reference engine', () => {
  it.each(OPS.map((op) => [`${op.device} ${op.instruction}`, op] as const))('%s', async (_, op) => {
    const signature = signatureOf(op);
    const box = await referenceEngine().open(op);
    const found = await identify(box, signature, { judge: await judge(), campaign: 200, tries: 256 });
    expect(found.inside).toBe(true);
    expect(found.start).toBe('neutral');
    expect(found.queries).toBeLessThan(10_000);
    expect(found.campaign.mismatches).toBe(0);
    // The datapath found is the catalog's but for values proved to give the same words.
    expect(proveEqual(signature, op.datapath, found.datapath)).not.toBeNull();
  });
});

it('reads features without a model', async () => {
  const read = async (device: string, instruction: string) => {
    const op = findOp(device, instruction);
    const found = await identify(await referenceEngine().open(op), signatureOf(op), {
      judge: await judge(),
      campaign: 0,
      tries: 128,
    });
    return Object.fromEntries(readFeatures(found.book).map(({ feature, reading }) => [feature, reading]));
  };
  const cdna3 = await read('mi300x', 'v_mfma_f32_16x16x16_bf16');
  expect(cdna3['alignment of products']).toBe('24 fraction bits');
  expect(cdna3['block length N']).toBe('8');
  expect(cdna3['output rounding']).toBe('RNE');
  expect(cdna3['NaN word']).toBe('ffc00000');
  const fp4 = await read('b200', 'tcgen05.mma.kind::f8f6f4.f16.e2m1.e2m1');
  expect(fp4['alignment of c']).toBe('25 fraction bits');
  expect(fp4['product overflow']).toBe('these operands cannot express it');
});
