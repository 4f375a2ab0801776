/** CDNA3 fp16, bf16 and xf32: sections 4.3.1 to 4.3.3. One window of products, c added late. */

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
  spread,
  sum,
  type TargetedFile,
  two,
  vector,
  ZERO,
} from './dsl.js';
import { blockSizeCases, roundingCases, subnormalAddends } from './shared.js';

const UP = sum(ONE, two(-23));
const TINY = sum(two(-24), two(-25));

const suffix = (target: MmaOp, cases: readonly Case[]): VectorRecord[] =>
  cases.map((given) => vector(target, { ...given, id: `${given.id}-${target.instruction}` }));

/** A sum given to the products p1.. in as many lanes as its bits need. */
function lanes(target: MmaOp, ...values: readonly Dyadic[]): Record<number, Dyadic> {
  const parts = values.flatMap((value) => {
    const found = spread(target, value, 4);
    if (!found) throw new RangeError(`no lanes for ${value.n} * 2^${value.e}`);
    return found;
  });
  return Object.fromEntries(parts.map((value, i) => [i + 1, value]));
}

/** Section 4.3.1, which 4.3.2 and 4.3.3 say hold for bf16 and xf32 too; n: products of a block. */
function window(target: MmaOp, n: number, section: string): Case[] {
  const cases: Case[] = [...roundingCases(section)];
  for (const s of SIGNS)
    for (const [at, where] of ['c', 'p1', 'p2'].entries()) {
      const [c, p1, p2] = [0, 1, 2].map((i) => signed(s, i === at ? ONE : two(-24)));
      cases.push({
        id: `alignment-bit-one-in-${where}-${signName(s)}`,
        c,
        p: { 1: p1, 2: p2 },
        d: signed(s, UP),
        note: `${section}: an extra alignment bit holds both halves of an ulp`,
      });
    }
  cases.push(
    ...blockSizeCases(target, n, section, (j, inside) => ({
      c: ONE,
      p: { 1: two(-24), [j]: two(-24) },
      d: inside ? UP : ONE,
    })),
  );
  for (const s of SIGNS)
    for (const [p1, p2, p3] of permutations([ONE, ZERO, TINY]))
      cases.push({
        id: `no-interleaving-${name(p1)}${name(p2)}${name(p3)}-${signName(s)}`,
        p: { 1: signed(s, p1), 2: signed(s, p2), 3: signed(s, p3) },
        d: signed(s, ONE),
        note: `${section}: the same result in every order, so even and odd products share a window`,
      });
  for (const s of SIGNS)
    for (let j = 1; j <= 24; j++)
      cases.push({
        id: `alignment-truncates-j${j}-${signName(s)}`,
        p: { 1: signed(s, ONE), 2: signed(s, sum(two(-24), two(-24 - j))) },
        d: signed(s, ONE),
        note: `${section}: bits beyond the 24th fraction bit are cut toward zero when products are aligned`,
        claims: ['truncation', 'tie'],
      });
  cases.push(...denormalised(section));
  cases.push({
    id: 'c-added-after-products',
    c: ONE,
    p: { 1: two(-25), 2: two(-25), 3: two(-24) },
    d: UP,
    note: `${section}: c aligned with the products would lose the 25th bits and give c`,
  });
  for (const s of SIGNS)
    for (let j = 1; j <= 23; j++)
      cases.push({
        id: `c-shifted-rd-24-j${j}-${signName(s)}`,
        p: { 1: signed(s, ONE) },
        c: signed(s, sum(two(-24), two(-24 - j))),
        d: s === 1 ? ONE : neg(UP),
        note: `${section}, alignment of c, ${s === 1 ? 1 : 2}: a shifted c is rounded down to 24 fraction bits`,
      });
  cases.push({
    id: 'products-not-rounded-before-c',
    p: { 1: ONE, 2: two(-24) },
    c: two(-24),
    d: UP,
    note: `${section}, alignment of c, 1: the product sum keeps its 24th bit until c is added`,
  });
  cases.push(...shiftedSum(target, section), ...secondRoundDown(target, section));
  return cases;
}

const name = (x: Dyadic) => (x === ONE ? '1' : x === ZERO ? '0' : 't');

function denormalised(section: string): Case[] {
  const rest = { 2: two(-23), 3: two(-24), 4: two(-24) };
  const top = sum(two(1), two(-2));
  const half = sum(ONE, two(-1));
  return [
    {
      id: 'product-not-renormalised',
      p: { 1: { a: half, b: half }, ...rest },
      d: sum(top, two(-22)),
      note: `${section}: 1.5 * 1.5 keeps exponent 0, so the 24th bits stay`,
    },
    {
      id: 'product-normalised-operand',
      p: { 1: { a: top, b: ONE }, ...rest },
      d: top,
      note: `${section}: 2.25 * 1 has exponent 1, so the 24th bits are cut`,
    },
  ];
}

/** Alignment of the product sum below c: 32 bits, rounded down. */
function shiftedSum(target: MmaOp, section: string): Case[] {
  const cases: Case[] = [];
  for (const s of SIGNS)
    for (let j = 1; j <= 24; j++)
      cases.push({
        id: `sum-shifted-j${j}-${signName(s)}`,
        c: signed(s, ONE),
        p: { 1: signed(s, sum(two(-24), two(-24 - j))) },
        d: s === 1 ? (j < 8 ? UP : ONE) : neg(UP),
        note: `${section}, shifted sum, 1: ${s === 1 ? 'apparently 31 bits kept' : 'rounded down for every j'}`,
      });
  for (let j = 0; j <= 10; j++)
    cases.push({
      id: `sum-shifted-32-bits-j${j}`,
      c: ONE,
      p: lanes(target, neg(two(-24)), neg(ones(26, 30 + j))),
      d: sum(ONE, neg(two(j <= 2 ? -24 : -23))),
      note: `${section}, shifted sum, 2: rounded down at the 32nd fraction bit, not the 31st`,
    });
  cases.push(
    {
      id: 'sum-shifted-32-bits-with-gap',
      c: ONE,
      p: lanes(target, neg(two(-24)), neg(ones(26, 31)), neg(two(-33))),
      d: sum(ONE, neg(two(-24))),
      note: `${section}, shifted sum, 3: bit 32 is clear and bit 33 set; 31 bits would give 1 - 2^-23 (2^-33 inside the bracket, as the text's own working has it)`,
    },
    {
      id: 'sum-shifted-32-bits-with-gap-as-printed',
      c: ONE,
      p: lanes(target, neg(two(-24)), neg(ones(26, 31)), two(-33)),
      d: sum(ONE, neg(two(-24))),
      note: `${section}, shifted sum, 3: as printed, + 2^-33 outside the bracket; 31 and 32 bits agree on it`,
    },
    {
      id: 'normalised-before-round-down',
      c: ONE,
      p: lanes(target, neg(two(-24)), neg(ones(26, 32))),
      d: sum(ONE, neg(two(-24))),
      note: `${section}: below 1 the second rounding down keeps the 32nd bit, so it comes after normalisation`,
    },
  );
  return cases;
}

/** The rounding down to 31 bits below the leading bit. */
function secondRoundDown(target: MmaOp, section: string): Case[] {
  const cases: Case[] = [];
  for (let j = 24; j <= 32; j++)
    cases.push({
      id: `second-rd-j${j}`,
      c: sum(two(1), neg(two(-22))),
      p: { 1: two(-22), 2: sum(two(-23), two(-j)) },
      d: j <= 30 ? sum(two(1), two(-22)) : two(1),
      note: `${section}, second rounding, 1: the sum above 2 keeps 30 fraction bits`,
    });
  for (let j = 28; j <= 32; j++)
    cases.push({
      id: `second-rd-negative-j${j}`,
      c: neg(sum(two(1), neg(two(-21)))),
      p: lanes(target, neg(two(-21)), neg(two(-22)), neg(ones(24, j))),
      d: neg(sum(two(1), two(j <= 30 ? -22 : -21))),
      note: `${section}, second rounding, 2: the sum is rounded down, not truncated`,
    });
  for (const j of [31, 32])
    cases.push({
      id: `one-integer-bit-j${j}`,
      c: ONE,
      p: { 1: two(-24), 2: two(-j) },
      d: j === 31 ? UP : ONE,
      note: `${section}, second rounding: the sum below 2 keeps 31 fraction bits`,
    });
  return cases;
}

/** c = 2^e and p1 = -p2 = 2^(e + 25). */
const cancellation = (section: string, e: number): Case => ({
  id: `cancelled-window-keeps-exponent-2^${e}`,
  c: two(e),
  p: { 1: two(e + 25), 2: neg(two(e + 25)) },
  d: ZERO,
  note: `${section}: c is aligned with the largest product exponent even where the products cancel${e === 10 ? '' : ' (stated for c = 2^10; scaled into the format)'}`,
  claims: ['cancellation', 'truncation'],
});

/** c = 0 has exponent -126: sums far below it (4.3.2, repeated for xf32 in 4.3.3). */
function zeroAddend(section: string): Case[] {
  const cases: Case[] = [];
  for (let i = 0; i <= 22; i++)
    for (const s of SIGNS)
      cases.push({
        id: `zero-c-exponent-i${i}-${signName(s)}`,
        p: { 1: signed(s, two(-150)), 2: signed(s, two(-152 - i)) },
        d: s === 1 ? (i < 6 ? two(-149) : ZERO) : neg(two(-149)),
        note:
          s === 1
            ? `${section}, 1: with c = 0 the sum is aligned below 2^-126 and loses its low bits`
            : `${section}, 2: rounded down, so -2^-149 for every i (i = 23 lies below the 24-bit window; left out)`,
      });
  cases.push({
    id: 'zero-product-has-no-exponent',
    p: { 1: { a: ONE, b: ZERO }, 2: two(-150), 3: two(-152) },
    d: two(-149),
    note: `${section}, 3: a product 1 * 0 does not raise the window`,
  });
  return cases;
}

/** Normalisation that knows subnormals (4.3.2). */
function subnormalNormalisation(target: MmaOp, section: string): Case[] {
  const cases: Case[] = [];
  for (let j = 0; j <= 10; j++)
    cases.push({
      id: `subnormal-aware-normalisation-j${j}`,
      c: sum(two(-127), neg(two(-140))),
      p: lanes(target, two(-140), two(-150), two(-154 - j)),
      d: j <= 3 ? sum(two(-127), two(-149)) : two(-127),
      note: `${section}: 31 fraction bits below 2^-126 are kept, not below the leading bit`,
    });
  return cases;
}

function fp16(): VectorRecord[] {
  const section = '4.3.1';
  const k8 = op('mi300x', 'v_mfma_f32_32x32x8_f16');
  const cases = window(k8, 8, section).filter((given) => encodable(k8, given));
  for (const s of SIGNS)
    cases.push({
      id: `subnormal-inputs-${signName(s)}`,
      p: { 1: { a: two(-24), b: signed(s, two(-24)) } },
      d: signed(s, two(-48)),
      note: `${section}: subnormal inputs are kept`,
    });
  cases.push(...subnormalAddends(section), cancellation(section, 5));
  const k16 = op('mi300x', 'v_mfma_f32_16x16x16_f16');
  return [...suffix(k8, cases), ...suffix(k16, blockSize(k16, 8, section))];
}

const blockSize = (target: MmaOp, n: number, section: string): Case[] =>
  blockSizeCases(target, n, section, (j, inside) => ({
    c: ONE,
    p: { 1: two(-24), [j]: two(-24) },
    d: inside ? UP : ONE,
  }));

function bf16(): VectorRecord[] {
  const section = '4.3.2';
  const k8 = op('mi300x', 'v_mfma_f32_32x32x8_bf16');
  const k16 = op('mi300x', 'v_mfma_f32_16x16x16_bf16');
  const cases = window(k8, 8, section).filter((given) => encodable(k8, given));
  cases.push(cancellation(section, 10));
  for (const s of SIGNS)
    cases.push({
      id: `product-overflow-${signName(s)}`,
      p: { 1: signed(s, two(128)) },
      d: s === 1 ? 'inf' : '-inf',
      note: `${section}: |p| >= 2^128 is infinite`,
      claims: ['overflow'],
    });
  const big = sum(two(64), two(63));
  const less = sum(two(63), two(62));
  cases.push(
    {
      id: 'product-overflow-by-magnitude',
      p: { 1: { a: big, b: less }, 2: { a: big, b: neg(less) } },
      d: AMD_NAN,
      note: `${section}: 2.25 * 2^127 overflows by its magnitude, though its exponent is 127`,
    },
    {
      id: 'intermediate-sum-beyond-2^128',
      p: { 1: two(127), 2: two(127), 3: neg(two(127)) },
      d: two(127),
      note: `${section}: the sum within a block may pass 2^128`,
    },
    ...zeroAddend(section),
    ...subnormalNormalisation(k8, section),
  );
  return [...suffix(k8, cases), ...suffix(k16, [...blockSize(k16, 8, section), ...zeroAddend(section)])];
}

function xf32(): VectorRecord[] {
  const section = '4.3.3';
  const k4 = op('mi300x', 'v_mfma_f32_32x32x4_xf32');
  const k8 = op('mi300x', 'v_mfma_f32_16x16x8_xf32');
  const truncation = SIGNS.map(
    (s): Case => ({
      id: `input-truncated-${signName(s)}`,
      // 1 + 2^-10 + 2^-11 as an fp32 word: the low 13 bits are dropped.
      p: { 1: { a: { word: '3f803000' }, b: signed(s, ONE) } },
      d: signed(s, sum(ONE, two(-10))),
      note: `${section}: inputs are cut to 10 fraction bits; RNE would give 1 + 2^-9`,
    }),
  );
  const zero = zeroAddend(section);
  return [
    ...suffix(k4, [...truncation, ...blockSize(k4, 4, section), ...zero]),
    ...suffix(k8, [...truncation, ...blockSize(k8, 4, section), ...zero]),
    ...suffix(
      k4,
      window(k4, 4, '4.3.1 as for xf32')
        .filter((given) => encodable(k4, given) && !given.id.startsWith('block-size'))
        .map((given) => ({ ...given, evidence: 'derived' as const })),
    ),
  ];
}

const SOURCE = 'Accurate Models of AMD Matrix Cores, section';

export const cdna3: readonly TargetedFile[] = [
  { path: 'cdna3/fp16.jsonl', source: `${SOURCE} 4.3.1`, vectors: fp16() },
  { path: 'cdna3/bf16.jsonl', source: `${SOURCE} 4.3.2`, vectors: bf16() },
  { path: 'cdna3/xf32.jsonl', source: `${SOURCE} 4.3.3`, vectors: xf32() },
];
