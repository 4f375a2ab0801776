import { type Engine, findOp, type MmaOp } from '@bitmma/core';
import { referenceEngine } from '@bitmma/core/reference';

/** The native engine where it is built; hypotheses are computed by it then, an independent witness of the reference. */
export async function judge(): Promise<Engine> {
  try {
    const { nativeEngine } = (await import('@bitmma/engine-native')) as { nativeEngine(): Promise<Engine> };
    return await nativeEngine();
  } catch {
    return referenceEngine();
  }
}

const nvidiaFp8 = findOp('b200', 'mma.sync.m16n8k32.f32.e4m3.e4m3.f32');
if (nvidiaFp8.datapath.kind !== 'split-window') throw new Error('expected a split window of b200');

/** No catalog instruction has a late window by itself; the cuBLAS presets do. */
const late: MmaOp = {
  ...nvidiaFp8,
  device: 'custom',
  instruction: 'late',
  datapath: {
    kind: 'late-window',
    block: 32,
    fraction: 25,
    floor: null,
    alignment: 'RZ',
    output: nvidiaFp8.datapath.output,
    addition: 'RNE',
  },
};

/** One op of every float family. */
export const FAMILIES: readonly MmaOp[] = [
  findOp('a100', 'mma.sync.m16n8k16.f32.bf16.bf16.f32'),
  nvidiaFp8,
  late,
  findOp('mi100', 'v_mfma_f32_16x16x8bf16'),
  findOp('mi250x', 'v_mfma_f32_16x16x16bf16_1k'),
  findOp('mi300x', 'v_mfma_f32_16x16x16_bf16'),
  findOp('mi300x', 'v_mfma_f32_16x16x32_bf8_bf8'),
  findOp('mi300x', 'v_mfma_f32_32x32x2_f32'),
  findOp('b200', 'tcgen05.mma.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.ue8m0'),
  findOp('b200', 'tcgen05.mma.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.ue8m0'),
];
