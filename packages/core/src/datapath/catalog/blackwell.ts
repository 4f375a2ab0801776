/**
 * Blackwell data centre (sm_100): b200.
 * mma.sync fp16, bf16, tf32 as Hopper: numerics section 5, row b200. FP8 mma.sync: section 7 (split-window).
 * tcgen05, every kind, dense and sparse: section 6. fp64: section 4.7. Integers: section 4.8.
 */
import { INTEGER_SHAPES } from './ampere.js';
import { evidence, FLOOR_NOTE, INTEGER_EXACT, RECORDINGS, TCGEN05_STUDY } from './evidence.js';
import { HOPPER_16BIT_MMA, HOPPER_FP64_SHAPES, HOPPER_TF32_MMA } from './hopper.js';
import { fp64Mma, integerMma, splitFp8Mma } from './mma-sync.js';
import { type Entry, on, type Row } from './row.js';
import { f8f6f4Kind, i8Kind, mxf4Kinds, mxf8f6f4Kind, nvfp4Kind, wideKinds } from './tcgen05.js';

const B200 = ['b200'];
const NO_FLOOR = 'a floor on E was never observed; none is derived';

const published = (rows: readonly Row[], note?: string): Entry[] =>
  on(B200, evidence('published', TCGEN05_STUDY, note), rows);
const derived = (rows: readonly Row[], note: string): Entry[] =>
  on(B200, evidence('derived', TCGEN05_STUDY, note), rows);

const sameFormat = (row: Row) => row.a === row.b;
const mixed = (row: Row) => row.a !== row.b;
const wide = (out: 'fp32' | 'fp16') => (row: Row) => row.d === out;

const mmaSync = [
  ...on(B200, evidence('recorded', `${RECORDINGS}, B200`, FLOOR_NOTE), HOPPER_16BIT_MMA),
  ...on(
    B200,
    evidence('recorded', `${RECORDINGS}, B200/tf32`, `recorded over K = 4; ${FLOOR_NOTE}`),
    HOPPER_TF32_MMA,
  ),
  ...on(
    B200,
    evidence(
      'recorded',
      `${RECORDINGS}, B200/E4M3 and B200/E5M2, mma.sync; numerics 7`,
      'e4m3 with e5m2 follows from the pairs of one format',
    ),
    splitFp8Mma('fp16'),
  ),
  ...on(
    B200,
    evidence(
      'recorded',
      `${RECORDINGS}, B200/E4M3 and B200/E5M2, mma.sync; numerics 7`,
      'the words do not tell which half comes first: taken as with fp16 output; mixes follow from the pairs of one format',
    ),
    splitFp8Mma('fp32'),
  ),
  ...on(
    B200,
    evidence('derived', 'numerics 5: fp64 is sequential-fma', 'published of a100 and h100'),
    fp64Mma([[8, 8, 4], ...HOPPER_FP64_SHAPES]),
  ),
  ...on(B200, INTEGER_EXACT, integerMma(INTEGER_SHAPES)),
];

const MIX_NOTE = `e4m3 x e2m1 to fp32 and e2m1 x e4m3 to fp16 stand for the mixes; ${NO_FLOOR}`;

const dense = [
  ...published(wideKinds(false).filter(wide('fp32')), NO_FLOOR),
  ...published(
    wideKinds(false).filter(wide('fp16')),
    `fp16 output was checked with f8f6f4 operands; ${NO_FLOOR}`,
  ),
  ...published(f8f6f4Kind(false, 'fp32').filter(sameFormat), NO_FLOOR),
  ...published(f8f6f4Kind(false, 'fp32').filter(mixed), MIX_NOTE),
  ...published(f8f6f4Kind(false, 'fp16'), MIX_NOTE),
  ...published(i8Kind(false)),
  ...published(mxf8f6f4Kind(false).filter(sameFormat)),
  ...published(
    mxf8f6f4Kind(false).filter(mixed),
    'checked with a and b of one format; mixes share the accumulator',
  ),
  ...published(mxf4Kinds(false)),
  ...published(nvfp4Kind(false)),
];

const SPARSE_MIX_NOTE = 'sparse was checked with a and b of one format and fp32 output';
const SPARSE_SCALES = 'K and the scale blocks double, the rest as dense over logical positions';

const sparse = [
  ...published(wideKinds(true).filter(wide('fp32')), NO_FLOOR),
  ...derived(wideKinds(true).filter(wide('fp16')), SPARSE_MIX_NOTE),
  ...published(f8f6f4Kind(true, 'fp32').filter(sameFormat), NO_FLOOR),
  ...derived(f8f6f4Kind(true, 'fp32').filter(mixed), SPARSE_MIX_NOTE),
  ...derived(f8f6f4Kind(true, 'fp16'), SPARSE_MIX_NOTE),
  ...derived(i8Kind(true), 'dense integers were checked, sparse ones not'),
  ...derived(mxf8f6f4Kind(true), SPARSE_SCALES),
  ...derived(mxf4Kinds(true), SPARSE_SCALES),
  ...published(nvfp4Kind(true)),
];

export const blackwell = [...mmaSync, ...dense, ...sparse];
