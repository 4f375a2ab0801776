import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FloatFormat } from '../src/formats/format.js';
import { cast, decode, encode, encodeMax, round } from '../src/formats/index.js';
import { FORMATS } from '../src/formats/table.js';

const FLOATS = Object.values(FORMATS).filter((f): f is typeof f & FloatFormat => f.kind === 'float');
const SMALL = FLOATS.filter((f) => f.wordBits <= 16);

/** Words of a format that name a distinct value: no ignored bits set. */
const words = (f: FloatFormat) => {
  const bits = (f.signed ? 1 : 0) + f.exponentBits + f.fractionBits;
  return Array.from({ length: 2 ** bits }, (_, w) => w);
};

describe('decode', () => {
  test.each(SMALL.map((f) => [f.name, f] as const))('%s: encode inverts it on every finite word', (_, f) => {
    for (const w of words(f)) {
      const x = decode(f, w);
      if (x.kind === 'finite') expect(encode(f, x.negative, BigInt(x.sig), x.lsb)).toBe(w);
    }
  });

  test.each([
    ['e4m3', 0x7e, 448],
    ['e5m2', 0x7b, 57344],
    ['e4m3fnuz', 0x7f, 240],
    ['e5m2fnuz', 0x7f, 57344],
    ['e3m2', 0x1f, 28],
    ['e2m3', 0x1f, 7.5],
    ['e2m1', 0x7, 6],
    ['fp16', 0x7bff, 65504],
  ] as const)('%s: the largest finite word is %i = %d', (name, word, value) => {
    const x = decode(FORMATS[name], word);
    expect(x.signed * 2 ** x.lsb).toBe(value);
    expect(encodeMax(FORMATS[name], false)).toBe(word);
  });

  test.each([
    ['e4m3', 0x7f, 'nan'],
    ['e4m3', 0xff, 'nan'],
    ['e4m3', 0x78, 'finite'],
    ['e5m2', 0x7c, 'inf'],
    ['e5m2', 0x7d, 'nan'],
    ['e4m3fnuz', 0x80, 'nan'],
    ['e5m2fnuz', 0x80, 'nan'],
    ['ue4m3', 0x7f, 'nan'],
    ['ue4m3', 0xff, 'nan'],
    ['ue8m0', 0xff, 'nan'],
    ['ue8m0', 0x00, 'finite'],
    ['tf32', 0x7f800fff, 'inf'],
    ['tf32', 0x7f802000, 'nan'],
  ] as const)('%s: word %i is %s', (name, word, kind) => {
    expect(decode(FORMATS[name], word).kind).toBe(kind);
  });

  test('a subnormal keeps the encoded exponent emin', () => {
    expect(decode(FORMATS.e4m3, 0x01)).toMatchObject({ sig: 1, lsb: -9, e: -6 });
    expect(decode(FORMATS.ue8m0, 0)).toMatchObject({ sig: 1, lsb: -127, e: -127 });
    expect(decode(FORMATS.fp64, 1n)).toMatchObject({ sig: 1, lsb: -1074, e: -1022 });
    expect(decode(FORMATS.s8, 0x80)).toMatchObject({ signed: -128 });
    expect(decode(FORMATS.s32, 0xffffffff)).toMatchObject({ signed: -1 });
  });
});

describe('round', () => {
  const modes = ['RZ', 'RNE', 'RD', 'RU'] as const;

  test('agrees with IEEE conversions of the host in RNE', () => {
    const f32 = new Float32Array(1);
    const bits = new Uint32Array(f32.buffer);
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.integer({ min: -230, max: 90 }), (x, lsb) => {
        f32[0] = x * 2 ** lsb;
        const word = round(x, lsb, FORMATS.fp32, 'RNE');
        if (x !== 0) expect(word).toBe(bits[0]);
      }),
      { numRuns: 3000 },
    );
  });

  test('the 53-bit path and the bigint path are one function', () => {
    fc.assert(
      fc.property(
        fc.maxSafeInteger(),
        fc.integer({ min: -200, max: 120 }),
        fc.constantFrom(...modes),
        fc.constantFrom(FORMATS.fp32, FORMATS.fp16, FORMATS.bf16, FORMATS.e5m2),
        fc.integer({ min: 0, max: 23 }),
        fc.constantFrom('signed', 'positive'),
        (x, lsb, mode, format, drop, underflow) => {
          const options = { precision: Math.max(0, format.fractionBits - drop), underflow } as const;
          expect(round(x, lsb, format, mode, options)).toBe(round(BigInt(x), lsb, format, mode, options));
        },
      ),
      { numRuns: 5000 },
    );
  });

  test('is monotone in every mode', () => {
    const order = (w: number) => (w >= 0x8000 ? 0x8000 - w : w);
    fc.assert(
      fc.property(
        fc.maxSafeInteger(),
        fc.maxSafeInteger(),
        fc.integer({ min: -80, max: -20 }),
        fc.constantFrom(...modes),
        (x, y, lsb, mode) => {
          const [low, high] = x < y ? [x, y] : [y, x];
          const at = (v: number) => order(Number(round(v, lsb, FORMATS.fp16, mode)));
          expect(at(low)).toBeLessThanOrEqual(at(high));
        },
      ),
      { numRuns: 3000 },
    );
  });

  test('RD and RU enclose the value and differ by at most one step', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.integer({ min: -80, max: -30 }), (x, lsb) => {
        const value = (w: number) => {
          const e = decode(FORMATS.fp32, w);
          return e.signed * 2 ** e.lsb;
        };
        const exact = x * 2 ** lsb;
        expect(value(Number(round(x, lsb, FORMATS.fp32, 'RD')))).toBeLessThanOrEqual(exact);
        expect(value(Number(round(x, lsb, FORMATS.fp32, 'RU')))).toBeGreaterThanOrEqual(exact);
      }),
    );
  });

  test('precision p keeps p fraction bits and stops at emin - p below emin', () => {
    expect(round(0b1111111111111111, -15, FORMATS.fp32, 'RZ', { precision: 13 })).toBe(0x3ffffc00);
    expect(round(1, -126 - 14, FORMATS.fp32, 'RZ', { precision: 13 })).toBe(0);
    expect(round(1, -126 - 13, FORMATS.fp32, 'RZ', { precision: 13 })).toBe(1 << 10);
  });

  test('a magnitude that rounds to zero keeps its sign, or is +0 where asked', () => {
    expect(round(-1, -200, FORMATS.fp32, 'RNE')).toBe(0x80000000);
    expect(round(-1, -200, FORMATS.fp32, 'RZ', { underflow: 'positive' })).toBe(0);
    expect(round(0, 0, FORMATS.fp32, 'RD')).toBe(0);
  });

  test('an exponent above the largest is Inf, in RZ too', () => {
    expect(round(1, 128, FORMATS.fp32, 'RZ')).toBe(0x7f800000);
    expect(round(-65520, 0, FORMATS.fp16, 'RNE')).toBe(0xfc00);
    expect(round(65519, 0, FORMATS.fp16, 'RNE')).toBe(0x7bff);
    expect(round(1n << 200n, 900, FORMATS.fp64, 'RZ')).toBe(0x7ff0000000000000n);
  });
});

describe('cast', () => {
  const from = FORMATS.fp32;
  const cases = [
    // 464 is the tie between 448 and 480; torch gives NaN above it, CUDA's satfinite 448.
    ['e4m3', 0x43e80000, false, 0x7e],
    ['e4m3', 0x43e80001, false, 0x7f],
    ['e4m3', 0x43e80001, true, 0x7e],
    ['e4m3', 0x7f800000, true, 0x7e],
    ['e4m3', 0xff800000, false, 0x7f],
    ['e5m2', 0x47700000, false, 0x7c],
    ['e5m2', 0x47700000, true, 0x7b],
    ['e5m2', 0xff800000, true, 0xfb],
    ['e4m3fnuz', 0x80000000, false, 0x00],
    ['e4m3fnuz', 0x43800000, false, 0x80],
    ['e4m3fnuz', 0x43800000, true, 0x7f],
    ['e2m1', 0x7fc00000, false, 0x07],
    ['e2m1', 0xc1000000, false, 0x0f],
    ['e2m1', 0x40a00000, false, 0x06],
    ['e4m3', 0x7fc00000, true, 0x7f],
    ['bf16', 0x3f808000, false, 0x3f80],
    ['bf16', 0x3f818000, false, 0x3f82],
    ['ue4m3', 0xbf800000, false, 0x00],
  ] as const;
  test.each(cases)('fp32 to %s of %i, saturate %s, is %i', (name, word, saturate, want) => {
    expect(cast(word, from, FORMATS[name], { saturate })).toBe(want);
  });

  test.each(SMALL.filter((f) => f.signed).map((f) => [f.name, f] as const))(
    '%s to fp32 and back is the identity',
    (_, f) => {
      for (const w of words(f)) {
        const x = decode(f, w);
        if (x.kind !== 'nan') expect(cast(cast(w, f, FORMATS.fp32), FORMATS.fp32, f)).toBe(w);
      }
    },
  );
});
