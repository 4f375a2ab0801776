import { type FloatFormat, FORMATS, type FormatName, type MmaOp, type WordArray } from '@bitmma/core';
import { allocateCases, type CaseSet } from '@bitmma/core/conformance';
import { random } from './gemm.js';

type Next = () => number;
const pick = <T>(values: readonly T[], next: Next): T => values[next() % values.length];

/** Words at the ends of a format's classes: zeros, subnormals, one and its neighbours, the largest. */
function finitePool(name: FormatName): number[] {
  const format = FORMATS[name];
  if (format.kind !== 'float')
    return name === 's32' ? [0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fff0000] : [0, 1, 127, 128, 255];
  const { exponentBits: xb, fractionBits: w, bias, specials, droppedBits } = format;
  const top = 2 ** (xb + w) - 1 - (specials === 'ieee' ? 2 ** w : specials === 'nan-only' ? 1 : 0);
  const one = bias * 2 ** w;
  const words = [0, 0, 0, 1, 2 ** w - 1, 2 ** w, one, one + 1, one - 1, one + 2 ** w, top];
  const sign = 2 ** (xb + w);
  const signed = words.flatMap((word) => (specials === 'fnuz' && word === 0 ? [0] : [word, sign + word]));
  return signed.map((word) => word * 2 ** droppedBits);
}

/** Infinities and NaNs that a format has. */
function specialPool(name: FormatName): number[] {
  const format = FORMATS[name];
  if (format.kind !== 'float') return [0];
  const { exponentBits: xb, fractionBits: w, specials, droppedBits } = format;
  const sign = 2 ** (xb + w);
  const unit = 2 ** droppedBits;
  switch (specials) {
    case 'ieee':
      return [(sign - 2 ** w) * unit, (2 * sign - 2 ** w) * unit, (sign - 1) * unit, (sign - 2 ** w) * unit];
    case 'nan-only':
      return [sign - 1, 2 * sign - 1];
    case 'fnuz':
      return [sign];
    case 'none':
      return [0];
  }
}

function anyWord(name: FormatName, next: Next): number {
  const format = FORMATS[name];
  const bits =
    format.kind === 'float'
      ? 1 + format.exponentBits + format.fractionBits + format.droppedBits
      : format.wordBits;
  return next() >>> (32 - bits);
}

/** A word of value (-1)^negative * 2^e * (1 + m / 2^w), e inside the format. */
function valueWord(format: FloatFormat, negative: boolean, e: number, m: number): number {
  const w = format.fractionBits;
  return (
    ((negative ? 2 ** format.exponentBits : 0) + e + format.bias) * 2 ** (w + format.droppedBits) +
    m * 2 ** format.droppedBits
  );
}

/** Products about and below fp32's subnormals: one near half of a last place, the others far smaller. */
function tinyCase(op: MmaOp, a: WordArray, b: WordArray, at: number, next: Next): void {
  const [fa, fb] = [FORMATS[op.a], FORMATS[op.b]] as [FloatFormat, FloatFormat];
  if (next() % 3 === 0) {
    // A tie of fp32's last place between an odd and an even word, less a term below CDNA3's 32 bits under c = 0.
    const last = -157 - (next() % 8);
    const odd = next() % 2 ** Math.min(2, fa.fractionBits);
    a[at] = valueWord(fa, true, -74, 2 ** (fa.fractionBits - 1));
    b[at] = valueWord(fb, false, -75 + odd, 0);
    a[at + 1] = valueWord(fa, false, -80, 0);
    b[at + 1] = valueWord(fb, next() % 4 === 0, last + 80, 0);
    return;
  }
  const same = next() % 2 === 0;
  for (let j = 0; j < op.k; j++) {
    const e = same ? -134 - (next() % 8) : j % 4 === 0 ? -149 - (next() % 3) : -152 - (next() % 14);
    const ea = -70 - (next() % 8);
    const m = same ? next() % 2 ** fa.fractionBits : 0;
    a[at + j] = valueWord(fa, same ? false : next() % 3 > 0, ea, m);
    b[at + j] = valueWord(fb, false, e - ea, same ? next() % 2 ** fb.fractionBits : 0);
    if (!same && next() % 3 === 0) a[at + j] = 0;
  }
}

/** e2m1: c cancels 4 * 4 of the first block, so that what the others keep below e_c - 35 is all of the result. */
function cancelledCase(
  op: MmaOp,
  words: ReturnType<typeof allocateCases>,
  i: number,
  count: number,
  next: Next,
): void {
  const at = i * op.k;
  const each = words.scaleA!.length / count;
  const [unit, far] =
    op.scaling!.format === 'ue8m0' ? [127, 127 - 15 - (next() % 3)] : [0x78, 1 + (next() % 4)];
  for (let j = 0; j < op.k; j++)
    for (const elements of [words.a, words.b]) elements[at + j] = j < op.scaling!.block ? 0 : next() & 15;
  words.a[at] = 6;
  words.b[at] = 6;
  words.c[i] = valueWord(FORMATS.fp32, true, op.scaling!.format === 'ue8m0' ? 4 : 20, 0);
  for (const scales of [words.scaleA!, words.scaleB!])
    for (let j = 0; j < each; j++) scales[i * each + j] = j === 0 ? unit : far;
}

/**
 * `count` cases of an op made of words at the ends of their classes: zeros against infinities, equal exponents,
 * cancellations, addends of either zero, subnormal and largest, scales of the same kinds, and for wide exponents
 * products below every floor.
 */
export function poolSet(op: MmaOp, count: number, seed: number): CaseSet {
  const next = random(seed);
  const words = allocateCases(op, count);
  const [pa, pb, pc] = [op.a, op.b, op.c].map(finitePool);
  const [sa, sb, sc] = [op.a, op.b, op.c].map(specialPool);
  const fa = FORMATS[op.a];
  const wide =
    fa.kind === 'float' &&
    fa.exponentBits === 8 &&
    op.scaling === null &&
    op.sparsity === null &&
    op.c === 'fp32';
  for (let i = 0; i < count; i++) {
    const mode = next() % 6;
    const at = i * op.k;
    if (mode === 0 && wide) {
      tinyCase(op, words.a, words.b, at, next);
      if (next() % 3 === 0) words.c[i] = next() % 64;
      continue;
    }
    const density = next() % 8 === 0 ? 512 : 1 + (next() % 8);
    for (let j = 0; j < op.k; j++) {
      if (next() % density > 0) continue;
      words.a[at + j] = mode === 1 ? anyWord(op.a, next) : pick(pa, next);
      words.b[at + j] = mode === 1 ? anyWord(op.b, next) : pick(pb, next);
      if (mode === 2 && next() % 8 === 0) words.a[at + j] = pick(sa, next);
      if (mode === 2 && next() % 8 === 0) words.b[at + j] = pick(sb, next);
    }
    words.c[i] =
      mode === 3 ? anyWord(op.c, next) : mode === 2 && next() % 6 === 0 ? pick(sc, next) : pick(pc, next);
    // Addends about the largest product's exponent, where the rule of the dominant addend begins.
    const top = op.scaling?.format === 'ue4m3' ? 15 : -4;
    if (mode === 4 && op.scaling)
      words.c[i] = valueWord(FORMATS.fp32, next() % 2 === 0, top + (next() % 7), next() % 2 ** 23);
    for (const scales of [words.scaleA, words.scaleB]) {
      if (!scales) continue;
      const each = scales.length / count;
      const middle = op.scaling!.format === 'ue8m0' ? 127 : 0x38;
      const far = op.scaling!.format === 'ue8m0' ? middle - 30 - (next() % 8) : 1 + (next() % 4);
      const ends = mode === 4 ? [far, far, op.scaling!.format === 'ue8m0' ? middle : 0x78] : null;
      for (let j = 0; j < each; j++)
        scales[i * each + j] = ends
          ? pick(ends, next)
          : pick(
              [
                middle,
                middle,
                middle + 1,
                middle - 18,
                middle + (next() % 40) - 20,
                0,
                mode === 2 ? 0xff : middle,
              ],
              next,
            );
    }
    if (mode === 5 && op.datapath.kind === 'scaled-groups') cancelledCase(op, words, i, count, next);
    if (words.sparse) {
      const each = words.sparse.length / count;
      const legal = op.sparsity === '1:2' ? [4, 14] : [4, 8, 12, 9, 13, 6, 14];
      for (let j = 0; j < each; j++)
        for (let s = 0; s < 8; s++)
          words.sparse[i * each + j] = (words.sparse[i * each + j] | (pick(legal, next) << (4 * s))) >>> 0;
    }
  }
  return {
    op,
    source: `pools seed ${seed}`,
    count,
    k: op.k,
    ...words,
    id: (index) => `pools-${seed}-${index}`,
  };
}

/**
 * Fused multiply-adds whose product has its last bits far below the addend's half place and nothing between: only
 * those bits break the tie. Products found by search: a * b = u * 2^43 + v with 0 < v < 64.
 */
export function tieBreakers(op: MmaOp): CaseSet {
  const pairs = [] as [number, number][];
  const modulus = 2n ** 43n;
  for (let a = 2 ** 23 + 1; pairs.length < 4 && a < 2 ** 24; a += 2) {
    let inverse = BigInt(a);
    for (let i = 0; i < 5; i++) inverse = (inverse * (2n - BigInt(a) * inverse)) & (modulus - 1n);
    for (let v = 1n; v < 64n; v++) {
      const b = (v * inverse) & (modulus - 1n);
      if (b >= 2n ** 23n && b < 2n ** 24n) pairs.push([a, Number(b)]);
    }
  }
  const count = pairs.length * 32;
  const words = allocateCases(op, count);
  for (let i = 0; i < count; i++) {
    const [a, b] = pairs[i % pairs.length];
    words.a[i * op.k] = 0x3f800000 + a - 2 ** 23;
    words.b[i * op.k] = 0x3f800000 + b - 2 ** 23;
    // c of exponent 14 ... 29 about the product's, last bit odd and even.
    words.c[i] = (127 + 14 + ((i >> 2) % 16)) * 2 ** 23 + (i >> 6) + (i % 2) * 1024;
  }
  return { op, source: 'tie breakers', count, k: op.k, ...words, id: (index) => `tie-breaker-${index}` };
}
