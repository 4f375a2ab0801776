/**
 * Hopper (sm_90): h100, h200. Numerics section 5, row h100, h200; family 4.1.
 * fp16, bf16 N = 16; tf32 N = 8 (m16n8k4: 4); F = 25; floors -133 (fp32 out), -21 (fp16 out).
 * FP8 by wgmma: N = 32, F = 13, p = 13. FP8 by mma.sync: section 7 (split-window).
 * fp64 m16n8k4/8/16: section 4.7. Integers: section 4.8.
 */
import { INTEGER_SHAPES } from './ampere.js';
import { evidence, FLOOR_NOTE, INTEGER_EXACT, RECORDINGS } from './evidence.js';
import { HOPPER_16BIT, HOPPER_FP8, HOPPER_TF32 } from './families.js';
import { FP8_PAIRS, fp64Mma, integerMma, splitFp8Mma, windowMma } from './mma-sync.js';
import { on, type Row } from './row.js';
import { integerWgmma, windowWgmma } from './wgmma.js';

const ALL = ['h100', 'h200'];
const MIX_NOTE = 'e4m3 with e5m2 follows from the pairs of one format';

/** mma.sync rows that sm_100 and sm_120 share. */
export const HOPPER_16BIT_MMA: readonly Row[] = [
  ...windowMma(
    [
      [16, 8, 8],
      [16, 8, 16],
    ],
    'fp16',
    'fp16',
    ['fp32', 'fp16'],
    HOPPER_16BIT,
  ),
  ...windowMma(
    [
      [16, 8, 8],
      [16, 8, 16],
    ],
    'bf16',
    'bf16',
    ['fp32'],
    HOPPER_16BIT,
  ),
];
export const HOPPER_TF32_MMA: readonly Row[] = windowMma(
  [
    [16, 8, 4],
    [16, 8, 8],
  ],
  'tf32',
  'tf32',
  ['fp32'],
  HOPPER_TF32,
);
export const HOPPER_FP64_SHAPES = [
  [16, 8, 4],
  [16, 8, 8],
  [16, 8, 16],
] as const;

const wgmmaFp8 = (d: 'fp32' | 'fp16') =>
  FP8_PAIRS.flatMap(([a, b]) => windowWgmma(32, a, b, [d], HOPPER_FP8));

export const hopper = [
  ...on(ALL, evidence('recorded', `${RECORDINGS}, H100`, FLOOR_NOTE), [
    ...HOPPER_16BIT_MMA,
    ...windowWgmma(16, 'fp16', 'fp16', ['fp32', 'fp16'], HOPPER_16BIT),
    ...windowWgmma(16, 'bf16', 'bf16', ['fp32'], HOPPER_16BIT),
  ]),
  ...on(ALL, evidence('recorded', `${RECORDINGS}, H100/tf32`, `recorded over K = 4; ${FLOOR_NOTE}`), [
    ...HOPPER_TF32_MMA,
    ...windowWgmma(8, 'tf32', 'tf32', ['fp32'], HOPPER_TF32),
  ]),
  ...on(
    ALL,
    evidence('recorded', `${RECORDINGS}, H100/E4M3 and H100/E5M2, wgmma`, `recorded with c = 0; ${MIX_NOTE}`),
    wgmmaFp8('fp32'),
  ),
  ...on(
    ALL,
    evidence(
      'derived',
      `${RECORDINGS}, H100/E4M3 and H100/E5M2, wgmma`,
      'recorded with fp32 output; the recorded fp16 words are mma.sync',
    ),
    wgmmaFp8('fp16'),
  ),
  ...on(
    ALL,
    evidence('recorded', `${RECORDINGS}, H100/E4M3 and H100/E5M2, mma.sync; numerics 7`, MIX_NOTE),
    splitFp8Mma('fp16'),
  ),
  ...on(
    ALL,
    evidence(
      'derived',
      'numerics 7',
      'recorded here with fp16 output and on b200 with fp32; fp32 words do not tell which half comes first',
    ),
    splitFp8Mma('fp32'),
  ),
  ...on(['h100'], evidence('published', 'numerics 5: fp64 is sequential-fma'), fp64Mma(HOPPER_FP64_SHAPES)),
  ...on(
    ['h200'],
    evidence('derived', 'numerics 5: fp64 is sequential-fma', 'published of h100'),
    fp64Mma(HOPPER_FP64_SHAPES),
  ),
  ...on(
    ALL,
    evidence('derived', 'numerics 5: fp64 is sequential-fma', 'published of a100'),
    fp64Mma([[8, 8, 4]]),
  ),
  ...on(ALL, INTEGER_EXACT, [...integerMma(INTEGER_SHAPES), ...integerWgmma()]),
];
