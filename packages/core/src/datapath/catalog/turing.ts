/**
 * Turing: t4. fp16 N = 8, F = 24, floors -132 and -20: numerics section 5, row t4; family 4.1.
 * Integers m8n8k16 (and m16n8k16, m16n8k32 from sm_80 on): section 4.8.
 */
import { evidence, INTEGER_EXACT } from './evidence.js';
import { AMPERE_16BIT } from './families.js';
import { integerMma, windowMma } from './mma-sync.js';
import { on } from './row.js';

export const turing = [
  ...on(
    ['t4'],
    evidence(
      'published',
      'one public model, over m16n8k8',
      'Fasi et al. 2021 speak of N = 4; the floors are derived',
    ),
    windowMma([[16, 8, 8]], 'fp16', 'fp16', ['fp32', 'fp16'], AMPERE_16BIT),
  ),
  ...on(['t4'], INTEGER_EXACT, integerMma([[8, 8, 16]])),
];
