import type { CaseRandom } from '@bitmma/core/conformance';
import { floatOf, productRange, scaleRange } from '../signature.js';
import type { Scope } from './scope.js';
import { type Group, slotPositions, type Spec, type Term } from './spec.js';
import type { Dyadic } from './word.js';

/** Depths below the leading term, and exponents, at which models may differ; drawn more often than others. */
export interface Marks {
  readonly depths: readonly number[];
  readonly exponents: readonly number[];
}

export const BLIND: Marks = { depths: [], exponents: [] };

const SIGNIFICANDS = [1, 1, 1, 1, 3, 5, 7, 9, 15] as const;

const clamp = (x: number, low: number, high: number) => Math.min(high, Math.max(low, x));

/**
 * One random vector of few terms: a leader (a product, c, or a pair that cancels) at an exponent that matters, and
 * short terms at depths that matter below it. Sums of such terms put single bits and runs of bits at the places where
 * datapaths cut.
 */
export function ladder(scope: Scope, marks: Marks, random: CaseRandom, group: Group = 'mix'): Spec {
  const { signature, c, d, low, high, slots } = scope;
  const w = d.fraction;
  const range = scaleRange(signature);
  const block = signature.scaling?.block ?? signature.k;
  const scales: number[] = [];
  if (signature.scaling) {
    const base = random.oneIn(4) ? random.between(range.low * 2, range.high * 2) : 0;
    for (let i = 0; i < signature.k / block; i++) {
      const shift = random.oneIn(2) ? 0 : random.pick([1, -1, 2, -3, 4, -8, 16, -24, -40]);
      scales.push(clamp(base + shift, 2 * range.low, 2 * range.high));
    }
  }
  const selector = signature.sparsity === null || random.oneIn(2) ? undefined : random.pick(SELECTORS[signature.sparsity]);
  const positions = slotPositions(signature, selector);
  const scaleOf = (slot: number) => scales[Math.floor(positions[slot] / block)] ?? 0;

  const depthMarks = [0, 1, w - 1, w, w + 1, w + 2, w + 3, ...marks.depths];
  const depth = () =>
    random.oneIn(4) ? random.between(0, 60) : Math.max(0, random.pick(depthMarks) + random.between(-2, 2));
  const all = productRange(signature);
  const exponentMarks = [
    scope.middle,
    scope.middle + 1,
    d.bottom,
    d.bottom + w,
    d.emin,
    low + 2,
    all.bottom + 2,
    high,
    d.top,
    ...marks.exponents,
  ];
  const top = random.oneIn(3) ? scope.middle + random.between(0, 6) : random.pick(exponentMarks) + random.between(-2, 4);

  const free = Array.from({ length: slots }, (_, i) => i);
  const near = random.oneIn(2) ? Math.min(slots, 9) : slots;
  const take = (): number | undefined => {
    if (free.length === 0) return undefined;
    return free.splice(random.below(Math.min(near, free.length)), 1)[0];
  };
  const terms: Term[] = [];
  const sign = () => (random.oneIn(2) ? 1 : -1);
  const put = (e: number, s = sign(), m: number = random.pick(SIGNIFICANDS)): Term | undefined => {
    const slot = take();
    if (slot === undefined) return undefined;
    const bits = 31 - Math.clz32(m);
    const scale = scaleOf(slot);
    const inside = clamp(e, low + scale + bits, high + scale);
    const term = { slot, s: s * m, x: inside - bits };
    terms.push(term);
    return term;
  };
  let cValue: Dyadic | undefined;
  const putC = (e: number, long: boolean) => {
    const inside = clamp(e, c.bottom, c.top);
    const width = Math.min(c.fraction, inside - c.bottom);
    const s = long ? random.pick([2 ** width, 2 ** width + 1, 2 ** (width + 1) - 1, 2 ** width + random.bits(width)]) : 2 ** width;
    cValue = { s: sign() * s, x: inside - width };
  };

  const mode = random.below(6);
  if (mode === 0) putC(clamp(top, low + w, c.top), true);
  else if (mode === 1) put(top);
  else if (mode === 2) {
    const first = put(top);
    if (first) put(first.x + 31 - Math.clz32(Math.abs(first.s)), first.s > 0 ? -1 : 1, Math.abs(first.s));
  } else if (mode === 3) {
    const first = put(top, sign(), 1);
    if (first) cValue = { s: -first.s, x: first.x };
  } else if (mode === 4) putC(top, random.oneIn(2));
  const count = random.oneIn(8) ? slots : random.between(1, 5);
  for (let i = 0; i < count; i++) put(top - depth());
  if (cValue === undefined && !random.oneIn(3)) putC(top - depth(), random.oneIn(2));
  const negativeZero = cValue === undefined && random.oneIn(6);
  return {
    group,
    note: 'drawn',
    terms,
    ...(cValue && { c: cValue }),
    ...(negativeZero && { raw: { c: 1n << BigInt(floatOf(signature.c).wordBits - 1) } }),
    ...(scales.length > 0 && { scales }),
    ...(selector !== undefined && { selector }),
  };
}

const SELECTORS = {
  '1:2': [0x4, 0xe],
  '2:4': [0x4, 0x8, 0xc, 0x9, 0xd, 0x6, 0xe],
  '4:8-pairs': [0x4, 0x8, 0xc, 0x9, 0xd, 0x6, 0xe],
} as const;
