/** CDNA1 fp16 and bf16: sections 4.1.2 and 4.1.3. The sum is exact and rounded once. */

import type { VectorRecord } from '../../src/conformance/vector.js';
import type { MmaOp } from '../../src/datapath/op.js';
import {
  AMD_NAN,
  type Case,
  type Dyadic,
  encodable,
  neg,
  ONE,
  ones,
  op,
  permutations,
  SIGNS,
  signed,
  signName,
  split,
  spread,
  sum,
  type TargetedFile,
  two,
  vector,
  ZERO,
} from './dsl.js';
import {
  blockSizeCases,
  infinityCases,
  R21,
  R22,
  R2223,
  roundingCases,
  S,
  subnormalAddends,
} from './shared.js';

const one = (target: MmaOp, cases: readonly Case[]): VectorRecord[] =>
  cases.map((given) => vector(target, given));

/** Each order of the values over c, p1, p2, ...; orders that have no words in the op's formats are left out. */
function orders(target: MmaOp, values: readonly Dyadic[], make: (order: readonly Dyadic[]) => Case): Case[] {
  return permutations(values)
    .map(make)
    .filter((given) => encodable(target, given));
}

const text = (x: Dyadic) =>
  `${x.n < 0n ? '-' : ''}${x.n === 1n || x.n === -1n ? '' : `${x.n < 0n ? -x.n : x.n}*`}2^${x.e}`;

/** 1, 2^-23 + 2^-24 permuted between c and p1, the same again in pj. */
function blockSize(target: MmaOp, n: number, section: string): Case[] {
  return [
    ['c', ONE, S],
    ['p1', S, ONE],
  ].flatMap(([where, c, p1]) =>
    blockSizeCases(target, n, section, (j, inside) => ({
      c: c as Dyadic,
      p: { 1: p1 as Dyadic, [j]: S },
      d: inside ? R2223 : R21,
    })).map((given) => ({ ...given, id: `${given.id}-one-in-${where}-${target.instruction}` })),
  );
}

function fp16(): VectorRecord[] {
  const section = '4.1.2';
  const k4 = op('mi100', 'v_mfma_f32_4x4x4f16');
  const cases: Case[] = SIGNS.map((s) => ({
    id: `subnormal-inputs-${signName(s)}`,
    p: { 1: { a: two(-24), b: signed(s, two(-24)) } },
    d: signed(s, two(-48)),
    note: `${section}: subnormal inputs are kept`,
  }));
  cases.push(...subnormalAddends(section), ...roundingCases(section));
  for (const [p1, p2, p3] of permutations([ONE, S, S]))
    cases.push({
      id: `no-sequence-one-at-${p1 === ONE ? 1 : p2 === ONE ? 2 : 3}`,
      p: { 1: p1, 2: p2, 3: p3 },
      d: R2223,
      note: `${section}: every order gives the same sum, so there is no sequence of roundings`,
    });
  // 1, 2^-24, 2^-(25+n): the third term, however small, breaks the tie.
  for (let n = 0; n <= 24; n++)
    cases.push(
      ...orders(k4, [ONE, two(-24), two(-25 - n)], ([c, p1, p2]) => ({
        id: `sticky-n${n}-c=${text(c)}-p1=${text(p1)}`,
        c,
        p: { 1: p1, 2: p2 },
        d: sum(ONE, two(-23)),
        note: `${section}, 1: a term of 2^-${25 + n} still breaks the tie, so no alignment bit is lost`,
      })),
    );
  for (let n = 0; n <= 124; n++)
    cases.push(
      ...orders(k4, [ONE, S, neg(two(-25 - n))], ([c, p1, p2]) => ({
        id: `borrow-n${n}-c=${text(c)}-p1=${text(p1)}`,
        c,
        p: { 1: p1, 2: p2 },
        d: sum(ONE, two(-23)),
        note: `${section}, 2: a term of -2^-${25 + n} still breaks the tie downwards`,
      })),
    );
  for (let l = 26; l <= 48; l++) for (const s of SIGNS) cases.push(...fourTerms(k4, section, l, s));
  cases.push(...infinityCases(section, AMD_NAN));
  const sizes = [
    'v_mfma_f32_32x32x4f16',
    'v_mfma_f32_16x16x4f16',
    'v_mfma_f32_4x4x4f16',
    'v_mfma_f32_32x32x8f16',
    'v_mfma_f32_16x16x16f16',
  ];
  return [
    ...one(k4, cases),
    ...sizes.flatMap((name) => one(op('mi100', name), blockSize(op('mi100', name), 4, section))),
  ];
}

/** 1, 2^-23, the sum 2^-25 + ... + 2^-L and 2^-L over c, p1, p2, p3; a sum that no product holds also takes p4. */
function fourTerms(target: MmaOp, section: string, l: number, s: 1 | -1): Case[] {
  const long = signed(s, ones(25, l));
  return permutations([signed(s, ONE), signed(s, two(-23)), long, signed(s, two(-l))]).flatMap((order, i) => {
    const p: Record<number, Dyadic> = { 1: order[1], 2: order[2], 3: order[3] };
    if (order[0] !== long && !split(target, long)) {
      const parts = spread(target, long, 2);
      if (!parts) return [];
      p[order.indexOf(long)] = parts[0];
      p[4] = parts[1];
    }
    return [
      {
        id: `exact-sum-L${l}-${signName(s)}-order${i}`,
        c: order[0],
        p,
        d: signed(s, R22),
        note: `${section}, 3: bits down to 2^-${l} carry into the tie, whatever the order`,
      },
    ];
  });
}

function bf16(): VectorRecord[] {
  const section = '4.1.3';
  const k2 = op('mi100', 'v_mfma_f32_4x4x2bf16');
  const cases: Case[] = SIGNS.flatMap((s): Case[] => [
    {
      id: `subnormal-input-${signName(s)}`,
      p: { 1: { a: signed(s, two(-133)), b: ONE } },
      d: signed(s, two(-133)),
      note: `${section}: subnormal inputs are kept`,
    },
    {
      id: `product-exact-1-${signName(s)}`,
      p: { 1: signed(s, sum(two(-149), two(-150))), 2: signed(s, two(-149)) },
      d: signed(s, two(-148)),
      note: `${section}: products rounded to fp32 first would give 2^-148 + 2^-149`,
    },
    {
      id: `product-exact-2-${signName(s)}`,
      p: { 1: signed(s, sum(two(-148), two(-150))), 2: signed(s, two(-149)) },
      d: signed(s, two(-147)),
      note: `${section}: products rounded to fp32 first would give 2^-148 + 2^-149`,
    },
    {
      id: `product-below-subnormal-${signName(s)}`,
      c: signed(s, two(-149)),
      p: { 1: signed(s, ones(151, 156)), 2: signed(s, two(-156)) },
      d: signed(s, two(-148)),
      note: `${section}: products below 2^-149 take part`,
    },
    {
      id: `inf-input-small-product-${signName(s)}`,
      p: { 1: { a: s === 1 ? 'inf' : '-inf', b: two(-20) } },
      d: s === 1 ? 'inf' : '-inf',
      note: `${section}: 2^128 is the infinity word of bf16, whatever it is multiplied by`,
    },
  ]);
  cases.push(...subnormalAddends(section), ...roundingCases(section));
  for (let n = 0; n <= 241; n++)
    for (const s of SIGNS)
      cases.push({
        id: `borrow-n${n}-${signName(s)}`,
        c: signed(s, ONE),
        p: { 1: signed(s, S), 2: neg(signed(s, two(-25 - n))) },
        d: signed(s, sum(ONE, two(-23))),
        note: `${section}: a product of 2^-${25 + n} still breaks the tie`,
      });
  cases.push({
    id: 'product-beyond-2^128-cancels',
    p: { 1: { a: two(65), b: two(64) }, 2: { a: two(65), b: neg(two(64)) } },
    d: ZERO,
    note: `${section}: finite inputs make products beyond 2^128 without infinity`,
  });
  cases.push(...infinityCases(section, AMD_NAN));
  const sizes = [
    'v_mfma_f32_32x32x2bf16',
    'v_mfma_f32_16x16x2bf16',
    'v_mfma_f32_4x4x2bf16',
    'v_mfma_f32_32x32x4bf16',
    'v_mfma_f32_16x16x8bf16',
  ];
  return [
    ...one(k2, cases),
    ...sizes.flatMap((name) => one(op('mi100', name), blockSize(op('mi100', name), 2, section))),
  ];
}

export const cdna1: readonly TargetedFile[] = [
  { path: 'cdna1/fp16.jsonl', source: 'Accurate Models of AMD Matrix Cores, section 4.1.2', vectors: fp16() },
  { path: 'cdna1/bf16.jsonl', source: 'Accurate Models of AMD Matrix Cores, section 4.1.3', vectors: bf16() },
];
