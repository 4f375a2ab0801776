import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EXPONENT_RANGES } from '../../src/conformance/campaigns.js';
import { CaseRandom } from '../../src/conformance/prng.js';
import {
  bottomExponent,
  exponentMantissa,
  floatFormat,
  independentBits,
  normalCast,
  putValue,
  specialFields,
  topExponent,
} from '../../src/conformance/sample.js';
import { allocateWords, wordAt } from '../../src/conformance/words.js';
import { castElement } from '../../src/formats/cast.js';
import { decode } from '../../src/formats/decode.js';
import { FORMAT_NAMES, FORMATS } from '../../src/formats/table.js';

const FLOATS = FORMAT_NAMES.filter((name) => floatFormat(name)?.signed);
const one = (name: (typeof FLOATS)[number], fill: (words: ReturnType<typeof allocateWords>) => void) => {
  const words = allocateWords(name, 1);
  fill(words);
  return wordAt(name, words, 0);
};
const element = (name: (typeof FLOATS)[number], word: bigint) =>
  decode(FORMATS[name], FORMATS[name].wordBits === 64 ? word : Number(word));

describe('samplers', () => {
  test.each(FLOATS)('%s: putValue is the saturating cast of the value', (name) => {
    const format = floatFormat(name)!;
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.oneof(
          fc.nat(2 ** 12),
          fc.maxSafeNat(),
          fc.integer({ min: 0, max: 52 }).map((bit) => 2 ** bit),
        ),
        fc.integer({ min: bottomExponent(format) - 60, max: topExponent(format) + 2 }),
        (negative, sig, lsb) => {
          const got = one(name, (words) => putValue(name, words, 0, negative, sig, lsb));
          const value = { kind: 'finite', negative, sig, signed: negative ? -sig : sig, lsb, e: 0 } as const;
          expect(got).toBe(BigInt(castElement(value, format, { saturate: true })));
        },
      ),
      { numRuns: 500 },
    );
  });

  test.each(FLOATS)('%s: exponent-mantissa sampling stays in its range and reaches its ends', (name) => {
    for (const kind of ['normal', 'subnormal'] as const) {
      const { low, high } = EXPONENT_RANGES[kind][name]!;
      let most = Number.NEGATIVE_INFINITY;
      let finite = true;
      const random = new CaseRandom(3, 0, 0);
      for (let i = 0; i < 6000; i++) {
        const x = element(
          name,
          one(name, (words) => exponentMantissa(name, random, low, high, words, 0)),
        );
        finite &&= x.kind === 'finite';
        if (x.sig > 0) most = Math.max(most, x.lsb + Math.floor(Math.log2(x.sig)));
      }
      expect(finite).toBe(true);
      expect(most).toBeLessThanOrEqual(high + (kind === 'subnormal' ? 1 : 0));
      if (high - low < 200) expect(most, kind).toBe(high);
    }
  });

  test.each(FLOATS)('%s: finite bits are finite, raw bits reach every kind', (name) => {
    const random = new CaseRandom(5, 0, 0);
    for (let i = 0; i < 800; i++)
      expect(
        element(
          name,
          one(name, (words) => independentBits(name, random, words, 0)),
        ).kind,
      ).toBe('finite');
    const { specials, exponentBits } = floatFormat(name)!;
    const kinds = new Set<string>();
    for (let i = 0; i < 4000; i++)
      kinds.add(
        element(
          name,
          one(name, (words) => independentBits(name, random, words, 0, false)),
        ).kind,
      );
    if (specials !== 'none' && exponentBits <= 8) expect(kinds.has('nan')).toBe(true);
  });

  test('normal casts have mean 0 and variance 1', () => {
    for (const name of ['fp32', 'fp16', 'fp64'] as const) {
      const random = new CaseRandom(6, 0, 0);
      let [sum, squares] = [0, 0];
      const n = 20000;
      for (let i = 0; i < n; i++) {
        const { signed, lsb } = element(
          name,
          one(name, (words) => normalCast(name, random, words, 0)),
        );
        const value = signed * 2 ** lsb;
        sum += value;
        squares += value * value;
      }
      expect(Math.abs(sum / n)).toBeLessThan(0.03);
      expect(Math.abs(squares / n - 1)).toBeLessThan(0.05);
    }
  });

  test('fp64 casts and significands use every bit', () => {
    const random = new CaseRandom(7, 0, 0);
    let seen = 0n;
    for (let i = 0; i < 200; i++)
      seen |= one('fp64', (words) => exponentMantissa('fp64', random, -10, 10, words, 0));
    expect(seen & ((1n << 52n) - 1n)).toBe((1n << 52n) - 1n);
  });

  test('special words name each end of a format once', () => {
    for (const name of FLOATS) {
      const fields = specialFields(floatFormat(name)!);
      expect(fields.length % 2).toBe(0);
      expect(fields.some(([, x, m]) => x === 0 && m === 1)).toBe(true);
    }
  });
});
