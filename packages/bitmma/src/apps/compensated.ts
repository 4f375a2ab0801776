/** Veltkamp's constant for 53 bits: splits a double into two halves of at most 26 bits. */
const SPLITTER = 2 ** 27 + 1;

/**
 * Sum over p of x[p] * y[p] from `from` to `to`, as if in twice double's precision and rounded once (Ogita, Rump and
 * Oishi, Accurate Sum and Dot Product, SISC 2005, Dot2). Operands below 2^900 in magnitude; products above 2^-960.
 */
export function compensatedDot(
  x: Float64Array,
  xOffset: number,
  y: Float64Array,
  yOffset: number,
  length: number,
): number {
  let sum = 0;
  let rest = 0;
  for (let p = 0; p < length; p++) {
    const a = x[xOffset + p]!;
    const b = y[yOffset + p]!;
    const product = a * b;
    const ac = SPLITTER * a;
    const ah = ac - (ac - a);
    const al = a - ah;
    const bc = SPLITTER * b;
    const bh = bc - (bc - b);
    const bl = b - bh;
    const productError = al * bl - (product - ah * bh - al * bh - ah * bl);
    const next = sum + product;
    const virtual = next - sum;
    rest += sum - (next - virtual) + (product - virtual) + productError;
    sum = next;
  }
  return sum + rest;
}

/** C = A B^T of lines along k: a is m x k, b is n x k, both row by row; m x n results, each a compensated dot. */
export function compensatedProduct(
  a: Float64Array,
  b: Float64Array,
  m: number,
  n: number,
  k: number,
): Float64Array {
  const c = new Float64Array(m * n);
  for (let i = 0; i < m; i++)
    for (let j = 0; j < n; j++) c[i * n + j] = compensatedDot(a, i * k, b, j * k, k);
  return c;
}
