import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { catalog, findOp, type MmaOp } from '@bitmma/core';
import { type CaseSet, campaignsFor, generateCases } from '@bitmma/core/conformance';
import { findVectorFiles, readVectorFile } from '@bitmma/core/conformance/node';
import { poolSet, tieBreakers } from './pools.js';

const root = resolve(import.meta.dirname, '../../..');
export const dataFolder = resolve(root, process.env.BITMMA_DATA ?? '../shared');
export const hasData = existsSync(join(dataFolder, 'recordings'));

/** One op a line of arithmetic: every datapath kind, output format and element width that the engines treat apart. */
export const REPRESENTATIVES: readonly (readonly [device: string, instruction: string])[] = [
  ['v100', 'mma.sync.m8n8k4.f32.f16.f16.f16'],
  ['a100', 'mma.sync.m16n8k16.f16.f16.f16.f16'],
  ['a100', 'mma.sync.m16n8k16.f32.bf16.bf16.f32'],
  ['a100', 'mma.sync.m16n8k8.f32.tf32.tf32.f32'],
  ['a100', 'mma.sync.m16n8k32.satfinite.s32.s8.u8.s32'],
  ['l40s', 'mma.sync.m16n8k32.f32.e4m3.e5m2.f32'],
  ['h100', 'mma.sync.m16n8k16.f32.f16.f16.f32'],
  ['h100', 'wgmma.mma_async.m64n8k32.f32.e4m3.e4m3'],
  ['h100', 'mma.sync.m16n8k32.f16.e5m2.e4m3.f16'],
  ['b200', 'mma.sync.m16n8k32.f32.e4m3.e4m3.f32'],
  ['b200', 'tcgen05.mma.kind::f16.f32.bf16.bf16'],
  ['b200', 'tcgen05.mma.kind::f8f6f4.f32.e3m2.e2m1'],
  ['b200', 'tcgen05.mma.sp.kind::f8f6f4.f16.e5m2.e2m3'],
  ['b200', 'tcgen05.mma.sp.kind::tf32.f32.tf32.tf32'],
  ['b200', 'tcgen05.mma.kind::mxf8f6f4.block_scale.f32.e5m2.e2m3.ue8m0'],
  ['b200', 'tcgen05.mma.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.ue8m0'],
  ['b200', 'tcgen05.mma.sp.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.ue8m0'],
  ['b200', 'tcgen05.mma.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.ue4m3'],
  ['mi100', 'v_mfma_f32_32x32x2f32'],
  ['mi210', 'v_mfma_f32_16x16x16bf16_1k'],
  ['mi300x', 'v_mfma_f32_16x16x16_f16'],
  ['mi300x', 'v_mfma_f32_32x32x8_bf16'],
  ['mi300x', 'v_mfma_f32_16x16x8_xf32'],
  ['mi300x', 'v_mfma_f32_16x16x32_fp8_bf8'],
];

/** The representatives; BITMMA_FULL=1: one op of every arithmetic in the catalog. */
export function testOps(): MmaOp[] {
  if (!process.env.BITMMA_FULL)
    return REPRESENTATIVES.map(([device, instruction]) => findOp(device, instruction));
  const seen = new Set<string>();
  return catalog().filter(({ a, b, c, d, k, datapath, scaling, sparsity }) => {
    const key = JSON.stringify([a, b, c, d, k, datapath, scaling, sparsity]);
    return !seen.has(key) && seen.add(key);
  });
}

/** Campaigns of `count` cases each, twelve times as many of words at the ends of their classes, and tie breakers. */
export const campaignSets = (op: MmaOp, count: number, seed = 7): CaseSet[] => [
  ...campaignsFor(op).map((campaign) => generateCases(op, campaign, { seed, count })),
  poolSet(op, count * 12, seed),
  ...(op.datapath.kind === 'sequential-fma' && op.a === 'fp32' ? [tieBreakers(op)] : []),
];

/** Recorded sets and vectors; `every`: keep one case in that many of a recorded set. */
export async function* dataSets(every: number): AsyncGenerator<CaseSet> {
  for (const file of await findVectorFiles([join(dataFolder, 'recordings'), join(dataFolder, 'vectors')]))
    for await (const set of readVectorFile(file))
      yield every > 1 && set.count > 1000 ? thin(set, every) : set;
}

/** The first of every `every` cases of a set without scales or metadata. */
function thin(set: CaseSet, every: number): CaseSet {
  const count = Math.floor(set.count / every);
  const per = <W extends Uint8Array | Uint16Array | Uint32Array>(words: W, each: number): W => {
    const kept = words.slice(0, count * each) as W;
    for (let i = 0; i < count; i++)
      kept.set(words.subarray(i * every * each, (i * every + 1) * each), i * each);
    return kept;
  };
  return {
    ...set,
    count,
    a: per(set.a, set.k),
    b: per(set.b, set.k),
    c: per(set.c, 1),
    ...(set.d ? { d: per(set.d, 1) } : {}),
    id: (i) => set.id(i * every),
  };
}
