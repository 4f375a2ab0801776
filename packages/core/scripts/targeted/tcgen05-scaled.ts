/** Block-scaled tcgen05: the quantum that moves with the scales, group sums, the merge below a dominant c. */

import type { VectorRecord } from '../../src/conformance/vector.js';
import type { MmaOp } from '../../src/datapath/op.js';
import {
  type Case,
  type Dyadic,
  NVIDIA_NAN,
  neg,
  ONE,
  op,
  type Product,
  sum,
  type TargetedFile,
  two,
  vector,
  ZERO,
} from './dsl.js';
import { SOURCE } from './tcgen05.js';

const SECTION = 'Block-scaled';

interface Form {
  readonly target: MmaOp;
  readonly blocks: number;
  /** Positions of a scale block. */
  readonly block: number;
  /** Word of the scale 2^e. */
  scale(e: number): string;
}

const form = (instruction: string): Form => {
  const target = op('b200', instruction);
  const scaling = target.scaling!;
  return {
    target,
    block: scaling.block,
    blocks: target.k / scaling.block,
    scale: (e) =>
      (scaling.format === 'ue8m0' ? 127 + e : e >= -6 ? (e + 7) << 3 : 1 << (e + 9))
        .toString(16)
        .padStart(2, '0'),
  };
};

const NVFP4 = form('tcgen05.mma.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.ue4m3');
const GROUPED = [
  form('tcgen05.mma.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.ue8m0'),
  form('tcgen05.mma.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.ue8m0'),
  form('tcgen05.mma.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.ue8m0'),
];
const MX = ['e4m3', 'e5m2', 'e2m3', 'e3m2', 'e2m1'].map((type) =>
  form(`tcgen05.mma.kind::mxf8f6f4.block_scale.f32.${type}.${type}.ue8m0`),
);

/** Words of both scales, block by block; unit scales where none is given. */
const scales = ({ blocks, scale }: Form, a: readonly number[] = [], b: readonly number[] = []) => ({
  scaleA: Array.from({ length: blocks }, (_, i) => scale(a[i] ?? 0)),
  scaleB: Array.from({ length: blocks }, (_, i) => scale(b[i] ?? 0)),
});

const named = ({ target }: Form, cases: readonly Case[]): VectorRecord[] =>
  cases.map((given) => vector(target, { ...given, id: `${given.id}-${target.instruction}` }));

const pair: Readonly<Record<number, Product>> = { 1: ONE, 2: neg(ONE) };

/** A survivor c below cancelling products of scale 2^s: kept down to 2^(s - 35). */
function floor(f: Form): Case[] {
  const cases: Case[] = [];
  for (const s of [0, 4, -4])
    for (const e of [s - 34, s - 35, s - 36])
      cases.push({
        id: `scale-floor-s${s}-c2^${e}`,
        p: pair,
        c: two(e),
        d: e >= s - 35 ? two(e) : ZERO,
        ...scales(f, [s]),
        note: `${SECTION}: the quantum is 2^${s - 35}, it moves with the scales`,
      });
  return cases;
}

/** Both scales NaN words, in a block whose products are zero. */
function scaleNaN(f: Form): Case[] {
  const nan = f.target.scaling!.format === 'ue8m0' ? 'ff' : '7f';
  return (['scaleA', 'scaleB'] as const).map((side) => {
    const both = scales(f);
    return {
      id: `nan-${side}-over-zeros`,
      p: { 1: ONE },
      d: NVIDIA_NAN,
      ...both,
      [side]: [...both[side].slice(0, -1), nan],
      note: `${SECTION}: a NaN scale gives NaN even over zero products`,
    };
  });
}

/** d is c's own word where every product is zero. */
function zeroProducts(f: Form): Case[] {
  return ['80000000', '00000000', '00000001', '807fffff', '3f800001'].map((word) => ({
    id: `zero-products-c-${word}`,
    c: { word },
    d: { word },
    ...scales(f, [3], [-2]),
    note: 'numerics section 6: every product zero, d is c unchanged',
    evidence: 'published' as const,
  }));
}

/** n copies of the product `each` from position `from` on. */
const run = (from: number, n: number, each: Product): Record<number, Product> =>
  Object.fromEntries(Array.from({ length: n }, (_, i) => [from + i, each]));

const half: Product = { a: two(-1), b: two(-1) };
const minusHalf: Product = { a: neg(two(-1)), b: two(-1) };
const halfOne: Product = { a: neg(two(-1)), b: ONE };

/**
 * c dominant: q = c's exponent - 35. With c = 2^20 the sums of a block of 16 are cut at 2^-15; what is left of them
 * shows through the truncation of 2^20 - x.
 */
function dominant(f: Form, small: (positions: number) => { a: number[]; b: number[] }): Case[] {
  const c = two(20);
  const below = sum(c, neg(two(-4)));
  const { a, b } = small(-18);
  const make = (id: string, p: Record<number, Product>, d: Dyadic, note: string): Case => ({
    id,
    p,
    c,
    d,
    ...scales(f, a, b),
    note: `${SECTION}: c dominant, ${note}`,
    claims: ['c-dominant'],
  });
  return [
    make(
      'dominant-c-block-sum-kept',
      run(1, 16, halfOne),
      below,
      'sixteen products of 2^-19 make one quantum of 2^-15',
    ),
    make(
      'dominant-c-block-sum-cut',
      run(1, 15, halfOne),
      c,
      'fifteen products of 2^-19 stay below the quantum 2^-15',
    ),
    make(
      'dominant-c-sums-per-block',
      { ...run(9, 8, halfOne), ...run(17, 8, halfOne) },
      c,
      'eight products in each of two blocks of 16: each sum is cut on its own',
    ),
  ];
}

/** Products of 2^-20 under a scale floor of 2^-19: they count only as a sum of their group. */
function groupSum(f: Form, group: number, first: number, low: { s: number; a: number; b: number }): Case[] {
  const n = f.blocks;
  const place = Math.floor((first - 1) / f.block);
  const at = (value: number) =>
    Array.from({ length: n }, (_, i) => (i === 0 ? low.s / 2 : i >= place ? value : 0));
  const both = scales(f, at(low.a), at(low.b));
  // A product of 0.5 * 0.5 in the low blocks is 2^(a + b - 2), one bit below q = s - 35.
  const unit = low.a + low.b - 2;
  const note = `${SECTION}: aligned groups of ${group} are summed before they are cut`;
  return [
    {
      id: `group-${group}-carry`,
      p: { ...pair, [first]: half, [first + group - 1]: half },
      d: two(unit + 1),
      ...both,
      note,
    },
    {
      id: `group-${group}-boundary`,
      p: { ...pair, [first + group - 1]: half, [first + group]: half },
      d: ZERO,
      ...both,
      note,
    },
    {
      id: `group-${group}-carry-negative`,
      p: { ...pair, [first]: minusHalf, [first + group - 1]: minusHalf },
      d: neg(two(unit + 1)),
      ...both,
      note,
    },
  ];
}

/** mxf8f6f4: one window of 25 bits over products and c. */
function mx(f: Form): Case[] {
  const cases: Case[] = [];
  for (const s of [0, 10, -10])
    for (const e of [24, 25, 26])
      cases.push({
        id: `window-25-s${s}-c2^${s - e}`,
        p: pair,
        c: two(s - e),
        d: e <= 25 ? two(s - e) : ZERO,
        ...scales(f, [s]),
        note: `${SECTION}: the scale joins the product, whose window keeps 25 bits`,
      });
  return cases;
}

export const tcgen05Scaled: readonly TargetedFile[] = [
  {
    path: 'blackwell/tcgen05-nvfp4.jsonl',
    source: `${SOURCE}: block-scaled`,
    vectors: named(NVFP4, [
      ...floor(NVFP4),
      ...scaleNaN(NVFP4),
      ...zeroProducts(NVFP4),
      ...dominant(NVFP4, () => ({ a: Array(4).fill(-9), b: Array(4).fill(-9) })),
      // Scales 2^8 * 2^8 in the first block raise the floor to 2^(16 - 35); 2^-9 * 2^-9 in the others.
      ...groupSum(NVFP4, 4, 17, { s: 16, a: -9, b: -9 }),
    ]),
  },
  {
    path: 'blackwell/tcgen05-mxf4.jsonl',
    source: `${SOURCE}: block-scaled`,
    vectors: GROUPED.flatMap((f) =>
      named(f, [
        ...floor(f),
        ...scaleNaN(f),
        ...zeroProducts(f),
        ...dominant(f, () => ({ a: Array(f.blocks).fill(-9), b: Array(f.blocks).fill(-9) })),
        ...groupSum(f, 16, 33, { s: 16, a: -9, b: -9 }),
      ]),
    ),
  },
  {
    path: 'blackwell/tcgen05-mxf8f6f4.jsonl',
    source: `${SOURCE}: block-scaled`,
    vectors: MX.flatMap((f) => named(f, [...mx(f), ...scaleNaN(f), ...zeroProducts(f)])),
  },
];
