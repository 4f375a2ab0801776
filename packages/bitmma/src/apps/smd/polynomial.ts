import { Doubles } from '../random.js';

/** A square real polynomial matrix: `taps[i]` is the coefficient of z^-(first + i), size x size, row by row. */
export interface PolynomialMatrix {
  readonly size: number;
  readonly first: number;
  readonly taps: readonly Float64Array[];
}

/** The coefficient of z^-lag; undefined beyond the support. */
export const tapAt = ({ first, taps }: PolynomialMatrix, lag: number): Float64Array | undefined =>
  taps[lag - first];

/** Squared Frobenius norm of one coefficient. */
export const energyOf = (tap: Float64Array): number => tap.reduce((sum, value) => sum + value * value, 0);

/**
 * R(z) = A(z) A~(z) with A of size x size and `order` / 2 + 1 taps of seeded N(0, 1): parahermitian, R[-t] = R[t]^T,
 * lags -order/2 to order/2.
 */
export function parahermitian(size: number, order: number, seed: number): PolynomialMatrix {
  const depth = order / 2;
  const a = Array.from({ length: depth + 1 }, (_, tap) => {
    const random = new Doubles(seed, `smd ${size} ${order}`, tap);
    return Float64Array.from({ length: size * size }, () => random.normal());
  });
  const taps = Array.from({ length: order + 1 }, (_, i) => {
    const lag = i - depth;
    const r = new Float64Array(size * size);
    for (let s = Math.max(0, lag); s <= depth && s - lag <= depth; s++)
      for (let row = 0; row < size; row++)
        for (let column = 0; column < size; column++)
          for (let p = 0; p < size; p++)
            r[row * size + column]! += a[s]![row * size + p]! * a[s - lag]![column * size + p]!;
    return r;
  });
  return { size, first: -depth, taps };
}

/**
 * Lambda M Lambda~ (`both`) or Lambda M (`rows`) of the delay Lambda = diag(1, ..., z^-delay at `index`, ..., 1): the
 * row moves by delay, the column by -delay, and the diagonal element of `both` stays.
 */
export function delay(
  matrix: PolynomialMatrix,
  index: number,
  by: number,
  sides: 'rows' | 'both',
): PolynomialMatrix {
  const { size, first, taps } = matrix;
  const low = sides === 'both' ? Math.abs(by) : Math.max(0, -by);
  const high = sides === 'both' ? Math.abs(by) : Math.max(0, by);
  const moved = Array.from({ length: taps.length + low + high }, () => new Float64Array(size * size));
  for (const [i, tap] of taps.entries())
    for (let row = 0; row < size; row++)
      for (let column = 0; column < size; column++) {
        const shift = (row === index ? by : 0) - (sides === 'both' && column === index ? by : 0);
        moved[i + low + shift]![row * size + column] = tap[row * size + column]!;
      }
  return { size, first: first - low, taps: moved };
}

/**
 * Drops outer coefficients while what is dropped stays within `mu` of the matrix's energy: pairs of lags -t and t for
 * `symmetric`, else the weaker end each time.
 */
export function truncate(matrix: PolynomialMatrix, mu: number, symmetric: boolean): PolynomialMatrix {
  const energies = matrix.taps.map(energyOf);
  let budget = mu * energies.reduce((sum, energy) => sum + energy, 0);
  let [low, high] = [0, energies.length - 1];
  while (low < high) {
    const [left, right] = [energies[low]!, energies[high]!];
    const cost = symmetric ? left + right : Math.min(left, right);
    if (cost > budget) break;
    budget -= cost;
    if (symmetric || left <= right) low++;
    if (symmetric || left > right) high--;
  }
  return { size: matrix.size, first: matrix.first + low, taps: matrix.taps.slice(low, high + 1) };
}

/** Diagonal elements at angle omega, real parts: eigenvalues of a diagonalised parahermitian matrix. */
export function diagonalAt({ size, first, taps }: PolynomialMatrix, omega: number): Float64Array {
  const values = new Float64Array(size);
  for (const [i, tap] of taps.entries()) {
    const weight = Math.cos(omega * (first + i));
    for (let row = 0; row < size; row++) values[row]! += tap[row * size + row]! * weight;
  }
  return values;
}
