import { type Split, unitRoundoff } from './split.js';

/**
 * The product of p words from the products of single words: sum over i + j <= p + 1 of u^(i+j-2) A_i B_j in fp32, RNE,
 * smallest scale first and, within a scale, by rising i; then the scales of rows and columns are taken off, exactly.
 * `products[i][j]` is A_i B_j (from 0), m x n.
 */
export function combine(
  products: readonly (readonly Float32Array[])[],
  p: number,
  a: Split,
  b: Split,
): Float64Array {
  const u = unitRoundoff(a.format);
  const sum = new Float32Array(a.lines * b.lines);
  for (let s = p - 1; s >= 0; s--)
    for (let i = 0; i <= s; i++) {
      const product = products[i]![s - i]!;
      // A power of two of at least 2^-66: exact, for products of normal size.
      for (let e = 0; e < sum.length; e++) sum[e] = sum[e]! + Math.fround(product[e]! * u ** s);
    }
  return Float64Array.from(sum, (value, e) => {
    const [row, column] = [Math.floor(e / b.lines), e % b.lines];
    return value / a.scale[row]! / b.scale[column]!;
  });
}

/** Infinity norm of m lines of n: the largest row sum of magnitudes. */
export function rowNorm(lines: Float64Array, m: number, n: number): number {
  let norm = 0;
  for (let i = 0; i < m; i++) {
    let sum = 0;
    for (let p = 0; p < n; p++) sum += Math.abs(lines[i * n + p]!);
    norm = Math.max(norm, sum);
  }
  return norm;
}

/** Infinity norm of the k x n matrix whose columns are the lines. */
export function columnNorm(lines: Float64Array, n: number, k: number): number {
  let norm = 0;
  for (let p = 0; p < k; p++) {
    let sum = 0;
    for (let j = 0; j < n; j++) sum += Math.abs(lines[j * k + p]!);
    norm = Math.max(norm, sum);
  }
  return norm;
}
