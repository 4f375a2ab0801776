import { type FloatFormat, FORMATS, type MmaOp, type WordArray } from '@bitmma/core';
import { type CaseSet, campaignOf, generateCases } from '@bitmma/core/conformance';
import { doubleEdges } from './double-edges.js';

/** Word of (-1)^negative * (2 - ulp) * 2^e, the largest significand of an exponent. */
function largest(format: FloatFormat, e: number, negative: boolean): number {
  const { exponentBits, fractionBits, droppedBits, bias } = format;
  const sign = Number(negative) * 2 ** (exponentBits + fractionBits);
  const word = sign + (e + bias) * 2 ** fractionBits + (2 ** fractionBits - 1);
  return word * 2 ** droppedBits;
}

/**
 * Every product (2 - ulp)^2 * 2^e of one sign: the largest sum that a window can hold, then c of either sign at, above
 * and below the products' exponent, and one term turned or missing.
 */
export function fullWindows(op: MmaOp, count = 120): CaseSet {
  const [a, b, c] = [op.a, op.b, op.d].map((name) => FORMATS[name] as FloatFormat);
  const base = generateCases(op, campaignOf('normal'), { seed: 1, count: 1, k: op.k });
  const addends = [-3, -1, 0, 1, 2, 3, 4, 5, 6, 9];
  const grown = (words: WordArray, length: number): WordArray =>
    words instanceof Uint8Array
      ? new Uint8Array(length)
      : words instanceof Uint16Array
        ? new Uint16Array(length)
        : new Uint32Array(length);
  const set = {
    ...base,
    count,
    a: grown(base.a, count * op.k),
    b: grown(base.b, count * op.k),
    c: grown(base.c, count),
    ...(base.sparse && { sparse: new Uint32Array(count * base.sparse.length) }),
    source: 'full windows',
    id: (i: number) => `full-window-${i}`,
  };
  for (let i = 0; i < count; i++) {
    const negative = (i & 1) === 1;
    const variant = Math.floor(i / 2) % 2 === 0;
    const change = Math.floor(i / 4) % 3;
    for (let k = 0; k < op.k; k++) {
      set.a[i * op.k + k] = largest(a, 0, negative !== (change === 1 && k === 1));
      set.b[i * op.k + k] = change === 2 && k === op.k - 1 ? 0 : largest(b, 0, false);
    }
    set.c[i] = largest(c, addends[Math.floor(i / 12) % addends.length], negative === variant);
    base.sparse?.forEach((word, w) => {
      set.sparse![i * base.sparse!.length + w] = word;
    });
  }
  return set;
}

/** Products that are all zero beside the largest factors, and addends down to the smallest normal number. */
export function zeroProducts(op: MmaOp): CaseSet {
  const set = fullWindows(op);
  const c = FORMATS[op.d] as FloatFormat;
  const lowest = 1 - c.bias;
  for (let i = 0; i < set.count; i++) {
    for (let k = 0; k < op.k; k++) (i & 1 ? set.a : set.b)[i * op.k + k] = 0;
    set.c[i] = largest(c, Math.max(lowest, -i), (i & 2) === 2);
  }
  return { ...set, source: 'zero products', id: (i: number) => `zero-product-${i}` };
}

/** Numerical Recipes' generator, from the same start every time: a number of the given bits, the high ones, which are good. */
function randomBits(): (bits: number) => number {
  let state = 1;
  return (bits) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** (32 - bits));
  };
}

/** Operands and addends of the lowest exponents, subnormal ones among them: c's encoded exponent is then above its value's. */
export function smallTerms(op: MmaOp): CaseSet {
  const set = fullWindows(op);
  const next = randomBits();
  const small = (name: MmaOp['a'], exponentBits: number) => {
    const format = FORMATS[name] as FloatFormat;
    const word = next(format.fractionBits + Math.min(exponentBits, format.exponentBits - 1));
    const sign = next(1) * 2 ** (format.exponentBits + format.fractionBits);
    return (sign + word) * 2 ** format.droppedBits;
  };
  for (let i = 0; i < set.count; i++) {
    for (let k = 0; k < op.k; k++) {
      set.a[i * op.k + k] = small(op.a, 1 + (i % 3));
      set.b[i * op.k + k] = small(op.b, 1 + (i % 4));
    }
    set.c[i] = small(op.d, i % 2);
  }
  return { ...set, source: 'small terms', id: (i: number) => `small-term-${i}` };
}

/** Word of 2^e, or null where the format has none. */
function powerOfTwo(
  { bias, fractionBits, exponentBits, droppedBits }: FloatFormat,
  e: number,
): number | null {
  const emin = 1 - bias;
  if (e > 2 ** exponentBits - 2 - bias || e < emin - fractionBits) return null;
  const word = e >= emin ? (e + bias) * 2 ** fractionBits : 2 ** (e - emin + fractionBits);
  return word * 2 ** droppedBits;
}

/** Three products of a case as exponents of their factors, the signs of its products, and c's word. */
interface Tie {
  readonly products: readonly (readonly [number, number])[];
  readonly signs: readonly number[];
  readonly c: number;
}

/** Cases of at most three powers of two, everywhere in a block, its halves and parities; null where an operand lacks one. */
function powerTies(op: MmaOp, source: string, count: number, tie: (i: number) => Tie): CaseSet | null {
  const [a, b] = [op.a, op.b].map((name) => FORMATS[name] as FloatFormat);
  const set = fullWindows(op, count);
  const negative = 2 ** (a.exponentBits + a.fractionBits + a.droppedBits);
  const span = Math.min('block' in op.datapath ? op.datapath.block : 8, op.k, 8);
  for (let i = 0; i < count; i++) {
    const { products, signs, c } = tie(i);
    set.a.fill(0, i * op.k, (i + 1) * op.k);
    set.c[i] = c;
    for (const [k, [x, y]] of products.entries()) {
      const left = powerOfTwo(a, x);
      const right = powerOfTwo(b, y);
      if (left === null || right === null) return null;
      const at = i * op.k + ((k * 3 + i) % span);
      set.a[at] = left + signs[k] * negative;
      set.b[at] = right;
    }
  }
  return { ...set, source, id: (i: number) => `${source.replace(' ', '-')}-${i}` };
}

/**
 * 2^6, half of fp16's last place below it, and one bit at 2^(6 - 24) or none: a tie that a bit beyond fp32's 24 breaks,
 * upwards, downwards or not at all. Null where the operands have no such factors.
 */
export function halfTies(op: MmaOp): CaseSet | null {
  if (op.d !== 'fp16' || op.k < 8) return null;
  return powerTies(op, 'half ties', 120, (i) => ({
    products: [[3, 3], [-2, -3], ...(i % 5 === 0 ? [] : ([[-9, -9]] as const))],
    signs: [i & 1, (i & 1) ^ ((i >> 1) & 1), (i >> 2) & 1],
    c: 0,
  }));
}

/** Exponents of c: a product of 2^6 takes bits down to 2^-18, CDNA3's cut begins at 2^14, its FP8's reach ends at 2^-19. */
const TIED_ADDENDS = [14, 15, 16, 13, -19, -20, -18, 12, 17, -21] as const;

/**
 * CDNA3: c, a product 2^6, half of the sum's last place for c of 2^12 to 2^17, and one or two of the lowest bits of the
 * products' window: ties that bits beyond the sum's 31 do not break; and c far below the products. Every choice of signs.
 */
export function cutTies(op: MmaOp): CaseSet | null {
  if (!op.datapath.kind.startsWith('cdna3')) return null;
  return powerTies(op, 'cut ties', 1280, (i) => {
    const e = TIED_ADDENDS[i % 10];
    const n = Math.floor(i / 10);
    const bit = (at: number) => (n >> at) & 1;
    // The sum's exponent is c's or, where they cancel, one less.
    const half = e - 24 - bit(5);
    const tie = [
      [3, 3],
      [half >> 1, half - (half >> 1)],
      [-9, -9 + bit(0)],
    ] as const;
    return {
      products: e < 0 ? tie.slice(0, 1) : tie,
      signs: [bit(1), bit(2), bit(3)],
      c: ((bit(4) << 31) | ((e + 127) << 23) | bit(6)) >>> 0,
    };
  });
}

/**
 * One product from 2^24 up, and c so far below that fp32 does not hold it in units of the window: floored, a negative one
 * still takes a unit from the sum. Null where a format has less than fp32's range.
 */
export function distantAddends(op: MmaOp): CaseSet | null {
  if (op.d !== 'fp32') return null;
  return powerTies(op, 'distant addends', 120, (i) => ({
    products: [[12 + (i % 24) * 2, 12 + (i % 24) * 2]],
    signs: [(i >> 1) & 1],
    c: ((((i % 3 === 0 ? 0 : 1) << 31) | ((127 - 94 + (i % 40)) << 23)) >>> 0) + (i % 5),
  }));
}

/**
 * fp32 FMAs whose product 2^e (1 - 2^-46) lies beside half of c's last place: in fp64 their sum is a tie that fp32 then
 * breaks the wrong way. c is odd.
 */
export function fmaTies(op: MmaOp): CaseSet | null {
  if (op.datapath.kind !== 'sequential-fma' || op.a !== 'fp32' || op.b !== 'fp32') return null;
  const set = fullWindows(op);
  set.a.fill(0);
  for (let i = 0; i < set.count; i++) {
    const at = i * op.k + (i % op.k);
    // (1 + 2^-23) 2^-12 and (2 - 2^-22) 2^-13, c = 1 + 2^-23 and larger, all by a power of two.
    const scale = (i % 40) - 20;
    set.a[at] = ((((i & 1) << 31) | ((127 - 12 + scale) << 23)) >>> 0) + 1;
    set.b[at] = ((127 - 13) << 23) + 0x7ffffe;
    set.c[i] = ((((i & 2) << 30) | ((127 + scale) << 23)) >>> 0) + 1 + 2 * i;
  }
  return { ...set, source: 'fma ties', id: (i: number) => `fma-tie-${i}` };
}

/** Products and addends around fp32's least normal number, for formats of its range. */
export function leastProducts(op: MmaOp): CaseSet | null {
  const formats = [op.a, op.b, op.d].map((name) => FORMATS[name] as FloatFormat);
  if (formats.some(({ exponentBits }) => exponentBits !== 8)) return null;
  const set = fullWindows(op);
  const next = randomBits();
  const word = ({ fractionBits, droppedBits, bias }: FloatFormat, e: number) =>
    ((next(1) * 256 + e + bias) * 2 ** fractionBits + next(fractionBits)) * 2 ** droppedBits;
  for (let i = 0; i < set.count; i++) {
    for (let k = 0; k < op.k; k++) {
      set.a[i * op.k + k] = word(formats[0], -60 - next(3));
      set.b[i * op.k + k] = word(formats[1], -60 - next(3));
    }
    set.c[i] = word(formats[2], -120 - next(3));
  }
  return { ...set, source: 'least products', id: (i: number) => `least-product-${i}` };
}

/**
 * Block-scaled groups without c: one product of the larger scale, a subnormal fp32 number, and one of the other sign below
 * 2^-150 to 2^-190, which a device leaves out below a certain exponent.
 */
export function leftOutGroups(op: MmaOp): CaseSet | null {
  if (op.datapath.kind !== 'scaled-groups' || op.scaling?.format !== 'ue8m0') return null;
  const set = generateCases(op, campaignOf('normal'), { seed: 1, count: 240, k: op.k });
  const { scaleA, scaleB } = set;
  const one = powerOfTwo(FORMATS[op.a] as FloatFormat, 0);
  if (!scaleA || !scaleB || one === null) return null;
  const { block } = op.scaling;
  const blocks = op.k / block;
  // Sign bits of e2m1 words.
  const signed = (word: number, negative: number) => word + 8 * negative;
  set.a.fill(0);
  set.c.fill(0);
  scaleA.fill(127 - 64);
  for (let i = 0; i < set.count; i++) {
    const at = i * op.k;
    const scale = i * blocks;
    set.b.fill(one, at, at + op.k);
    set.a[at + (i % block)] = signed(one, i & 1);
    set.a[at + block + ((i >> 2) % block)] = signed(one, (i & 1) ^ ((i >> 1) & 1));
    scaleB[scale] = 127 + 64 - 148 + (i % 7);
    scaleB[scale + 1] = 127 + 64 - 150 - (i % 41);
  }
  return { ...set, source: 'left-out groups', id: (i: number) => `left-out-group-${i}` };
}

/** Integer sums at both ends of s32, which wrap or saturate by the last few products, and come back. */
export function fullIntegers(op: MmaOp): CaseSet {
  const set = generateCases(op, campaignOf('raw-bit'), { seed: 1, count: 48, k: 2 * op.k });
  const extremes = (name: MmaOp['a']) => {
    const format = FORMATS[name];
    const most = 2 ** (format.wordBits - 1);
    return format.kind === 'integer' && format.signed ? [most - 1, most] : [2 * most - 1, 0];
  };
  const [a, b] = [extremes(op.a), extremes(op.b)];
  for (let i = 0; i < set.count; i++) {
    for (let k = 0; k < set.k; k++) {
      // One sign through an instruction, the other through the next of every second case.
      set.a[i * set.k + k] = a[(i & 1) ^ (k < op.k ? 0 : (i >> 1) & 1)];
      set.b[i * set.k + k] = b[(i >> 2) & 1];
    }
    set.c[i] = ((i & 8) === 0 ? 0x7fffffff : 0x80000000) + (i % 3 === 0 ? 0 : (i % 3) - 2);
  }
  return { ...set, source: 'full integers', id: (i: number) => `full-integer-${i}` };
}

/** Every edge set of an op. */
export function edgesOf(op: MmaOp): readonly CaseSet[] {
  if (op.d === 'fp64') return [doubleEdges(op)].filter((set) => set !== null);
  if (op.datapath.kind === 'integer') return [fullIntegers(op)];
  if (op.scaling) return [leftOutGroups(op)].filter((set) => set !== null);
  const ties = [halfTies, cutTies, fmaTies];
  const sets = [fullWindows, zeroProducts, smallTerms, ...ties, distantAddends, leastProducts];
  return sets.map((make) => make(op)).filter((set) => set !== null);
}
