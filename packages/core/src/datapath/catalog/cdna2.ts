/**
 * CDNA2 (gfx90a): mi210, mi250, mi250x. Numerics section 5, AMD table; shapes of the AMD paper's section 4.2.
 * fp32, fp64: sequential-fma (4.7). fp16 and bf16 `_1k`: pairwise, N = 4; bf16 without `_1k`: pairwise, N = 2
 * (4.4). i8: section 4.8.
 */
import { AMD_PAPER, evidence, INTEGER_EXACT } from './evidence.js';
import { amdFmaFp32, cdna2Pairwise, fmaFp64, integerSum } from './families.js';
import { MFMA_16BIT, MFMA_BF16_SHORT, MFMA_FP32, MFMA_FP64, mfma } from './mfma.js';
import { on } from './row.js';

const ALL = ['mi210', 'mi250', 'mi250x'];
const FLUSH_NOTE = 'flushing before specials are classified (Inf times a subnormal is NaN) is derived';

export const cdna2 = [
  ...on(ALL, evidence('published', `${AMD_PAPER}, 4.2`), [
    ...mfma('joined', MFMA_FP32, { a: 'fp32', b: 'fp32', d: 'fp32', name: 'f32' }, () => amdFmaFp32),
  ]),
  ...on(ALL, evidence('published', 'numerics 5: fp64 is sequential-fma', 'the NaN word is derived'), [
    ...mfma('joined', MFMA_FP64, { a: 'fp64', b: 'fp64', d: 'fp64', name: 'f64' }, () => fmaFp64),
  ]),
  ...on(ALL, evidence('published', `${AMD_PAPER}, 4.2.1`, FLUSH_NOTE), [
    ...mfma('joined', MFMA_16BIT, { a: 'fp16', b: 'fp16', d: 'fp32', name: 'f16' }, () => cdna2Pairwise(4)),
  ]),
  ...on(ALL, evidence('published', `${AMD_PAPER}, 4.2.2`, FLUSH_NOTE), [
    ...mfma('joined', MFMA_16BIT, { a: 'bf16', b: 'bf16', d: 'fp32', name: 'bf16', oneK: true }, () =>
      cdna2Pairwise(4),
    ),
    ...mfma('joined', MFMA_BF16_SHORT, { a: 'bf16', b: 'bf16', d: 'fp32', name: 'bf16' }, () =>
      cdna2Pairwise(2),
    ),
  ]),
  ...on(ALL, INTEGER_EXACT, [
    ...mfma('joined', MFMA_16BIT, { a: 's8', b: 's8', d: 's32', name: 'i8' }, () => integerSum(false)),
  ]),
];
