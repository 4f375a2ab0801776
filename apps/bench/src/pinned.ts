import { findOp, type MmaOp } from '@bitmma/core';
import type { ProblemSize } from 'bitmma/schedule';
import { type ChosenRow, compareRows } from './choose.js';

/** A problem that the choice of an engine is judged on. */
export interface PinnedProblem extends ProblemSize {
  readonly name: string;
  readonly op: MmaOp;
  /** Default: every engine of this machine. */
  readonly engines?: readonly string[];
}

const fp8 = findOp('h100', 'wgmma.mma_async.m64n8k32.f32.e4m3.e4m3');
const fp16 = findOp('a100', 'mma.sync.m16n8k16.f32.f16.f16.f32');
const cdna3 = findOp('mi300x', 'v_mfma_f32_16x16x16_f16');
const i8 = findOp('b200', 'tcgen05.mma.kind::i8.s32.s8.s8');
const nvfp4 = findOp('b200', 'tcgen05.mma.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.ue4m3');
/** What hosts without a Rust build have. */
const PORTABLE = ['wasm', 'reference'];

const problem = (
  name: string,
  op: MmaOp,
  m: number,
  n: number,
  k: number,
  engines?: readonly string[],
): PinnedProblem => ({ name, op, m, n, k, ...(engines && { engines }) });

/** Ten problems with three different winners. */
export const PINNED: readonly PinnedProblem[] = [
  problem('large FP8', fp8, 1024, 1024, 1024),
  problem('large fp16', fp16, 512, 512, 1024),
  problem('tall CDNA3', cdna3, 2048, 64, 256),
  problem('deep integers', i8, 64, 64, 8192),
  problem('NVFP4', nvfp4, 256, 256, 512),
  problem('one FP8 dot', fp8, 1, 1, 32),
  problem('one integer dot', i8, 1, 1, 32),
  problem('FP8 without Rust', fp8, 256, 256, 256, PORTABLE),
  problem('fp16 without Rust', fp16, 256, 256, 256, PORTABLE),
  problem('one fp16 dot without Rust', fp16, 1, 1, 16, PORTABLE),
];

/** A pick is right where its measured time is at most this much of the fastest engine's. */
export const RIGHT_WITHIN = 1.15;
/** Right picks of the ten that a chooser must have. */
export const ENOUGH = 9;

/** Whether a pick, measured by rows, is right. */
export function isRight(pick: string, rows: readonly ChosenRow[]): boolean {
  const { off } = compareRows(pick, rows);
  return off !== null && off <= RIGHT_WITHIN;
}

/** Right picks of a chooser over measured problems; it passes with ENOUGH. */
export const countRight = (
  picks: readonly { readonly pick: string; readonly rows: readonly ChosenRow[] }[],
): number => picks.filter(({ pick, rows }) => isRight(pick, rows)).length;

/** The most right picks that one engine named for every problem would have. */
export function bestConstant(measured: readonly (readonly ChosenRow[])[]): number {
  const engines = new Set(measured.flatMap((rows) => rows.map((r) => r.engine)));
  return Math.max(...[...engines].map((pick) => countRight(measured.map((rows) => ({ pick, rows })))));
}
