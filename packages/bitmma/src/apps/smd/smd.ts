import { CancelledError } from '@bitmma/core';
import { eigenRows } from './evd.js';
import type { Multiply } from './multiply.js';
import { delay, energyOf, type PolynomialMatrix, tapAt, truncate } from './polynomial.js';

export interface SmdOptions {
  /** Stops once the largest off-diagonal column norm is below epsilon * ||R[0]||_F. */
  readonly epsilon: number;
  /** Energy share that truncation may drop, each time. */
  readonly mu: number;
  readonly iterations: number;
  readonly multiply: Multiply;
  readonly signal?: AbortSignal | undefined;
  readonly onIteration?: ((done: number) => void) | undefined;
}

export interface SmdResult {
  /** Nearly diagonal: H R H~. */
  readonly s: PolynomialMatrix;
  /** Paraunitary. */
  readonly h: PolynomialMatrix;
  readonly iterations: number;
  /** Largest off-diagonal column norm that is left, relative to ||R[0]||_F. */
  readonly offDiagonal: number;
}

/**
 * Sequential matrix diagonalisation of a parahermitian matrix (Redif, Weiss and McWhirter, IEEE TSP 63(1), 2015): the
 * column with the largest off-diagonal norm over all lags is delayed to lag zero, and the eigenvectors of lag zero are
 * applied to every lag. Only those products, Q S[t] Q^T and Q H[t], go through `multiply`; the rest is fp64.
 */
export async function smd(r: PolynomialMatrix, options: SmdOptions): Promise<SmdResult> {
  const { epsilon, mu, multiply, signal } = options;
  const { size } = r;
  const norm = Math.sqrt(energyOf(tapAt(r, 0)!));
  const identity = Float64Array.from({ length: size * size }, (_, i) => (i % (size + 1) === 0 ? 1 : 0));
  let q = eigenRows(tapAt(r, 0)!, size);
  let s = await rotateBoth(r, q, multiply);
  let h = await rotate({ size, first: 0, taps: [identity] }, q, multiply);
  let done = 0;
  let largest = largestColumn(s);
  while (done < options.iterations && largest.norm > epsilon * norm) {
    if (signal?.aborted) throw new CancelledError(`cancelled at iteration ${done}`);
    const { column, lag } = largest;
    // Lambda with z^-delay at the column's index takes element (i, column) of lag t to lag t - delay.
    const delayed = delay(s, column, lag, 'both');
    q = eigenRows(tapAt(delayed, 0)!, size);
    s = truncate(await rotateBoth(delayed, q, multiply), mu, true);
    h = truncate(await rotate(delay(h, column, lag, 'rows'), q, multiply), mu, false);
    done++;
    largest = largestColumn(s);
    options.onIteration?.(done);
  }
  return { s, h, iterations: done, offDiagonal: largest.norm / norm };
}

/** The column and lag with the largest 2-norm of off-diagonal elements. */
function largestColumn({ size, first, taps }: PolynomialMatrix): {
  column: number;
  lag: number;
  norm: number;
} {
  let best = { column: 0, lag: 0, norm: 0 };
  for (const [i, tap] of taps.entries())
    for (let column = 0; column < size; column++) {
      let sum = 0;
      for (let row = 0; row < size; row++) if (row !== column) sum += tap[row * size + column]! ** 2;
      const norm = Math.sqrt(sum);
      if (norm > best.norm) best = { column, lag: first + i, norm };
    }
  return best;
}

/** Q M[t] for every lag: one product of Q and all columns side by side. */
async function rotate(
  { size, first, taps }: PolynomialMatrix,
  q: Float64Array,
  multiply: Multiply,
): Promise<PolynomialMatrix> {
  const columns = taps.length * size;
  const lines = new Float64Array(columns * size);
  for (const [i, tap] of taps.entries())
    for (let row = 0; row < size; row++)
      for (let column = 0; column < size; column++)
        lines[(i * size + column) * size + row] = tap[row * size + column]!;
  const product = await multiply(q, size, lines, columns, size);
  return {
    size,
    first,
    taps: taps.map((_, i) =>
      Float64Array.from(
        { length: size * size },
        (__, e) => product[Math.floor(e / size) * columns + i * size + (e % size)]!,
      ),
    ),
  };
}

/** (Q M[t]) Q^T for every lag: the second product takes all rows at once. */
async function rotateBoth(
  matrix: PolynomialMatrix,
  q: Float64Array,
  multiply: Multiply,
): Promise<PolynomialMatrix> {
  const { size, first, taps } = await rotate(matrix, q, multiply);
  const lines = new Float64Array(taps.length * size * size);
  for (const [i, tap] of taps.entries()) lines.set(tap, i * size * size);
  const product = await multiply(lines, taps.length * size, q, size, size);
  return { size, first, taps: taps.map((_, i) => product.slice(i * size * size, (i + 1) * size * size)) };
}
