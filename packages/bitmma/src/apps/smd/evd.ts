import { EigenvalueDecomposition, Matrix } from 'ml-matrix';

/**
 * Q with Q M Q^T diagonal, eigenvalues falling, for the symmetric part of a size x size matrix. Rows are eigenvectors,
 * each with its largest element positive, so that equal matrices on two devices give equal signs.
 */
export function eigenRows(m: Float64Array, size: number): Float64Array {
  const symmetric = new Matrix(size, size);
  for (let i = 0; i < size; i++)
    for (let j = 0; j < size; j++) symmetric.set(i, j, (m[i * size + j]! + m[j * size + i]!) / 2);
  const { realEigenvalues, eigenvectorMatrix } = new EigenvalueDecomposition(symmetric, {
    assumeSymmetric: true,
  });
  const order = realEigenvalues.map((_, i) => i).sort((x, y) => realEigenvalues[y]! - realEigenvalues[x]!);
  const q = new Float64Array(size * size);
  for (const [row, from] of order.entries()) {
    const vector = eigenvectorMatrix.getColumn(from);
    const largest = vector.reduce((best, value) => (Math.abs(value) > Math.abs(best) ? value : best), 0);
    for (let p = 0; p < size; p++) q[row * size + p] = largest < 0 ? -vector[p]! : vector[p]!;
  }
  return q;
}
