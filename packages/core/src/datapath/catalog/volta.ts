/**
 * Volta: v100. PTX mma.sync m8n8k4, the only tensor-core shape of sm_70.
 * fp16 N = 4, F = 23, floor none (fp32 out), -19 (fp16 out): numerics section 5, row v100; family 4.1.
 */
import { evidence, RECORDINGS } from './evidence.js';
import { VOLTA_FP16 } from './families.js';
import { wideningMma, windowMma } from './mma-sync.js';
import { on } from './row.js';

export const volta = [
  ...on(
    ['v100'],
    evidence(
      'recorded',
      `${RECORDINGS}, V100/fp16`,
      'the fp16-out floor is published, no recorded word depends on it',
    ),
    windowMma([[8, 8, 4]], 'fp16', 'fp16', ['fp32', 'fp16'], VOLTA_FP16),
  ),
  ...on(
    ['v100'],
    evidence('recorded', `${RECORDINGS}, V100/fp16`, 'the exact widening of c (numerics 4) is derived'),
    [wideningMma(VOLTA_FP16)],
  ),
];
