/** CDNA2 fp16 and bf16: section 4.2. Pairwise sums, each operation rounded and flushed. */

import type { VectorRecord } from '../../src/conformance/vector.js';
import type { MmaOp } from '../../src/datapath/op.js';
import {
  AMD_NAN,
  type Case,
  neg,
  ONE,
  op,
  permutations,
  SIGNS,
  signed,
  signName,
  sum,
  type TargetedFile,
  two,
  vector,
  ZERO,
} from './dsl.js';
import { blockSizeCases, R21, R2223, roundingCases, S } from './shared.js';

const suffix = (target: MmaOp, cases: readonly Case[]): VectorRecord[] =>
  cases.map((given) => vector(target, { ...given, id: `${given.id}-${target.instruction}` }));

/** The group structure: tests 1 to 4 of section 4.2.1 for groups of `n` products. */
function groups(target: MmaOp, n: number, section: string): Case[] {
  const cases = blockSizeCases(target, n, `${section}, 2`, (j, inside) => ({
    c: ONE,
    p: { 1: S, [j]: S },
    d: inside ? R2223 : R21,
  }));
  for (const [c, p1, p2] of permutations([ONE, S, S]))
    cases.push({
      id: `no-global-alignment-one-in-${c === ONE ? 'c' : p1 === ONE ? 'p1' : 'p2'}`,
      c,
      p: { 1: p1, 2: p2 },
      d: c === ONE ? R2223 : R21,
      note: `${section}, 1: results differ with the order; the words follow from fl(c + fl(p1 + p2))`,
      evidence: 'derived',
    });
  if (n < 4) return cases;
  for (const j of [1, 2])
    cases.push({
      id: `pair-3-4-first-with-p${j}`,
      p: { [j]: ONE, 3: S, 4: S },
      d: R2223,
      note: `${section}, 3: fl(p${j} + fl(p3 + p4))`,
    });
  const pairs = { 1: ONE, 2: S, 3: ONE, 4: S };
  cases.push(
    {
      id: 'pairs-1-2-and-3-4',
      p: pairs,
      d: sum(two(1), two(-21)),
      note: `${section}, 4: fl(p1 + p2) + fl(p3 + p4)`,
    },
    {
      id: 'pairs-then-c',
      p: pairs,
      c: sum(two(-23), two(-25)),
      d: sum(two(1), two(-21), two(-22)),
      note: `${section}, 4: fl(c + fl(fl(p1 + p2) + fl(p3 + p4)))`,
    },
  );
  return cases;
}

function bothInfinities(section: string): Case[] {
  return [
    {
      id: 'inf-pos',
      p: { 1: { a: ONE, b: 'inf' } },
      d: 'inf',
      note: `${section}: infinity is detected in the inputs`,
    },
    {
      id: 'inf-neg',
      p: { 1: { a: ONE, b: '-inf' } },
      d: '-inf',
      note: `${section}: infinity is detected in the inputs`,
    },
    ...SIGNS.map(
      (s): Case => ({
        id: `inf-both-signs-${signName(s)}`,
        p: { 1: { a: ONE, b: s === 1 ? 'inf' : '-inf' }, 2: { a: ONE, b: s === 1 ? '-inf' : 'inf' } },
        d: AMD_NAN,
        note: `${section}: infinities of both signs give a NaN with the sign bit set`,
      }),
    ),
  ];
}

function fp16(): VectorRecord[] {
  const section = '4.2.1';
  const k4 = op('mi210', 'v_mfma_f32_4x4x4f16');
  const cases: Case[] = [];
  for (let e = -149; e <= -127; e++)
    for (const s of SIGNS)
      cases.push({
        id: `subnormal-c-flushed-2^${e}-${signName(s)}`,
        c: signed(s, two(e)),
        d: ZERO,
        note: `${section}: products are zero and c is below 2^-126: zero${s === 1 ? '' : ' (its sign derived)'}`,
      });
  cases.push({
    id: 'subnormal-input-flushed',
    p: { 1: { a: two(-24), b: ONE } },
    d: ZERO,
    note: `${section}: a subnormal input counts as zero`,
  });
  cases.push(...roundingCases(section), ...bothInfinities(section));
  const sizes = [
    'v_mfma_f32_32x32x4f16',
    'v_mfma_f32_16x16x4f16',
    'v_mfma_f32_4x4x4f16',
    'v_mfma_f32_32x32x8f16',
    'v_mfma_f32_16x16x16f16',
  ];
  return [
    ...suffix(k4, cases),
    ...sizes.flatMap((name) => suffix(op('mi210', name), groups(op('mi210', name), 4, section))),
  ];
}

function bf16(n: 2 | 4, smallest: string, sizes: readonly string[]): VectorRecord[] {
  const section = '4.2.2';
  const cases: Case[] = [
    {
      id: 'product-rounded-to-fp32',
      p: { 1: two(128), 2: neg(two(128)) },
      d: AMD_NAN,
      note: `${section}: products become fp32 first, Inf - Inf is NaN`,
    },
    {
      id: 'subnormal-products-flushed',
      p: { 1: { a: two(-64), b: two(-63) }, 2: { a: two(-63), b: two(-64) } },
      d: ZERO,
      note: `${section}: subnormal results are flushed after every operation`,
    },
    ...roundingCases(section),
    ...bothInfinities(section),
  ];
  return [
    ...suffix(op('mi210', smallest), cases),
    ...sizes.flatMap((name) => suffix(op('mi210', name), groups(op('mi210', name), n, section))),
  ];
}

const SOURCE = 'Accurate Models of AMD Matrix Cores, section';

export const cdna2: readonly TargetedFile[] = [
  { path: 'cdna2/fp16.jsonl', source: `${SOURCE} 4.2.1`, vectors: fp16() },
  {
    path: 'cdna2/bf16-1k.jsonl',
    source: `${SOURCE} 4.2.2, instructions with _1k`,
    vectors: bf16(4, 'v_mfma_f32_4x4x4bf16_1k', [
      'v_mfma_f32_32x32x4bf16_1k',
      'v_mfma_f32_16x16x4bf16_1k',
      'v_mfma_f32_4x4x4bf16_1k',
      'v_mfma_f32_32x32x8bf16_1k',
      'v_mfma_f32_16x16x16bf16_1k',
    ]),
  },
  {
    path: 'cdna2/bf16.jsonl',
    source: `${SOURCE} 4.2.2, instructions without _1k`,
    vectors: bf16(2, 'v_mfma_f32_4x4x2bf16', [
      'v_mfma_f32_32x32x2bf16',
      'v_mfma_f32_16x16x2bf16',
      'v_mfma_f32_4x4x2bf16',
      'v_mfma_f32_32x32x4bf16',
      'v_mfma_f32_16x16x8bf16',
    ]),
  },
];
