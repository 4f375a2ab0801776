import { defaultOp } from '@bitmma/core';
import { EigenvalueDecomposition, Matrix } from 'ml-matrix';
import { describe, expect, it } from 'vitest';
import { eigenRows } from '../../src/apps/smd/evd.js';
import { multiplyDouble, multiplyOn } from '../../src/apps/smd/multiply.js';
import {
  delay,
  diagonalAt,
  energyOf,
  type PolynomialMatrix,
  parahermitian,
  tapAt,
  truncate,
} from '../../src/apps/smd/polynomial.js';
import { smd } from '../../src/apps/smd/smd.js';
import { chooseEngine } from '../../src/engines.js';
import { silent } from '../../src/events.js';

/** X(z) Y(z), or X(z) Y~(z). */
function polynomialProduct(x: PolynomialMatrix, y: PolynomialMatrix, tilde = false): PolynomialMatrix {
  const { size } = x;
  const other = tilde ? { ...y, first: -(y.first + y.taps.length - 1), taps: [...y.taps].reverse() } : y;
  const taps = Array.from(
    { length: x.taps.length + other.taps.length - 1 },
    () => new Float64Array(size * size),
  );
  for (const [i, left] of x.taps.entries())
    for (const [j, right] of other.taps.entries())
      for (let row = 0; row < size; row++)
        for (let column = 0; column < size; column++)
          for (let p = 0; p < size; p++)
            taps[i + j]![row * size + column]! +=
              left[row * size + p]! * right[tilde ? column * size + p : p * size + column]!;
  return { size, first: x.first + other.first, taps };
}

/** Largest difference of any element at any lag. */
function distance(x: PolynomialMatrix, y: PolynomialMatrix): number {
  let largest = 0;
  for (let lag = Math.min(x.first, y.first); lag <= 100; lag++)
    for (let e = 0; e < x.size ** 2; e++)
      largest = Math.max(largest, Math.abs((tapAt(x, lag)?.[e] ?? 0) - (tapAt(y, lag)?.[e] ?? 0)));
  return largest;
}

const identity = (size: number): PolynomialMatrix => ({
  size,
  first: 0,
  taps: [Float64Array.from({ length: size * size }, (_, i) => (i % (size + 1) === 0 ? 1 : 0))],
});

describe('polynomial matrices', () => {
  const r = parahermitian(3, 4, 1);

  it('are parahermitian where they should be', () => {
    expect([r.first, r.taps.length]).toEqual([-2, 5]);
    expect(distance(r, polynomialProduct(identity(3), r, true))).toBe(0);
  });

  it.each([2, -3])('delayed by %i stay parahermitian and equal Lambda R Lambda~', (by) => {
    const zeros = Array.from({ length: Math.abs(by) + 1 }, () => new Float64Array(9));
    const lambda = { size: 3, first: Math.min(0, by), taps: zeros };
    for (const [index, lag] of [
      [0, 0],
      [1, by],
      [2, 0],
    ] as const)
      zeros[lag - lambda.first]![index * 4] = 1;
    expect(distance(delay(r, 1, by, 'rows'), polynomialProduct(lambda, r))).toBe(0);
    const both = delay(r, 1, by, 'both');
    expect(distance(both, polynomialProduct(polynomialProduct(lambda, r), lambda, true))).toBe(0);
    expect(tapAt(both, 0)![4]).toBe(tapAt(r, 0)![4]);
  });

  it('are truncated within the energy budget, and no less', () => {
    const taps = [1, 2, 10, 2, 1].map((value) => Float64Array.of(value));
    const matrix = { size: 1, first: -2, taps };
    const total = taps.map(energyOf).reduce((x, y) => x + y);
    expect(truncate(matrix, 2 / total, true)).toEqual({ size: 1, first: -1, taps: taps.slice(1, 4) });
    expect(truncate(matrix, 1.9 / total, true)).toEqual(matrix);
    expect(truncate(matrix, 1.9 / total, false)).toEqual({ size: 1, first: -1, taps: taps.slice(1) });
  });
});

describe('SMD in fp64', () => {
  const r = parahermitian(4, 4, 2);
  const options = { epsilon: 1e-6, mu: 0, iterations: 40, multiply: multiplyDouble };

  it('keeps H paraunitary and S = H R H~ without truncation', async () => {
    const { s, h } = await smd(r, options);
    expect(distance(polynomialProduct(h, h, true), identity(4))).toBeLessThan(1e-12);
    const transformed = polynomialProduct(polynomialProduct(h, r), h, true);
    expect(distance(transformed, s)).toBeLessThan(1e-11);
  });

  it('ends near the eigenvalues of R at every frequency where all is symmetric', async () => {
    const { s, iterations, offDiagonal } = await smd(r, { ...options, mu: 1e-8, iterations: 300 });
    expect(iterations).toBeLessThanOrEqual(300);
    expect(offDiagonal).toBeLessThan(1e-2);
    for (const omega of [0, Math.PI]) {
      const full = Matrix.zeros(4, 4);
      for (const [i, tap] of r.taps.entries())
        for (let e = 0; e < 16; e++)
          full.set(e >> 2, e & 3, full.get(e >> 2, e & 3) + tap[e]! * Math.cos(omega * (r.first + i)));
      const exact = Math.max(...new EigenvalueDecomposition(full).realEigenvalues);
      expect(Math.abs(Math.max(...diagonalAt(s, omega)) - exact) / exact).toBeLessThan(0.02);
    }
  });

  it('moves energy off the off-diagonal with every iteration', async () => {
    const after = async (iterations: number) => {
      const { s } = await smd(r, { ...options, iterations });
      return s.taps.reduce((sum, tap) => sum + tap.reduce((x, v, e) => x + (e % 5 === 0 ? 0 : v * v), 0), 0);
    };
    const energies = [await after(0), await after(1), await after(5), await after(20)];
    expect([...energies].sort((x, y) => y - x)).toEqual(energies);
  });
});

it('sorts eigenvectors by falling eigenvalue, largest element positive', () => {
  const q = eigenRows(Float64Array.of(1, 0, 0, 3), 2);
  expect([...q].map(Math.abs)).toEqual([0, 1, 1, 0]);
  expect(q[1]! + q[2]!).toBe(2);
});

it('multiplies on a device with operands rounded to its format', async () => {
  const op = defaultOp('mi100', { a: 'bf16', b: 'bf16', accumulate: 'fp32' });
  const multiply = multiplyOn(op, await chooseEngine(undefined, op, silent));
  const x = Float64Array.from({ length: 24 }, (_, i) => i - 12);
  const y = Float64Array.from({ length: 16 }, (_, i) => 7 - i);
  expect(await multiply(x, 3, y, 2, 8)).toEqual(await multiplyDouble(x, 3, y, 2, 8));
  // 257 is no bf16 number: a tie to 256.
  expect([...(await multiply(Float64Array.of(257), 1, Float64Array.of(1), 1, 1))]).toEqual([256]);
});
