import { type FloatFormat, FORMATS, type MmaOp, type WordArray } from '@bitmma/core';
import { type CaseSet, campaignOf, generateCases } from '@bitmma/core/conformance';

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
export function fullWindows(op: MmaOp): CaseSet {
  const [a, b, c] = [op.a, op.b, op.d].map((name) => FORMATS[name] as FloatFormat);
  const base = generateCases(op, campaignOf('normal'), { seed: 1, count: 1, k: op.k });
  const addends = [-3, -1, 0, 1, 2, 3, 4, 5, 6, 9];
  const count = addends.length * 4 * 3;
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
    set.c[i] = largest(c, addends[Math.floor(i / 12)], negative === variant);
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

/** Operands and addends of the lowest exponents, subnormal ones among them: c's encoded exponent is then above its value's. */
export function smallTerms(op: MmaOp): CaseSet {
  const set = fullWindows(op);
  let state = 1;
  // Numerical Recipes' generator; the high bits are the good ones.
  const next = (bits: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** (32 - bits));
  };
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

/**
 * 2^6, half of fp16's last place below it, and one bit at 2^(6 - 24) or none: a tie that a bit beyond fp32's 24 breaks,
 * upwards, downwards or not at all. Null where the operands have no such factors.
 */
export function halfTies(op: MmaOp): CaseSet | null {
  const [a, b] = [op.a, op.b].map((name) => FORMATS[name] as FloatFormat);
  // Factors of the three products.
  const factors = [
    [3, 3],
    [-2, -3],
    [-9, -9],
  ].map(([x, y]) => [powerOfTwo(a, x), powerOfTwo(b, y)]);
  if (op.d !== 'fp16' || op.k < 8 || factors.flat().includes(null)) return null;
  const set = fullWindows(op);
  const negative = 2 ** (a.exponentBits + a.fractionBits + a.droppedBits);
  for (let i = 0; i < set.count; i++) {
    set.a.fill(0, i * op.k, (i + 1) * op.k);
    set.c[i] = 0;
    const signs = [i & 1, (i & 1) ^ ((i >> 1) & 1), (i >> 2) & 1];
    for (const [k, [x, y]] of factors.entries()) {
      if (k === 2 && i % 5 === 0) continue;
      // Everywhere in the block, and in its halves.
      const at = i * op.k + ((k * 3 + i) % Math.min(op.k, 8));
      set.a[at] = x! + signs[k] * negative;
      set.b[at] = y!;
    }
  }
  return { ...set, source: 'half ties', id: (i: number) => `half-tie-${i}` };
}

/** Every edge set of an op. */
export const edgesOf = (op: MmaOp): readonly CaseSet[] =>
  [fullWindows(op), zeroProducts(op), smallTerms(op), halfTies(op)].filter((set) => set !== null);
