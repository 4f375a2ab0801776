import { describe, expect, it } from 'vitest';
import { mismatchBound } from '../src/index.js';

describe('Bayesian bound on the mismatch probability (CDNA study, table 2, epsilon = 1e-6)', () => {
  it.each([
    [2e6, 6.91e-6],
    [1e6, 1.38e-5],
    [2e7, 6.91e-7],
    [1e7, 1.38e-6],
  ])('%d cases, none different', (cases, bound) => {
    expect(Math.abs(mismatchBound(cases, 0, 1e-6) / bound - 1)).toBeLessThan(0.005);
  });

  // The study prints 1.69e-5 and 1.35e-5 here, 1.2 % above the quantile that its own text defines.
  it.each([
    [1e6, 1.69e-5],
    [1.25e6, 1.35e-5],
  ])('%d cases, one different', (cases, printed) => {
    const bound = mismatchBound(cases, 1, 1e-6);
    expect(Math.abs(bound / printed - 1)).toBeLessThan(0.015);
    // Upper tail of Beta(2, n) at the bound: (1 - p)^(n+1) + (n + 1) p (1 - p)^n.
    const tail = (1 - bound) ** (cases + 1) + (cases + 1) * bound * (1 - bound) ** cases;
    expect(tail / 1e-6).toBeCloseTo(1, 6);
  });

  it('grows with mismatches and is 1 without cases to speak of', () => {
    expect(mismatchBound(1000, 5, 1e-6)).toBeGreaterThan(mismatchBound(1000, 4, 1e-6));
    expect(mismatchBound(0, 0, 1e-6)).toBeCloseTo(1, 5);
  });

  it('refuses counts that make no sense', () => {
    expect(() => mismatchBound(10, 11, 1e-6)).toThrow(
      'mismatches: expected a whole number of 0 to 10, got 11',
    );
    expect(() => mismatchBound(10, 0, 1)).toThrow('epsilon: expected a number between 0 and 1, got 1');
  });
});
