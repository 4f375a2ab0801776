import { cast, FORMATS } from '@bitmma/core/formats';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toBf16, toE4m3, toE5m2, toFp16 } from '../../src/cublas/epilogue.js';
import { alphaOf, epilogue, type OutFormat } from '../../src/cublas/index.js';
import { f32, w32 } from './matrices.js';

const run = (acc: number, out: OutFormat, scaleA = w32(1), scaleB = w32(1), scaleResult?: number): number => {
  const d =
    out === 'fp32'
      ? new Uint32Array(1)
      : out === 'bf16' || out === 'fp16'
        ? new Uint16Array(1)
        : new Uint8Array(1);
  epilogue(Uint32Array.of(acc), d, out, alphaOf(scaleA, scaleB), scaleResult);
  return d[0]!;
};

/** fp32 words that matter: random words, and neighbourhoods of ties and limits. */
const word32 = fc.oneof(
  fc.nat({ max: 0xffffffff }),
  fc
    .tuple(fc.integer({ min: 90, max: 145 }), fc.nat({ max: 15 }), fc.constantFrom(0, 1, 2), fc.boolean())
    .map(
      ([x, top, low, sign]) =>
        ((sign ? 0x80000000 : 0) + (x << 23) + (top << 19) + (low === 2 ? 0x7ffff : low)) >>> 0,
    ),
);

describe('the output conversions are RNE casts of the fp32 word', () => {
  test.each([
    ['bf16', toBf16, false],
    ['fp16', toFp16, false],
    ['e4m3', toE4m3, true],
    ['e5m2', toE5m2, true],
  ] as const)('%s', (name, convert, saturate) => {
    fc.assert(
      fc.property(word32, (word) => {
        expect(convert(word)).toBe(cast(word, FORMATS.fp32, FORMATS[name], { saturate }));
      }),
      { numRuns: 20000 },
    );
  });

  test.each([
    ['e4m3', toE4m3],
    ['e5m2', toE5m2],
    ['fp16', toFp16],
  ] as const)('%s: every exponent with every leading fraction, both ends', (name, convert) => {
    for (let top = 0; top < 1 << 16; top++)
      for (const low of [0, 1, 0x7fff, 0x8000, 0xffff]) {
        const word = ((top << 16) | low) >>> 0;
        const want = cast(word, FORMATS.fp32, FORMATS[name], { saturate: name !== 'fp16' });
        if (convert(word) !== want) expect.fail(`${word.toString(16)}: ${convert(word)} for ${String(want)}`);
      }
  });
});

describe('the epilogue', () => {
  test('alpha = RN32(scaleA * scaleB), subnormal and overflowing products included', () => {
    expect(f32(alphaOf(w32(3), w32(Math.fround(1 / 3))))).toBe(Math.fround(3 * Math.fround(1 / 3)));
    expect(f32(alphaOf(w32(2 ** -100), w32(2 ** -49)))).toBe(2 ** -149);
    expect(f32(alphaOf(w32(2 ** -100), w32(2 ** -51)))).toBe(0);
    expect(f32(alphaOf(w32(2 ** 100), w32(2 ** 100)))).toBe(Number.POSITIVE_INFINITY);
  });

  test('y = RN32(acc * alpha) is rounded once', () => {
    fc.assert(
      fc.property(
        fc.float({ noNaN: true }),
        fc.float({ noNaN: true, min: Math.fround(-1e5), max: Math.fround(1e5) }),
        (x, s) => {
          const y = run(w32(x), 'fp32', w32(s));
          const want = Math.fround(x * s + 0);
          if (!Number.isNaN(want)) expect(f32(y)).toBe(want);
          else expect(y).toBe(0x7fffffff);
        },
      ),
    );
  });

  test.each([
    ['acc = 0, alpha < 0', 0, w32(-1)],
    ['alpha = -0', w32(3), w32(-0)],
    ['alpha underflows to 0', w32(-3), 1],
  ])('a zero product gives +0, never -0: %s', (_, acc, scale) => {
    expect(run(acc, 'fp32', scale, w32(2 ** -20))).toBe(0);
  });

  test('a nonzero product that underflows keeps its sign', () => {
    expect(run(w32(-(2 ** -100)), 'fp32', w32(2 ** -60))).toBe(0x80000000);
  });

  test('Inf * 0 gives the canonical NaN of each output', () => {
    const nan = { fp32: 0x7fffffff, bf16: 0x7fff, fp16: 0x7fff, e4m3: 0x7f, e5m2: 0x7f } as const;
    for (const [out, word] of Object.entries(nan)) expect(run(0x7f800000, out as OutFormat, 0)).toBe(word);
    for (const [out, word] of Object.entries(nan)) expect(run(0xffc12345, out as OutFormat)).toBe(word);
  });

  test('bf16 and fp16 are rounded twice: a constructed tie tells', () => {
    // acc * alpha = 1 + 2^-8 + 2^-24 * (1 + ...) lies above the bf16 tie, but rounds to the tie in fp32 first.
    const acc = w32(1 + 2 ** -8);
    const alpha = w32(1 + 2 ** -23);
    const exact = (1 + 2 ** -8) * (1 + 2 ** -23);
    expect(exact).toBeGreaterThan(1 + 2 ** -8);
    expect(Math.fround(exact)).toBeGreaterThan(1 + 2 ** -8);
    const low = w32(1 - 2 ** -24);
    // (1 + 2^-8) * (1 - 2^-24) is below the tie and fp32 rounds it up to the tie or stays: the double rounding decides.
    const once = cast(w32(Math.fround((1 + 2 ** -8) * (1 - 2 ** -24))), FORMATS.fp32, FORMATS.bf16);
    expect(run(acc, 'bf16', low)).toBe(once);
    expect(run(acc, 'bf16', alpha)).toBe(0x3f81);
  });

  test('FP8: scaleResult multiplies in fp32, then saturation, Inf included, then RNE', () => {
    expect(run(w32(1000), 'e4m3')).toBe(0x7e);
    expect(run(w32(-1000), 'e4m3')).toBe(0xfe);
    expect(run(0x7f800000, 'e4m3')).toBe(0x7e);
    expect(run(w32(60000), 'e5m2')).toBe(0x7b);
    expect(run(0xff800000, 'e5m2')).toBe(0xfb);
    expect(run(w32(3), 'e4m3', w32(1), w32(1), w32(0.5))).toBe(0x3c);
    expect(run(w32(17), 'e4m3')).toBe(0x58);
    expect(run(w32(19), 'e4m3')).toBe(0x5a);
  });

  test('scaleResult is ignored for other outputs', () => {
    for (const out of ['fp32', 'bf16', 'fp16'] as const)
      expect(run(w32(3), out, w32(1), w32(1), w32(7))).toBe(run(w32(3), out));
  });
});
