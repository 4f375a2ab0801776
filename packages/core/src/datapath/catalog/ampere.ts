/**
 * Ampere: a100, a30 (sm_80), a2 (sm_86). Numerics section 5, rows a100, a2, a30; family 4.1.
 * fp16, bf16 N = 8; tf32 N = 4; F = 24; floors -132 (fp32 out), -20 (fp16 out). m16n8k16 is two N = 8 steps,
 * m16n8k8 tf32 two N = 4 steps. fp64 m8n8k4: section 4.7. Integers: section 4.8.
 */
import { evidence, FLOOR_NOTE, INTEGER_EXACT, RECORDINGS } from './evidence.js';
import { AMPERE_16BIT, AMPERE_TF32 } from './families.js';
import { fp64Mma, integerMma, windowMma } from './mma-sync.js';
import { on, type Row } from './row.js';

const ALL = ['a100', 'a2', 'a30'];

/** Ada runs the same rows. */
export const AMPERE_FLOAT: readonly Row[] = [
  ...windowMma(
    [
      [16, 8, 8],
      [16, 8, 16],
    ],
    'fp16',
    'fp16',
    ['fp32', 'fp16'],
    AMPERE_16BIT,
  ),
  ...windowMma(
    [
      [16, 8, 8],
      [16, 8, 16],
    ],
    'bf16',
    'bf16',
    ['fp32'],
    AMPERE_16BIT,
  ),
  ...windowMma(
    [
      [16, 8, 4],
      [16, 8, 8],
    ],
    'tf32',
    'tf32',
    ['fp32'],
    AMPERE_TF32,
  ),
];

/** Every integer shape from sm_80 on. */
export const INTEGER_SHAPES = [
  [8, 8, 16],
  [16, 8, 16],
  [16, 8, 32],
] as const;

export const ampere = [
  ...on(['a100', 'a2'], evidence('recorded', `${RECORDINGS}, A100 and A2`, FLOOR_NOTE), AMPERE_FLOAT),
  ...on(
    ['a30'],
    evidence('derived', `${RECORDINGS}, A100 and A2`, 'recorded on a100 and a2, not on a30'),
    AMPERE_FLOAT,
  ),
  ...on(['a100'], evidence('published', 'numerics 5: fp64 is sequential-fma'), fp64Mma([[8, 8, 4]])),
  ...on(
    ['a2', 'a30'],
    evidence('derived', 'numerics 5: fp64 is sequential-fma', 'published of a100'),
    fp64Mma([[8, 8, 4]]),
  ),
  ...on(ALL, INTEGER_EXACT, integerMma(INTEGER_SHAPES)),
];
