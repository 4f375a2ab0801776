/**
 * Where the sources disagree (numerics section 9, items 1 to 4, 6 and 7): operands on which the readings give other
 * words. Each d follows the reading that is taken, worked out beside it. Item 1 is also in cdna3/fp16.jsonl. Last, where
 * the special operands of section 3 meet the additions of section 4.4.
 */
import {
  type Case,
  neg,
  ONE,
  ones,
  op,
  type Product,
  sum,
  type TargetedFile,
  two,
  vector,
  ZERO,
} from './dsl.js';

const line = (device: string, instruction: string, given: Case) => vector(op(device, instruction), given);

const UP = sum(ONE, two(-23));

/** c = 1 and -(2^-24 + 2^-26 + ... + 2^-31 + 2^-33): 32 bits leave 1 - 2^-24, 31 bits 1 - 2^-23. */
const item1 = ['v_mfma_f32_32x32x8_f16', 'v_mfma_f32_32x32x8_bf16'].map((instruction) =>
  line('mi300x', instruction, {
    id: `item-1-sum-below-c-keeps-32-bits-${instruction}`,
    c: ONE,
    p: { 1: neg(two(-24)), 2: neg(ones(26, 31)), 3: neg(two(-33)) },
    d: sum(ONE, neg(two(-24))),
    note: 'numerics 9.1: the product sum below c keeps 32 fraction bits, not 31',
  }),
);

/** 0 * 2^127 beside 2^-120: were a zero factor of exponent -126, E = 1 would drop 2^-120. */
const item2 = (
  [
    ['a100', 'mma.sync.m16n8k8.f32.bf16.bf16.f32'],
    ['h100', 'mma.sync.m16n8k16.f32.bf16.bf16.f32'],
    ['b200', 'mma.sync.m16n8k16.f32.bf16.bf16.f32'],
    ['b200', 'tcgen05.mma.kind::f16.f32.bf16.bf16'],
    ['mi300x', 'v_mfma_f32_16x16x16_bf16'],
  ] as const
).flatMap(([device, instruction]) =>
  (['a', 'b'] as const).map((side) => {
    const zero: Product = side === 'a' ? { a: ZERO, b: two(127) } : { a: two(127), b: ZERO };
    return line(device, instruction, {
      id: `item-2-zero-product-left-out-zero-${side}-${device}-${instruction}`,
      p: { 1: zero, 2: two(-120) },
      d: two(-120),
      note: 'numerics 9.2: a product with a zero factor has no exponent',
      evidence: device === 'mi300x' || instruction.startsWith('tcgen05') ? 'published' : 'derived',
    });
  }),
);

/** p1 = 1, p2 = 2^-24, c = 2^-25: exact 1 + 1.5 half ulps goes up; rounded pairs stay at 1. */
const item3 = (
  [
    ['v_mfma_f32_4x4x4f16', 'fp16'],
    ['v_mfma_f32_4x4x2bf16', 'bf16'],
  ] as const
).map(([instruction]) =>
  line('mi100', instruction, {
    id: `item-3-exact-not-pairwise-${instruction}`,
    p: { 1: ONE, 2: two(-24) },
    c: two(-25),
    d: UP,
    note: 'numerics 9.3: CDNA1 sums exactly; rounding 1 + 2^-24 first would give 1',
  }),
);

/** c = 1 and a product of 0.75 ulp: added last by RNE it gives 1 + 2^-23; in the window it is cut. */
const item4 = [
  line('b200', 'mma.sync.m16n8k32.f32.e5m2.e5m2.f32', {
    id: 'item-4-mma-sync-adds-c-last',
    p: { 1: { a: sum(two(-12), two(-13)), b: two(-12) } },
    c: ONE,
    d: UP,
    note: 'numerics 9.4: mma.sync on sm_100 adds c last, rounded to nearest even',
    evidence: 'derived',
  }),
  line('b200', 'tcgen05.mma.kind::f8f6f4.f32.e5m2.e5m2', {
    id: 'item-4-tcgen05-window-holds-c',
    p: { 1: { a: sum(two(-12), two(-13)), b: two(-12) } },
    c: ONE,
    d: ONE,
    note: 'numerics 9.4: tcgen05 takes c into the window, which is cut toward zero',
    evidence: 'derived',
  }),
  line('h100', 'wgmma.mma_async.m64n8k32.f32.e5m2.e5m2', {
    id: 'item-4-wgmma-window-holds-c',
    p: { 1: { a: sum(two(-12), two(-13)), b: two(-12) } },
    c: ONE,
    d: ONE,
    note: 'numerics 9.4: wgmma takes c into its window of 13 bits',
    evidence: 'derived',
  }),
];

/**
 * (2^7 - 1) * 2^-156 and eight products of 2^-159 sum to 2^-149 exactly. A floor of -133 puts the quantum at 2^-158:
 * the eight are cut, the rest truncates to zero. Without a floor the quantum lies below them.
 */
const near: Record<number, Product> = {
  1: { n: 127n, e: -156 },
  ...Object.fromEntries([2, 3, 4, 5, 6, 7, 8, 9].map((i) => [i, two(-159)])),
};
/** (2^6 - 1) * 2^-155 and four of 2^-157: kept at 2^-158 (floor -133), cut at 2^-157 by a floor of -132. */
const edge: Record<number, Product> = {
  1: { n: 63n, e: -155 },
  2: two(-157),
  3: two(-157),
  4: two(-157),
  5: two(-157),
};
/** (2^6 - 1) * 2^-155 and three of 2^-157, two of 2^-158: the last two are kept at 2^-158 and cut at 2^-157. */
const edge158: Record<number, Product> = { ...edge, 5: two(-158), 6: two(-158) };

const least = { word: '00000001' };

const item6 = [
  line('b200', 'tcgen05.mma.kind::f16.f32.bf16.bf16', {
    id: 'item-6-tcgen05-no-floor',
    p: near,
    d: least,
    note: 'numerics 9.6: no floor on E in tcgen05; -133 would give +0',
    evidence: 'derived',
  }),
  ...(['b200', 'h100'] as const).map((device) =>
    line(device, 'mma.sync.m16n8k16.f32.bf16.bf16.f32', {
      id: `item-6-mma-sync-floor-133-${device}`,
      p: near,
      d: ZERO,
      note: 'numerics 9.6: E is never below -133, terms under 2^-158 are cut',
      claims: ['floor', 'truncation'],
    }),
  ),
  line('h100', 'mma.sync.m16n8k16.f32.bf16.bf16.f32', {
    id: 'item-6-floor-133-keeps-2^-158',
    p: edge158,
    d: least,
    note: 'numerics section 5: floor -133, quantum 2^-158',
  }),
  line('a100', 'mma.sync.m16n8k8.f32.bf16.bf16.f32', {
    id: 'item-6-floor-132-cuts-2^-157',
    p: edge,
    d: ZERO,
    note: 'numerics section 5: floor -132, quantum 2^-156',
    claims: ['floor', 'truncation'],
  }),
  line('h100', 'mma.sync.m16n8k16.f32.bf16.bf16.f32', {
    id: 'item-6-floor-133-keeps-2^-157',
    p: edge,
    d: least,
    note: 'numerics section 5: floor -133, quantum 2^-158',
  }),
];

/**
 * nvfp4 with S = 16 < e_c = 18 < R = 20: q = S - 35 = -19 keeps a group sum of -2^-18, max(S, e_c) - 35 = -17 cuts
 * it. The first block's products cancel; 2^18 - 2^-18 truncates to 2^18 - 2^-6.
 */
const item7 = [
  line('b200', 'tcgen05.mma.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.ue4m3', {
    id: 'item-7-nvfp4-scale-floor-ignores-c',
    p: {
      1: { a: two(2), b: two(2) },
      2: { a: neg(two(2)), b: two(2) },
      ...Object.fromEntries([17, 18, 19, 20].map((i) => [i, { a: neg(two(-1)), b: two(-1) }])),
    },
    c: two(18),
    d: sum(two(18), neg(two(-6))),
    scaleA: ['78', '01', '01', '01'],
    scaleB: ['78', '01', '01', '01'],
    note: 'numerics 9.7: S < e_c < R, the floor is S - 35, c does not raise it',
    evidence: 'derived',
  }),
];

/**
 * CDNA2: an infinite c, or an infinite product of an infinite operand, while finite products of +-2^128 round to the
 * other infinity. Section 3 looks at the operands first and gives the operand's infinity; the additions alone would
 * give NaN, as they do where no operand is infinite (cdna2/bf16.jsonl, product-rounded-to-fp32).
 */
const pairwiseSpecials = (['v_mfma_f32_4x4x4bf16_1k', 'v_mfma_f32_4x4x2bf16'] as const).flatMap(
  (instruction) =>
    ([1, -1] as const).flatMap((s) => {
      const infinity = s === 1 ? 'inf' : '-inf';
      const other = s === 1 ? neg(two(128)) : two(128);
      const name = `${s === 1 ? 'pos' : 'neg'}-${instruction}`;
      const note = 'numerics 3 before 4.4: infinite operands decide before any product overflows';
      const first = { d: infinity, note, evidence: 'derived' } as const;
      return [
        line('mi210', instruction, {
          id: `infinite-c-before-overflow-${name}`,
          c: infinity,
          p: { 1: other },
          ...first,
        }),
        line('mi210', instruction, {
          id: `infinite-operand-before-overflow-${name}`,
          p: { 1: { a: infinity, b: ONE }, 2: other },
          ...first,
        }),
      ];
    }),
);

const SOURCE = 'numerics section 9: where sources disagree';

export const disputes: readonly TargetedFile[] = [
  {
    path: 'disputes/items.jsonl',
    source: SOURCE,
    vectors: [...item1, ...item2, ...item3, ...item4, ...item6, ...item7, ...pairwiseSpecials],
  },
];
