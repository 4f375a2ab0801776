import { findOp, type MmaOp } from '@bitmma/core';

/** A pinned problem: the same op, shape and operand words for ever; a change is another id. */
export interface Workload {
  readonly id: string;
  readonly op: MmaOp;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** 'quick' workloads take under a second on the slowest engine that still makes sense. */
  readonly suite: 'quick' | 'full';
}

const OPS = {
  fp8: findOp('h100', 'wgmma.mma_async.m64n8k32.f32.e4m3.e4m3'),
  'fp8-ada': findOp('l40s', 'mma.sync.m16n8k32.f32.e4m3.e4m3.f32'),
  'fp8-split': findOp('h100', 'mma.sync.m16n8k32.f32.e4m3.e4m3.f32'),
  fp16: findOp('h100', 'wgmma.mma_async.m64n8k16.f32.f16.f16'),
  bf16: findOp('a100', 'mma.sync.m16n8k16.f32.bf16.bf16.f32'),
  tf32: findOp('a100', 'mma.sync.m16n8k8.f32.tf32.tf32.f32'),
  mxf8: findOp('b200', 'tcgen05.mma.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.ue8m0'),
  nvfp4: findOp('b200', 'tcgen05.mma.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.ue4m3'),
  'cdna3-fp16': findOp('mi300x', 'v_mfma_f32_16x16x16_f16'),
  'cdna3-fp8': findOp('mi300x', 'v_mfma_f32_16x16x32_fp8_fp8'),
  'cdna2-bf16': findOp('mi250x', 'v_mfma_f32_16x16x16bf16_1k'),
  'cdna1-fp16': findOp('mi100', 'v_mfma_f32_16x16x16f16'),
  i8: findOp('b200', 'tcgen05.mma.kind::i8.s32.s8.s8'),
} as const satisfies Record<string, MmaOp>;

export type OpName = keyof typeof OPS;

const workload = (name: OpName, m: number, n: number, k: number, suite: Workload['suite']): Workload => ({
  id: `${name}-${m}x${n}x${k}`,
  op: OPS[name],
  m,
  n,
  k,
  suite,
});

const NAMES = Object.keys(OPS) as OpName[];

/** Small, square, tall and deep shapes; every op in the quick suite, the hot ones in the full one too. */
export const WORKLOADS: readonly Workload[] = Object.freeze([
  ...NAMES.map((name) => workload(name, 64, 64, 128, 'quick')),
  ...NAMES.map((name) => workload(name, 512, 512, 512, 'full')),
  ...(['fp8', 'fp16', 'bf16', 'cdna3-fp16'] as const).flatMap((name) => [
    workload(name, 1024, 1024, 1024, 'full'),
    workload(name, 4096, 64, 512, 'full'),
    workload(name, 64, 64, 16384, 'full'),
  ]),
]);

/** Workloads of a suite: quick, full (both) or a comma-separated list of ids. Throws RangeError for an unknown id. */
export function workloadsOf(suite: string): readonly Workload[] {
  if (suite === 'quick') return WORKLOADS.filter((w) => w.suite === 'quick');
  if (suite === 'full') return WORKLOADS;
  return suite.split(',').map((id) => {
    const found = WORKLOADS.find((w) => w.id === id);
    if (!found)
      throw new RangeError(
        `suite: expected quick, full or ids such as ${WORKLOADS[0]!.id}, got ${id}; ids: ${WORKLOADS.map((w) => w.id).join(' ')}`,
      );
    return found;
  });
}
