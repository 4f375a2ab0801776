/** Named ways to draw the cases of an op. A campaign is data plus one function that fills one case. */
import type { Datapath } from '../datapath/datapath.js';
import type { MmaOp } from '../datapath/op.js';
import type { WordArray } from '../engine/engine.js';
import type { FormatName } from '../formats/table.js';
import type { CaseRandom } from './prng.js';
import {
  bottomExponent,
  exponentMantissa,
  floatFormat,
  independentBits,
  normalCast,
  putValue,
  specialOr,
  topExponent,
} from './sample.js';

/** Where one case's words go: a and b from index `at`, c at index `case`. */
export interface CaseSlot {
  readonly op: MmaOp;
  readonly k: number;
  readonly a: WordArray;
  readonly b: WordArray;
  readonly c: WordArray;
  /** Index of the case's first a and b word. */
  readonly at: number;
  /** Index of the case. */
  readonly case: number;
}

export interface Campaign {
  readonly name: string;
  readonly about: string;
  /** How far the scales of a block-scaled op spread around 1, as a power of two. */
  readonly scaleSpread: number;
  /** One NaN scale in this many cases; 0: none. */
  readonly nanScaleOneIn: number;
  applies(op: MmaOp): boolean;
  fill(slot: CaseSlot, random: CaseRandom): void;
}

export interface ExponentRange {
  readonly low: number;
  readonly high: number;
}

/**
 * Exponent limits of section 5.1 of the CDNA study, normal and subnormal, for its formats; the others by the same
 * rule: from the least normal to the greatest exponent (products kept below 2^128), and from the lowest subnormal
 * bit to the least normal exponent.
 */
export const EXPONENT_RANGES: Readonly<
  Record<'normal' | 'subnormal', Readonly<Partial<Record<FormatName, ExponentRange>>>>
> = {
  normal: {
    fp64: { low: -1022, high: 511 },
    fp32: { low: -126, high: 63 },
    tf32: { low: -126, high: 63 },
    bf16: { low: -126, high: 63 },
    fp16: { low: -14, high: 15 },
    e5m2: { low: -14, high: 15 },
    e4m3: { low: -6, high: 8 },
    e5m2fnuz: { low: -15, high: 15 },
    e4m3fnuz: { low: -7, high: 7 },
    e3m2: { low: -2, high: 4 },
    e2m3: { low: 0, high: 2 },
    e2m1: { low: 0, high: 2 },
  },
  subnormal: {
    fp64: { low: -1074, high: -1022 },
    fp32: { low: -149, high: -126 },
    tf32: { low: -136, high: -126 },
    bf16: { low: -133, high: -126 },
    fp16: { low: -24, high: -14 },
    e5m2: { low: -16, high: -14 },
    e4m3: { low: -9, high: -6 },
    e5m2fnuz: { low: -17, high: -15 },
    e4m3fnuz: { low: -10, high: -7 },
    e3m2: { low: -4, high: -2 },
    e2m3: { low: -3, high: 0 },
    e2m1: { low: -1, high: 0 },
  },
};

/** Limits of c, section 5.1: the whole normal range, or the whole subnormal range, of its format. */
const ADDEND_RANGES: Readonly<
  Record<'normal' | 'subnormal', Readonly<Partial<Record<FormatName, ExponentRange>>>>
> = {
  normal: {
    fp64: { low: -1022, high: 1023 },
    fp32: { low: -126, high: 127 },
    fp16: { low: -14, high: 15 },
  },
  subnormal: {
    fp64: { low: -1074, high: -1022 },
    fp32: { low: -149, high: -126 },
    fp16: { low: -24, high: -14 },
  },
};

const floating = (op: MmaOp) => floatFormat(op.a) !== null;

function exponentMantissaCampaign(kind: 'normal' | 'subnormal'): Campaign {
  return {
    name: `exponent-mantissa/${kind}`,
    about: `significand and exponent uniform over the ${kind} range (CDNA study, section 5.1)`,
    scaleSpread: kind === 'normal' ? 40 : 120,
    nanScaleOneIn: 0,
    applies: floating,
    fill({ op, k, a, b, c, at, case: i }, random) {
      const ra = EXPONENT_RANGES[kind][op.a]!;
      const rb = EXPONENT_RANGES[kind][op.b]!;
      const rc = ADDEND_RANGES[kind][op.c]!;
      for (let j = 0; j < k; j++) {
        exponentMantissa(op.a, random, ra.low, ra.high, a, at + j);
        exponentMantissa(op.b, random, rb.low, rb.high, b, at + j);
      }
      exponentMantissa(op.c, random, rc.low, rc.high, c, i);
    },
  };
}

function bitsCampaign(name: string, about: string, finite: boolean): Campaign {
  return {
    name,
    about,
    scaleSpread: 127,
    nanScaleOneIn: finite ? 0 : 16,
    applies: () => true,
    fill({ op, k, a, b, c, at, case: i }, random) {
      for (let j = 0; j < k; j++) {
        independentBits(op.a, random, a, at + j, finite);
        independentBits(op.b, random, b, at + j, finite);
      }
      independentBits(op.c, random, c, i, finite);
    },
  };
}

const normal: Campaign = {
  name: 'normal',
  about: 'a, b and c are casts of standard normal numbers',
  scaleSpread: 3,
  nanScaleOneIn: 0,
  applies: floating,
  fill({ op, k, a, b, c, at, case: i }, random) {
    for (let j = 0; j < k; j++) {
      normalCast(op.a, random, a, at + j);
      normalCast(op.b, random, b, at + j);
    }
    normalCast(op.c, random, c, i);
  },
};

const specials: Campaign = {
  name: 'specials',
  about: 'zeros, range ends, infinities and NaNs among normal casts',
  scaleSpread: 3,
  nanScaleOneIn: 8,
  applies: floating,
  fill({ op, k, a, b, c, at, case: i }, random) {
    const oneIn = random.pick([2, 8, 32, 256]);
    for (let j = 0; j < k; j++) {
      specialOr(op.a, random, oneIn, a, at + j);
      specialOr(op.b, random, oneIn, b, at + j);
    }
    specialOr(op.c, random, Math.min(oneIn, 4), c, i);
  },
};

const cancellation: Campaign = {
  name: 'cancellation',
  about:
    'products come in pairs of opposite sign, some an ulp apart, in any order; c is zero or cancels one more',
  scaleSpread: 0,
  nanScaleOneIn: 0,
  applies: floating,
  fill({ op, k, a, b, c, at, case: i }, random) {
    const fa = floatFormat(op.a)!;
    const fb = floatFormat(op.b)!;
    const order = shuffled(k, random);
    const spread = random.pick([0, 2, 6, 12]);
    const one = (position: number, e: number, negative: boolean, sa: number, sb: number) => {
      putValue(op.a, a, at + position, negative, sa, e - fa.fractionBits);
      putValue(op.b, b, at + position, false, sb, -fb.fractionBits);
    };
    const significand = (w: number) => 2 ** w + random.bits(w);
    let last = { e: 0, sa: 0, sb: 0 };
    for (let j = 0; j + 1 < k || j < 1; j += 2) {
      const e = random.between(-spread, spread);
      const sa = significand(fa.fractionBits);
      const sb = significand(fb.fractionBits);
      last = { e, sa, sb };
      one(order[j], e, false, sa, sb);
      if (j + 1 >= k) break;
      const other = random.oneIn(4) && sa < 2 ** (fa.fractionBits + 1) - 1 ? sa + 1 : sa;
      one(order[j + 1], e, true, other, sb);
    }
    const product = last.sa * last.sb;
    if (k % 2 === 1 || random.oneIn(2)) {
      if (k % 2 === 0) one(order[k - 1], last.e, false, 0, last.sb);
      if (product < 2 ** 53) putValue(op.c, c, i, true, product, last.e - fa.fractionBits - fb.fractionBits);
    }
  },
};

/** Fraction bits that an op keeps below its window's exponent; 23 where it has no window. */
export function windowFraction(datapath: Datapath): number {
  if ('fraction' in datapath) return datapath.fraction;
  return datapath.kind === 'scaled-groups' ? datapath.productFraction : 23;
}

/** Writes a product of exponent near `e` at position j: the exponent is split over a and b within their ranges. */
function product(slot: CaseSlot, j: number, e: number, random: CaseRandom, power: boolean): void {
  const { op, a, b, at } = slot;
  const fa = floatFormat(op.a)!;
  const fb = floatFormat(op.b)!;
  const low = Math.max(bottomExponent(fa), e - topExponent(fb));
  const high = Math.min(topExponent(fa), e - bottomExponent(fb));
  const ea = low > high ? (e < 0 ? bottomExponent(fa) : topExponent(fa)) : random.between(low, high);
  const sa = power ? 2 ** fa.fractionBits : 2 ** fa.fractionBits + random.bits(fa.fractionBits);
  const sb = power ? 2 ** fb.fractionBits : 2 ** fb.fractionBits + random.bits(fb.fractionBits);
  putValue(op.a, a, at + j, random.bits(1) === 1, sa, ea - fa.fractionBits);
  putValue(op.b, b, at + j, false, sb, e - ea - fb.fractionBits);
}

const windowEdge: Campaign = {
  name: 'window-edge',
  about: 'one term of exponent E, the others at the last bits that the window below E keeps or drops',
  scaleSpread: 1,
  nanScaleOneIn: 0,
  applies: floating,
  fill(slot, random) {
    const { op, k, c, case: i } = slot;
    const fraction = windowFraction(op.datapath);
    const fc = floatFormat(op.c)!;
    const top = random.between(-2, 6);
    const leader = random.below(k + 1);
    const power = random.oneIn(2);
    for (let j = 0; j < k; j++)
      if (j === leader) product(slot, j, top, random, power);
      else if (random.oneIn(3)) product(slot, j, top - fraction + random.between(-4, 3), random, power);
    const w = fc.fractionBits;
    if (leader === k) putValue(op.c, c, i, random.bits(1) === 1, 2 ** w + random.bits(w), top - w);
    else if (random.oneIn(2)) {
      const e = top + random.pick([-fraction, -fraction + 1, -w, 0, 1, 8]) + random.between(-2, 2);
      putValue(op.c, c, i, random.bits(1) === 1, 2 ** w + random.bits(w), e - w);
    }
  },
};

const ties: Campaign = {
  name: 'ties',
  about: 'c and half of its last place, exactly or with a far smaller third term',
  scaleSpread: 0,
  nanScaleOneIn: 0,
  applies: floating,
  fill(slot, random) {
    const { op, k, c, case: i } = slot;
    const w = floatFormat(op.c)!.fractionBits;
    const fa = floatFormat(op.a)!;
    const fb = floatFormat(op.b)!;
    // c's half place must be a product: its exponent is at least the product of two lowest bits.
    const floor = Math.max(bottomExponent(fa) + bottomExponent(fb) + w + 1, -40);
    const e = random.between(Math.min(floor, 8), 8);
    putValue(op.c, c, i, random.bits(1) === 1, 2 ** w + random.bits(w), e - w);
    const first = random.below(k);
    product(slot, first, e - w - 1, random, true);
    if (k > 1 && random.oneIn(2)) {
      const second = (first + 1 + random.below(k - 1)) % k;
      product(slot, second, e - w - 1 - random.between(1, 14), random, true);
    }
  },
};

/** The exponent below which E does not sink, or null. */
const floorOf = (datapath: Datapath): number | null => ('floor' in datapath ? datapath.floor : null);

const floors: Campaign = {
  name: 'floor',
  about: 'every term about the lowest exponent that a window may have',
  scaleSpread: 0,
  nanScaleOneIn: 0,
  applies(op) {
    const floor = floorOf(op.datapath);
    const fa = floatFormat(op.a);
    const fb = floatFormat(op.b);
    return floor !== null && fa !== null && fb !== null && 2 - fa.bias - fb.bias < floor;
  },
  fill(slot, random) {
    const { op, k, c, case: i } = slot;
    const floor = floorOf(op.datapath)!;
    const fc = floatFormat(op.c)!;
    for (let j = 0; j < k; j++)
      if (!random.oneIn(3)) product(slot, j, floor + random.between(-16, 3), random, random.oneIn(2));
    if (random.oneIn(2)) {
      const w = fc.fractionBits;
      putValue(
        op.c,
        c,
        i,
        random.bits(1) === 1,
        random.bits(w + 1),
        random.between(bottomExponent(fc), floor + 2) - w,
      );
    }
  },
};

function shuffled(n: number, random: CaseRandom): number[] {
  const order = Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

/** Every campaign, in the order that suites run them. */
export const CAMPAIGNS: readonly Campaign[] = Object.freeze([
  exponentMantissaCampaign('normal'),
  exponentMantissaCampaign('subnormal'),
  bitsCampaign(
    'independent-bit',
    'every bit a fair coin, non-finite words drawn again (CDNA study, section 5.2)',
    true,
  ),
  bitsCampaign('raw-bit', 'every bit a fair coin', false),
  normal,
  specials,
  cancellation,
  windowEdge,
  ties,
  floors,
]);
