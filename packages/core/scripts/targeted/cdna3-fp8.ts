/**
 * CDNA3 FP8: section 4.3.4. Even and odd products form two windows. The formats do not reach every exponent that the
 * text names; `up` scales a statement by a power of two into e4m3fnuz, which leaves every alignment as it was.
 */

import type { VectorRecord } from '../../src/conformance/vector.js';
import type { MmaOp } from '../../src/datapath/op.js';
import {
  type Case,
  type Dyadic,
  neg,
  ONE,
  ones,
  op,
  type Product,
  permutations,
  SIGNS,
  scale,
  signed,
  signName,
  split,
  sum,
  type TargetedFile,
  two,
  type Value,
  vector,
  ZERO,
} from './dsl.js';
import { blockSizeCases, roundingCases } from './shared.js';

const SECTION = '4.3.4';
const UP = sum(ONE, two(-23));
const TINY = sum(two(-24), two(-25));

/** A case scaled by 2^up, a product that needs more bits spread over lanes of its own parity; null: not encodable. */
function fit(target: MmaOp, given: Case, up: number): Case | null {
  const shift = <T extends Value | Product>(value: T): T =>
    typeof value === 'object' && 'n' in value ? { ...value, ...scale(value as Dyadic, up) } : value;
  const p: Record<number, Product> = {};
  for (const [key, term] of Object.entries(given.p ?? {})) {
    const position = Number(key);
    if (!('n' in term)) {
      p[position] = term;
      continue;
    }
    const value = shift(term) as Dyadic;
    if (split(target, value)) {
      p[position] = value;
      continue;
    }
    const parts = twoPowers(value);
    if (!parts || parts.some((part) => !split(target, part))) return null;
    p[position] = parts[0];
    p[position + 2] = parts[1];
  }
  return {
    ...given,
    p,
    ...(given.c === undefined ? {} : { c: shift(given.c) }),
    d: shift(given.d),
    note: up === 0 ? given.note : `${given.note} (scaled by 2^${up})`,
  };
}

/** x * 2^i + x * 2^j, two bits: its powers of two. */
function twoPowers({ n, e }: Dyadic): [Dyadic, Dyadic] | null {
  const magnitude = n < 0n ? -n : n;
  const bits = [...magnitude.toString(2)].reverse();
  const set = bits.flatMap((bit, i) => (bit === '1' ? [i] : []));
  if (set.length !== 2) return null;
  const part = (i: number): Dyadic => ({ n: n < 0n ? -1n : 1n, e: e + i });
  return [part(set[1]), part(set[0])];
}

function statements(): Case[] {
  const cases: Case[] = [...roundingCases(SECTION)];
  for (const s of SIGNS)
    for (const [p1, p2, p3] of permutations([ONE, ZERO, TINY])) {
      const same = p2 === ZERO;
      cases.push({
        id: `interleaving-${[p1, p2, p3].map((x) => (x === ONE ? '1' : x === ZERO ? '0' : 't')).join('')}-${signName(s)}`,
        p: { 1: signed(s, p1), 2: signed(s, p2), 3: signed(s, p3) },
        d: same || s === 1 ? signed(s, ONE) : neg(UP),
        note: `${SECTION}: ${same ? 'in one window the term is cut toward zero' : 'between the windows the sum is rounded down'}`,
      });
    }
  for (const position of [1, 2])
    for (const s of SIGNS)
      for (let i = 0; i <= 10; i++) {
        const small = sum(two(-24), two(-24 - i));
        const tie = i === 0;
        cases.push({
          id: `c-shifted-rd-24-p${position}-i${i}-${signName(s)}`,
          p: { [position]: signed(s, ONE) },
          c: signed(s, small),
          d: s === 1 && !tie ? ONE : signed(s, UP),
          note: `${SECTION}: a shifted c is rounded down to 24 fraction bits`,
        });
        cases.push({
          id: `sum-shifted-rd-32-p${position}-i${i}-${signName(s)}`,
          c: signed(s, ONE),
          p: { [position]: signed(s, small) },
          d: s === 1 && i >= 8 ? ONE : signed(s, UP),
          note: `${SECTION}: a shifted product sum is rounded down to 32 fraction bits`,
        });
      }
  for (const s of SIGNS)
    for (const i of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 50, 100])
      cases.push({
        id: `c-beyond-reach-i${i}-${signName(s)}`,
        p: { 1: signed(s, ONE), 2: signed(s, two(-24)) },
        c: signed(s, two(-24 - i)),
        d: i === 1 && s === -1 ? neg(UP) : signed(s, ONE),
        note: `${SECTION}: c ${i === 1 ? 'at the 25th bit is still rounded down' : 'beyond the 25th bit is left out'}`,
      });
  for (const s of SIGNS)
    for (let i = 0; i <= 22; i++)
      cases.push({
        id: `c-partly-within-reach-i${i}-${signName(s)}`,
        p: { 1: signed(s, ONE) },
        c: signed(s, sum(two(-24), two(-25 - i))),
        d: s === 1 ? ONE : neg(UP),
        note: `${SECTION}: part of c lies within the window, so the rest rounds it down`,
      });
  for (const s of SIGNS)
    for (const [p1, p2] of permutations([ONE, two(-25)]))
      cases.push({
        id: `windows-merged-before-c-one-at-p${p1 === ONE ? 1 : 2}-${signName(s)}`,
        c: signed(s, TINY),
        p: { 1: signed(s, p1), 2: signed(s, p2) },
        d: s === 1 ? ONE : neg(sum(ONE, two(-22))),
        note: `${SECTION}: the two sums are added before c`,
      });
  return cases;
}

/** Scale that brings 2^-34, the smallest product named, into the formats. */
function scaleFor(target: MmaOp): number {
  return [0, 7, 14].find((up) => split(target, two(-34 + up)))!;
}

function vectors(target: MmaOp): VectorRecord[] {
  const up = scaleFor(target);
  const cases = statements().flatMap((given) => {
    const fitted = fit(target, given, up);
    return fitted ? [fitted] : [];
  });
  const cancel = target.a === 'e5m2fnuz' && target.b === 'e5m2fnuz' ? 5 : -11;
  cases.push({
    id: `cancelled-window-keeps-exponent-2^${cancel}`,
    c: two(cancel),
    p: { 1: two(cancel + 25), 2: neg(two(cancel + 25)) },
    d: ZERO,
    note: `${SECTION}: as in 4.3.1, c is aligned with the largest exponent though the products cancel (scaled)`,
  });
  cases.push({
    id: 'cancelled-even-window-keeps-exponent',
    c: two(-20),
    p: { 1: { a: ONE, b: ONE }, 2: { a: two(5), b: ONE }, 4: { a: neg(two(5)), b: ONE } },
    d: ONE,
    note: `${SECTION}: the even products cancel but their exponent 5 aligns c (the text says 4, under which d would be 1 + 2^-20)`,
  });
  cases.push(
    ...blockSizeCases(target, 16, SECTION, (j, inside) => ({
      c: scale(ONE, up),
      p: { 1: two(-24 + up), [j]: two(-24 + up) },
      d: scale(inside ? UP : ONE, up),
    })),
  );
  // Odd lanes only: one window. The sums of 4.3.1 that tell 32 bits from 31, here derived.
  const odd = [neg(two(-24)), neg(ones(26, 28)), neg(ones(29, 31)), neg(two(-33))];
  cases.push({
    id: 'sum-shifted-32-bits-with-gap',
    c: scale(ONE, up),
    p: Object.fromEntries(odd.map((value, i) => [2 * i + 1, scale(value, up)])),
    d: scale(sum(ONE, neg(two(-24))), up),
    note: `${SECTION}, as 4.3.1, shifted sum, 3: 31 bits would give 1 - 2^-23`,
    evidence: 'derived',
  });
  for (const s of SIGNS) {
    const least = target.a === 'e5m2fnuz' ? -17 : -10;
    cases.push({
      id: `subnormal-input-${signName(s)}`,
      p: { 1: { a: signed(s, two(least)), b: ONE } },
      d: signed(s, two(least)),
      note: `${SECTION}: subnormal inputs are kept`,
    });
    for (const e of [-126, -127, -149])
      cases.push({
        id: `subnormal-result-2^${e}-${signName(s)}`,
        c: signed(s, two(e)),
        d: signed(s, two(e)),
        note: `${SECTION}: subnormal results are kept`,
      });
  }
  return cases.map((given) => vector(target, { ...given, id: `${given.id}-${target.instruction}` }));
}

export const cdna3Fp8: readonly TargetedFile[] = ['fp8_fp8', 'fp8_bf8', 'bf8_fp8', 'bf8_bf8'].map(
  (types) => ({
    path: `cdna3/${types.replace('_', '-')}.jsonl`,
    source: `Accurate Models of AMD Matrix Cores, section ${SECTION}`,
    vectors: ['v_mfma_f32_32x32x16_', 'v_mfma_f32_16x16x32_'].flatMap((shape) =>
      vectors(op('mi300x', `${shape}${types}`)),
    ),
  }),
);
