import { FORMATS } from '@bitmma/core';
import { minExponent } from '@bitmma/core/formats';
import { describe, expect, it } from 'vitest';
import { multiword, type StudyFormat } from '../../src/apps/multiword/multiword.js';
import { splitLines, THETA, unitRoundoff, type WordFormat } from '../../src/apps/multiword/split.js';
import { Doubles } from '../../src/apps/random.js';
import { encodeDouble } from '../../src/numbers/encode-double.js';
import { toDoubles } from '../../src/numbers/value.js';

describe.each(Object.keys(THETA) as WordFormat[])('words of %s', (format) => {
  const n = 2000;
  const random = new Doubles(7, format, 0);
  // Wide enough to reach the format's subnormal numbers and zero, with both signs.
  const values = Float64Array.from({ length: n }, () => random.logUniform(format === 'bf16' ? 20 : 4));
  values[0] = 0;
  values[1] = -0;
  const split = splitLines(values, 1, n, format, 3);
  const scaled = values.map((value) => value * split.scale[0]!);
  const u = unitRoundoff(format);

  it('are each RNE of what the earlier ones leave', () => {
    const rest = scaled.slice();
    for (let i = 0; i < 3; i++) {
      const words = split.words.subarray(i * n, (i + 1) * n);
      expect([...words]).toEqual(Array.from(rest, (value) => encodeDouble(value, FORMATS[format])));
      const back = toDoubles(words, format);
      for (let p = 0; p < n; p++) rest[p] = (rest[p]! - back[p]!) / u;
    }
  });

  it('lie just below theta and add up to the scaled value', () => {
    const largest = Math.max(...scaled.map(Math.abs));
    expect(largest).toBeLessThan(THETA[format]);
    expect(largest).toBeGreaterThanOrEqual(THETA[format] / 2);
    expect(Math.log2(split.scale[0]!)).toBe(Math.round(Math.log2(split.scale[0]!)));
    const quantum = 2 ** (minExponent(FORMATS[format]) - FORMATS[format].fractionBits);
    const parts = Array.from({ length: 3 }, (_, i) =>
      toDoubles(split.words.subarray(i * n, (i + 1) * n), format),
    );
    for (let p = 0; p < n; p++) {
      const sum = parts.reduce((total, part, i) => total + part[p]! * u ** i, 0);
      expect(Math.abs(sum - scaled[p]!)).toBeLessThanOrEqual(
        Math.max(Math.abs(scaled[p]!) * u ** 3, (quantum / 2) * u ** 2),
      );
    }
  });
});

it('is exact where every product and sum is', async () => {
  // Entries of +-1: no rounding anywhere.
  const points = await multiword({ format: 'bf16', words: [1, 2], n: [1, 700], decades: 0 });
  expect(points.map(({ error }) => error)).toEqual(points.map(() => 0));
});

const study = async (format: StudyFormat, words: readonly number[], n: readonly number[]) => {
  const points = await multiword({ format, words, n });
  return (device: string, count: number, size: number) =>
    points.find((point) => point.device === device && point.words === count && point.n === size)!.error;
};

it('fp16: every word gains its bits; B200 lies above AMD and grows with n', async () => {
  const error = await study('fp16', [1, 2], [100, 1000, 10000]);
  for (const device of ['v100', 'b200', 'mi100', 'mi250', 'mi300x'])
    expect(error(device, 2, 1000)).toBeLessThan(error(device, 1, 1000) / 100);
  for (const device of ['mi100', 'mi250', 'mi300x'])
    expect(error('b200', 2, 10000)).toBeGreaterThan(5 * error(device, 2, 10000));
  expect(error('b200', 2, 1000)).toBeGreaterThan(1.5 * error('b200', 2, 100));
  expect(error('b200', 2, 10000)).toBeGreaterThan(1.5 * error('b200', 2, 1000));
  expect(error('mi100', 2, 10000)).toBeLessThan(1.5 * error('mi100', 2, 100));
});

it('bf16: MI300X is close to MI100, B200 is not', async () => {
  const error = await study('bf16', [3], [1000, 10000]);
  for (const n of [1000, 10000]) {
    expect(error('mi300x', 3, n) / error('mi100', 3, n)).toBeGreaterThan(1 / 1.5);
    expect(error('mi300x', 3, n) / error('mi100', 3, n)).toBeLessThan(1.5);
    expect(error('b200', 3, n)).toBeGreaterThan(3 * error('mi100', 3, n));
  }
});

it('FP8: six words tell B200 from MI300X, one and four do not', async () => {
  const error = await study('e5m2', [1, 4, 6], [1000]);
  const ratio = (words: number) => error('b200', words, 1000) / error('mi300x', words, 1000);
  expect(Math.abs(ratio(1) - 1)).toBeLessThan(0.01);
  expect(Math.abs(ratio(4) - 1)).toBeLessThan(0.1);
  expect(ratio(6)).toBeGreaterThan(3);
});

it('chained: one accumulator for all products gives the same picture', async () => {
  const points = await multiword({
    format: 'fp16',
    words: [2],
    n: [3000],
    order: 'chained',
    devices: ['b200', 'mi100'],
  });
  const [b200, mi100] = points.map(({ error }) => error) as [number, number];
  expect(b200).toBeGreaterThan(5 * mi100);
  expect(mi100).toBeLessThan(1e-7);
});
