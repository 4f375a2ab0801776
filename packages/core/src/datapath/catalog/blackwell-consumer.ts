/**
 * Blackwell workstation and consumer (sm_120): rtx-pro-6000, rtx50. Numerics section 5, row sm_120.
 * fp16, bf16, tf32 as b200 (derived). f8f6f4 m16n8k32: one window N = 32, F = 25, no floor (published).
 * Block-scaled mma.sync as tcgen05, section 6 (derived). fp64: section 4.7. Integers: section 4.8.
 */
import { INTEGER_SHAPES } from './ampere.js';
import { evidence, INTEGER_EXACT } from './evidence.js';
import { tcgen05Window } from './families.js';
import { HOPPER_16BIT_MMA, HOPPER_FP64_SHAPES, HOPPER_TF32_MMA } from './hopper.js';
import { blockScaledMma, f8f6f4Mma, fp64Mma, integerMma } from './mma-sync.js';
import { on } from './row.js';

const ALL = ['rtx-pro-6000', 'rtx50'];

export const blackwellConsumer = [
  ...on(ALL, evidence('derived', 'numerics 5, sm_120: as b200'), [...HOPPER_16BIT_MMA, ...HOPPER_TF32_MMA]),
  ...on(ALL, evidence('published', 'numerics 5, sm_120'), f8f6f4Mma(tcgen05Window(32))),
  ...on(
    ALL,
    evidence('derived', 'numerics 6, as the tcgen05 kind of the same name', 'numerics 9, item 7'),
    blockScaledMma(),
  ),
  ...on(
    ALL,
    evidence('derived', 'numerics 5: fp64 is sequential-fma', 'published of a100 and h100'),
    fp64Mma([[8, 8, 4], ...HOPPER_FP64_SHAPES]),
  ),
  ...on(ALL, INTEGER_EXACT, integerMma(INTEGER_SHAPES)),
];
