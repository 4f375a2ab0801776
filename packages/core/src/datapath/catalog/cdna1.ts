/**
 * CDNA1 (gfx908): mi100. Numerics section 5, AMD table, row mi100; shapes of the AMD paper's section 4.1.
 * fp32: sequential-fma (4.7). fp16: exact, N = 4; bf16: exact, N = 2 (4.3; item 3 of section 9). i8: section 4.8.
 */
import { AMD_PAPER, evidence, INTEGER_EXACT } from './evidence.js';
import { amdFmaFp32, cdna1Exact, integerSum } from './families.js';
import { MFMA_16BIT, MFMA_BF16_SHORT, MFMA_FP32, mfma } from './mfma.js';
import { on } from './row.js';

const MI100 = ['mi100'];

export const cdna1 = [
  ...on(MI100, evidence('published', `${AMD_PAPER}, 4.1.1`), [
    ...mfma('joined', MFMA_FP32, { a: 'fp32', b: 'fp32', d: 'fp32', name: 'f32' }, () => amdFmaFp32),
  ]),
  ...on(MI100, evidence('published', `${AMD_PAPER}, 4.1.2`), [
    ...mfma('joined', MFMA_16BIT, { a: 'fp16', b: 'fp16', d: 'fp32', name: 'f16' }, () => cdna1Exact(4)),
  ]),
  ...on(
    MI100,
    evidence('published', `${AMD_PAPER}, 4.1.3`, 'one public model sums pairwise; numerics 9, item 3'),
    [
      ...mfma('joined', MFMA_BF16_SHORT, { a: 'bf16', b: 'bf16', d: 'fp32', name: 'bf16' }, () =>
        cdna1Exact(2),
      ),
    ],
  ),
  ...on(MI100, INTEGER_EXACT, [
    ...mfma('joined', MFMA_16BIT, { a: 's8', b: 's8', d: 's32', name: 'i8' }, () => integerSum(false)),
  ]),
];
