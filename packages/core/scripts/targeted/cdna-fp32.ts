/** fp32 MFMA: section 4.1.1, identical on CDNA2 (4.2) and CDNA3 (4.3). */
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
} from './dsl.js';
import { infinityCases, R21, R22, R2223, roundingCases, S } from './shared.js';

function cases(section: string): Case[] {
  const list: Case[] = [...roundingCases(section)];
  for (const s of SIGNS)
    for (const [c, p1, p2] of permutations([ONE, two(-23), two(-24)])) {
      const second = p2.e === -23;
      list.push({
        id: `order-c=2^${c.e}-p1=2^${p1.e}-p2=2^${p2.e}-${signName(s)}`,
        p: { 1: signed(s, p1), 2: signed(s, p2) },
        c: signed(s, c),
        d: signed(s, second ? sum(ONE, two(-23)) : R22),
        note: `${section}: c and p1 are added first, their sum then to p2`,
      });
    }
  for (const [p1, p2, p3] of permutations([ONE, S, S])) {
    const last = p3 === ONE;
    list.push({
      id: `order-three-products-one-at-${p1 === ONE ? 1 : p2 === ONE ? 2 : 3}`,
      p: { 1: p1, 2: p2, 3: p3 },
      d: last ? R2223 : R21,
      note: `${section}: (((c + p1) + p2) + p3), one rounding a term`,
    });
  }
  for (const s of SIGNS)
    list.push({
      id: `subnormal-product-rounded-once-${signName(s)}`,
      p: { 1: { a: signed(s, sum(two(-126), two(-127))), b: two(-23) } },
      d: signed(s, two(-148)),
      note: `${section}, 1: 2^-149 + 2^-150 ties to even`,
      claims: ['tie', 'subnormal-result'],
    });
  list.push(
    {
      id: 'product-exact-before-addition-1',
      p: { 1: two(-149), 2: sum(two(-149), two(-150)) },
      d: two(-148),
      note: `${section}, 2: a product rounded before the addition would give 2^-148 + 2^-149`,
    },
    {
      id: 'product-exact-before-addition-2',
      p: { 1: two(-149), 2: sum(two(-148), two(-150)) },
      d: two(-147),
      note: `${section}, 3: products stay exact until the sum is rounded`,
    },
  );
  for (const s of SIGNS) {
    const max = s === 1 ? 'max' : '-max';
    list.push({
      id: `overflow-${signName(s)}`,
      p: { 1: { a: max, b: ONE }, 2: { a: max, b: ONE } },
      d: s === 1 ? 'inf' : '-inf',
      note: `${section}: the sum of two largest numbers is infinite`,
      claims: ['overflow'],
    });
    list.push({
      id: `subnormal-input-${signName(s)}`,
      p: { 1: { a: signed(s, two(-127)), b: ONE } },
      d: signed(s, two(-127)),
      note: `${section}: subnormal inputs are kept`,
    });
    list.push({
      id: `subnormal-result-${signName(s)}`,
      p: { 1: { a: two(-65), b: signed(s, two(-65)) } },
      d: signed(s, two(-130)),
      note: `${section}: subnormal results are kept`,
    });
  }
  list.push(...infinityCases(section, AMD_NAN));
  list.push({
    id: 'inf-both-signs-swapped',
    p: { 1: { a: '-inf', b: ONE }, 2: { a: 'inf', b: ONE } },
    d: AMD_NAN,
    note: `${section}: infinities of both signs give a NaN with the sign bit set`,
  });
  list.push({
    id: 'cancels-to-zero',
    p: { 1: S, 2: neg(S) },
    d: { n: 0n, e: 0 },
    note: `${section}: sequential FMA, x - x is +0 under RNE`,
    claims: ['cancellation'],
    evidence: 'derived',
  });
  return list;
}

export const cdnaFp32: readonly TargetedFile[] = [
  ['cdna1', 'mi100', 'v_mfma_f32_16x16x4f32', '4.1.1'],
  ['cdna2', 'mi210', 'v_mfma_f32_16x16x4f32', '4.2 (as 4.1.1)'],
  ['cdna3', 'mi300x', 'v_mfma_f32_16x16x4_f32', '4.3 (as 4.1.1)'],
].map(([arch, device, instruction, section]) => ({
  path: `${arch}/fp32.jsonl`,
  source: `Accurate Models of AMD Matrix Cores, section ${section}`,
  vectors: cases(section).map((given) => vector(op(device, instruction), given)),
}));
