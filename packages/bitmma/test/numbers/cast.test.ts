import { FORMATS, type FormatName } from '@bitmma/core';
import { cast, type FloatFormat, readWord } from '@bitmma/core/formats';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { castWords } from '../../src/numbers/cast.js';

const targets = [
  'fp16',
  'bf16',
  'tf32',
  'e4m3',
  'e5m2',
  'e4m3fnuz',
  'e5m2fnuz',
  'e3m2',
  'e2m3',
  'e2m1',
] as const;
const rules = (['RNE', 'RZ'] as const).flatMap((rounding) =>
  [true, false].map((saturate) => ({ rounding, saturate })),
);

/** Words around every boundary: each exponent with extreme and tying fractions, both signs. */
function hardSingles(): Uint32Array {
  const fractions = [
    0, 1, 0x1000, 0x7fffff, 0x400000, 0x600000, 0x500000, 0x700000, 0x780000, 0x0fffff, 0x100001,
  ];
  const list: number[] = [];
  for (let x = 0; x < 256; x++)
    for (const fraction of fractions)
      for (const sign of [0, 0x80000000]) list.push((sign + x * 2 ** 23 + fraction) >>> 0);
  return Uint32Array.from(list);
}

function check(
  words: Uint32Array,
  from: 'fp32' | 'fp16' | 'fp64',
  to: FormatName,
  rule: (typeof rules)[number],
) {
  const source = FORMATS[from] as FloatFormat;
  const target = FORMATS[to] as FloatFormat;
  const typed = from === 'fp16' ? Uint16Array.from(words) : words;
  const result = castWords('x', typed, from, to, rule);
  const length = from === 'fp64' ? words.length / 2 : words.length;
  for (let i = 0; i < length; i++) {
    const word = readWord(typed, i, source.wordBits);
    // tf32 by truncation keeps the container's words: the instruction drops the low bits itself.
    const expected =
      to === 'tf32' && from === 'fp32' && rule.rounding === 'RZ' ? word : cast(word, source, target, rule);
    if (readWord(result.words, i, target.wordBits) !== expected)
      expect(`${word.toString(16)} -> ${readWord(result.words, i, target.wordBits)}`).toBe(`${expected}`);
  }
}

describe.each(targets)('to %s', (to) => {
  it.each(rules)('every hard fp32 word as the core converts it, %o', (rule) =>
    check(hardSingles(), 'fp32', to, rule),
  );

  it('random fp32 words', () => {
    fc.assert(
      fc.property(
        fc.uint32Array({ minLength: 1, maxLength: 200 }),
        fc.constantFrom(...rules),
        (words, rule) => check(words, 'fp32', to, rule),
      ),
    );
  });

  it('every fp16 word, and fp64 words', () => {
    if (to !== 'fp16')
      check(
        Uint32Array.from({ length: 65536 }, (_, i) => i),
        'fp16',
        to,
        rules[0]!,
      );
    check(
      new Uint32Array([0, 0x3ff00000, 1, 0x40701000, 0, 0x7ff00000, 0, 0xfff80000, 1, 0]),
      'fp64',
      to,
      rules[0]!,
    );
  });
});

it('counts what a cast changed and what lay out of range', () => {
  const words = new Uint32Array(
    new Float32Array([1, 1.01, 448, 449, 1e9, -1e9, Number.NaN, Number.POSITIVE_INFINITY]).buffer,
  );
  expect(castWords('x', words, 'fp32', 'e4m3', { rounding: 'RNE', saturate: true })).toMatchObject({
    changed: 5,
    overflowed: 4,
  });
});

it('integers convert only where they fit', () => {
  const rule = rules[0]!;
  const big = new Uint32Array(new BigInt64Array([-128n, 127n]).buffer);
  expect([...castWords('x', big, 'int64', 's8', rule).words]).toEqual([0x80, 0x7f]);
  expect(() => castWords('A', new Uint32Array([128]), 's32', 's8', rule)).toThrow(
    'A: expected s8 values of -128..127, got 128 at element 0',
  );
  expect(() => castWords('A', big, 'int64', 'fp16', rule)).toThrow(/expected elements that convert to fp16/);
});
