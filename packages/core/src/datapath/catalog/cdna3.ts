/**
 * CDNA3 (gfx942): mi300a, mi300x. Numerics section 5, AMD table; shapes of the AMD paper's section 4.3.
 * fp32, fp64: sequential-fma (4.7). fp16, bf16: cdna3-window, N = min(8, K); xf32: N = 4 (4.5).
 * e4m3fnuz (AMD's fp8), e5m2fnuz (bf8), any mix: cdna3-odd-even, N = 16 (4.6). i8: section 4.8.
 * The alignment of c: CDNA3_ADDEND in families.ts (24 bits RD below the products; 32, then 31, above them).
 */
import { AMD_PAPER, evidence, INTEGER_EXACT } from './evidence.js';
import { amdFmaFp32, CDNA3_FP8, cdna3Window, fmaFp64, integerSum } from './families.js';
import { MFMA_16BIT, MFMA_FP32, MFMA_FP64, type MfmaShape, mfma } from './mfma.js';
import { on } from './row.js';

const ALL = ['mi300a', 'mi300x'];
/** c above the products: 32 bits are taken, then 31 after normalisation. */
const ADDEND_NOTE = 'Xie et al. 2025 write 31 bits for the cut sum; numerics 9, item 1';

const XF32_SHAPES: readonly MfmaShape[] = [
  [32, 4, 1],
  [16, 8, 1],
];
const FP8_SHAPES: readonly MfmaShape[] = [
  [32, 16, 1],
  [16, 32, 1],
];
const I8_SHAPES: readonly MfmaShape[] = [
  [32, 4, 2],
  [16, 4, 4],
  [4, 4, 16],
  [32, 16, 1],
  [16, 32, 1],
];
const FP8 = [
  ['fp8', 'e4m3fnuz'],
  ['bf8', 'e5m2fnuz'],
] as const;

export const cdna3 = [
  ...on(ALL, evidence('published', `${AMD_PAPER}, 4.3`), [
    ...mfma('underscore', MFMA_FP32, { a: 'fp32', b: 'fp32', d: 'fp32', name: 'f32' }, () => amdFmaFp32),
  ]),
  ...on(ALL, evidence('published', 'numerics 5: fp64 is sequential-fma', 'the NaN word is derived'), [
    ...mfma('underscore', MFMA_FP64, { a: 'fp64', b: 'fp64', d: 'fp64', name: 'f64' }, () => fmaFp64),
  ]),
  ...on(ALL, evidence('published', `${AMD_PAPER}, 4.3.1`, ADDEND_NOTE), [
    ...mfma('underscore', MFMA_16BIT, { a: 'fp16', b: 'fp16', d: 'fp32', name: 'f16' }, (k) =>
      cdna3Window(Math.min(8, k)),
    ),
  ]),
  ...on(ALL, evidence('published', `${AMD_PAPER}, 4.3.2`, ADDEND_NOTE), [
    ...mfma('underscore', MFMA_16BIT, { a: 'bf16', b: 'bf16', d: 'fp32', name: 'bf16', oneK: true }, (k) =>
      cdna3Window(Math.min(8, k)),
    ),
  ]),
  ...on(ALL, evidence('published', `${AMD_PAPER}, 4.3.3`, ADDEND_NOTE), [
    ...mfma('underscore', XF32_SHAPES, { a: 'tf32', b: 'tf32', d: 'fp32', name: 'xf32' }, () =>
      cdna3Window(4),
    ),
  ]),
  ...on(
    ALL,
    evidence('published', `${AMD_PAPER}, 4.3.4`, ADDEND_NOTE),
    FP8.flatMap(([nameA, a]) =>
      FP8.flatMap(([nameB, b]) =>
        mfma('underscore', FP8_SHAPES, { a, b, d: 'fp32', name: `${nameA}_${nameB}` }, () => CDNA3_FP8),
      ),
    ),
  ),
  ...on(ALL, INTEGER_EXACT, [
    ...mfma('underscore', I8_SHAPES, { a: 's8', b: 's8', d: 's32', name: 'i8' }, () => integerSum(false)),
  ]),
];
