import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mismatchBound } from '../src/bayes.js';
import { findSteps, median, medianInterval, welch } from '../src/stats.js';

describe('the bound on the mismatch probability', () => {
  // Accurate Models of AMD Matrix Cores, Table 2, epsilon = 10^-6, three digits as printed.
  test.each([
    [2e6, 0, '6.91e-6'],
    [1e6, 0, '1.38e-5'],
    [2e7, 0, '6.91e-7'],
    [1e7, 0, '1.38e-6'],
    [1e5, 0, '1.38e-4'],
  ])('%d trials with %i mismatches: %s', (trials, mismatches, printed) => {
    expect(mismatchBound(trials, mismatches).toExponential(2)).toBe(printed);
  });

  // The table prints 1.69e-5 and 1.35e-5 here. The quantile x / n solves (1 + x) e^-x = 10^-6, so x = 16.69: the
  // printed digits are 1.2 % higher than the formula that the section states.
  test.each([
    [1e6, 1.69e-5],
    [1.25e6, 1.35e-5],
  ])('%d trials with one mismatch: the Beta quantile, 1.2 %% below the printed %d', (trials, printed) => {
    const bound = mismatchBound(trials, 1);
    const x = bound * trials;
    expect((1 + x) * Math.exp(-x) * 1e6).toBeCloseTo(1, 3);
    expect(printed / bound).toBeCloseTo(1.012, 2);
  });

  test('the closed form is the Beta quantile at m = 0', () => {
    // P(p < bound) under Beta(1, n + 1) is 1 - (1 - bound)^(n + 1).
    const bound = mismatchBound(1000, 0, 0.05);
    expect((1 - bound) ** 1001).toBeCloseTo(0.05, 12);
  });

  test('refuses more mismatches than trials', () => {
    expect(() => mismatchBound(3, 4)).toThrow(RangeError);
  });
});

describe('median and its interval', () => {
  test('order statistics with binomial coverage', () => {
    // n = 9: ranks 2 and 8 cover 1 - 2 * (1 + 9) / 512 = 96.1 %.
    expect(medianInterval([9, 8, 7, 6, 5, 4, 3, 2, 1])).toEqual([2, 8]);
    expect(medianInterval([3, 1, 2])).toEqual([1, 3]);
    expect(median([4, 1, 3, 2])).toBe(2.5);
  });

  test('the interval holds the median', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ noNaN: true, min: -1e6, max: 1e6 }), { minLength: 1, maxLength: 60 }),
        (x) => {
          const [low, high] = medianInterval(x);
          expect(low).toBeLessThanOrEqual(median(x));
          expect(high).toBeGreaterThanOrEqual(median(x));
        },
      ),
    );
  });
});

/** Deterministic noise in [0, 1): a multiplicative generator. */
function noise(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}

describe('Welch’s t test on logarithms', () => {
  test('known value: t = 10 with 8 degrees of freedom', () => {
    // Means 0 and 0.1, variances 2.5e-4 each of five, t = 0.1 / 0.01 = 10, 8 degrees of freedom: p = 8.49e-6.
    const x = [-0.02, -0.01, 0, 0.01, 0.02].map(Math.exp);
    const p = welch(
      x,
      x.map((value) => value * Math.exp(0.1)),
    );
    expect(p / 8.488e-6).toBeCloseTo(1, 3);
  });

  test('equal samples are no difference, one value a side says nothing', () => {
    expect(welch([1, 1, 1], [1, 1, 1])).toBe(1);
    expect(welch([1, 1], [2, 2])).toBe(0);
    expect(welch([1], [2, 2, 2])).toBe(1);
  });

  test('under the null about one in twenty is below 0.05', () => {
    const next = noise(7);
    let below = 0;
    for (let i = 0; i < 2000; i++) {
      const draw = () => Array.from({ length: 7 }, () => 1 + 0.1 * next());
      if (welch(draw(), draw()) < 0.05) below++;
    }
    expect(below).toBeGreaterThan(60);
    expect(below).toBeLessThan(140);
  });
});

describe('step detection', () => {
  const series = (levels: readonly number[], each: number, seed: number) => {
    const next = noise(seed);
    return levels.flatMap((level) => Array.from({ length: each }, () => level * (1 + 0.02 * (next() - 0.5))));
  };

  test('finds the steps of a series, and only those', () => {
    expect(findSteps(series([1, 1.1], 10, 3))).toEqual([10]);
    expect(findSteps(series([1, 1.2, 0.9], 12, 5))).toEqual([12, 24]);
    expect(findSteps([1, 1.1])).toEqual([]);
  });

  test('stays quiet on 100 unchanged series', () => {
    let alarms = 0;
    for (let seed = 1; seed <= 100; seed++) alarms += findSteps(series([1], 30, seed)).length;
    expect(alarms).toBeLessThanOrEqual(2);
  });
});
