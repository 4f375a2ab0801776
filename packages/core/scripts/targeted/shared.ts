/** Statements that the CDNA study makes of more than one architecture. */
import type { MmaOp } from '../../src/datapath/op.js';
import { type Case, ONE, permutations, SIGNS, signed, signName, sum, two } from './dsl.js';

/** 2^-23 + 2^-24: one and a half ulp of 1. */
export const S = sum(two(-23), two(-24));

/** 1 + 2^-22, 1 + 2^-21, 1 + 2^-22 + 2^-23. */
export const R22 = sum(ONE, two(-22));
export const R21 = sum(ONE, two(-21));
export const R2223 = sum(ONE, two(-22), two(-23));

/** p1 = +-1 and c = +-{2^-23 + 2^-24, 2^-24}, all of one sign: +-{1 + 2^-22, 1}, so RNE. */
export function roundingCases(section: string): Case[] {
  return SIGNS.flatMap((s) => [
    {
      id: `rne-one-and-a-half-ulp-${signName(s)}`,
      p: { 1: signed(s, ONE) },
      c: signed(s, S),
      d: signed(s, R22),
      note: `${section}: a tie above an odd neighbour rounds away, so the last rounding is RNE`,
      claims: ['tie'],
    },
    {
      id: `rne-half-ulp-${signName(s)}`,
      p: { 1: signed(s, ONE) },
      c: signed(s, two(-24)),
      d: signed(s, ONE),
      note: `${section}: a tie above an even neighbour rounds back, so the last rounding is RNE`,
      claims: ['tie'],
    },
  ]);
}

/** +-Inf in an input, and both signs together. */
export function infinityCases(section: string, nan: Case['d']): Case[] {
  return [
    {
      id: 'inf-pos',
      p: { 1: { a: 'inf', b: ONE } },
      d: 'inf',
      note: `${section}: infinity is detected in the inputs`,
      claims: ['inf'],
    },
    {
      id: 'inf-neg',
      p: { 1: { a: '-inf', b: ONE } },
      d: '-inf',
      note: `${section}: infinity is detected in the inputs`,
      claims: ['inf'],
    },
    {
      id: 'inf-both-signs',
      p: { 1: { a: 'inf', b: ONE }, 2: { a: '-inf', b: ONE } },
      d: nan,
      note: `${section}: infinities of both signs give a NaN with the sign bit set`,
      claims: ['nan'],
    },
  ];
}

/** c alone: d = c for subnormal c and the least normal one. */
export function subnormalAddends(section: string): Case[] {
  const cases: Case[] = [];
  for (let e = -149; e <= -126; e++)
    for (const s of SIGNS)
      cases.push({
        id: `subnormal-c-kept-2^${e}-${signName(s)}`,
        c: signed(s, two(e)),
        d: signed(s, two(e)),
        note: `${section}: a subnormal c comes out unchanged`,
        ...(e < -126 ? { claims: ['subnormal-input', 'subnormal-result'] as const } : {}),
      });
  return cases;
}

/** Positions of a permutation over c and the products p1, p2, ...: the first value goes to c where `withC`. */
export function placed(
  order: readonly (typeof ONE)[],
  withC: boolean,
): { p: Record<number, typeof ONE>; c?: typeof ONE; name: string } {
  const rest = withC ? order.slice(1) : order;
  return {
    p: Object.fromEntries(rest.map((value, i) => [i + 1, value])),
    ...(withC ? { c: order[0] } : {}),
    name: '',
  };
}

/** The block-size test: two of the values meet in one block only where j <= N. */
export function blockSizeCases(
  target: MmaOp,
  n: number,
  section: string,
  make: (j: number, inside: boolean) => Omit<Case, 'id' | 'note'>,
): Case[] {
  const cases: Case[] = [];
  for (let j = 2; j <= target.k; j++)
    cases.push({
      ...make(j, j <= n),
      id: `block-size-${n}-k${target.k}-j${j}`,
      note: `${section}: p1 and p${j} ${j <= n ? 'share a block' : 'lie in two blocks'}, N = ${n}`,
    });
  return cases;
}

export { permutations };
