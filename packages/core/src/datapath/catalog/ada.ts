/**
 * Ada Lovelace (sm_89): l40s, rtx4060, rtx1000. Numerics section 5, row ada; family 4.1.
 * fp16, bf16, tf32 as Ampere. FP8 (any mix) N = 16, F = 13, p = 13 for fp32 out; floor -132 (fp32 out), none
 * (fp16 out); m16n8k32 is two N = 16 steps. fp64: section 4.7. Integers: section 4.8.
 */
import { AMPERE_FLOAT, INTEGER_SHAPES } from './ampere.js';
import { evidence, FLOOR_NOTE, INTEGER_EXACT, RECORDINGS } from './evidence.js';
import { ADA_FP8 } from './families.js';
import { FP8_PAIRS, fp64Mma, integerMma, windowMma } from './mma-sync.js';
import { on } from './row.js';

const ALL = ['l40s', 'rtx4060', 'rtx1000'];

const fp8 = (k: 16 | 32) =>
  FP8_PAIRS.flatMap(([a, b]) => windowMma([[16, 8, k]], a, b, ['fp32', 'fp16'], ADA_FP8));

export const ada = [
  ...on(ALL, evidence('recorded', `${RECORDINGS}, Ada`, FLOOR_NOTE), AMPERE_FLOAT),
  ...on(
    ALL,
    evidence(
      'recorded',
      `${RECORDINGS}, Ada/E4M3 and Ada/E5M2, mma.sync m16n8k32`,
      'e4m3 with e5m2 follows from the pairs of one format; the floor can never bind',
    ),
    fp8(32),
  ),
  ...on(
    ALL,
    evidence(
      'derived',
      `${RECORDINGS}, Ada/E4M3 and Ada/E5M2, mma.sync m16n8k32`,
      'one N = 16 step of m16n8k32; this shape is not recorded',
    ),
    fp8(16),
  ),
  ...on(
    ALL,
    evidence('derived', 'numerics 5: fp64 is sequential-fma', 'published of a100'),
    fp64Mma([[8, 8, 4]]),
  ),
  ...on(ALL, INTEGER_EXACT, integerMma(INTEGER_SHAPES)),
];
