import type { MmaOp } from '@bitmma/core';
import { type CaseSet, campaignOf, generateCases } from '@bitmma/core/conformance';

const COUNT = 480;
const ULP = 2 ** -52;

/** One product and an addend. */
type Fma = readonly [number, number, number];

/** By the case's number n and its exponents e and f, of two factors. */
const KINDS: readonly ((n: number, e: number, f: number) => Fma)[] = [
  // 2^(e+f) (1 - 2^-104) beside half of the last place of an odd c: a tie but for the last bit.
  (n, e, f) => [(1 + ULP) * 2 ** e, (1 - ULP) * 2 ** f, (1 + (2 * n + 1) * ULP) * 2 ** (e + f + 53)],
  // The same at 3/2, and below a power of two, where places are half as large.
  (n, e, f) => [3 * (1 + ULP) * 2 ** e, (1 - ULP) * 2 ** f, (1 + (n % 4) * ULP) * 2 ** (e + f + 53)],
  (n, e, f) => [(1 + ULP) * 2 ** e, -(1 - ULP) * 2 ** f, (1 + (n % 2) * ULP) * 2 ** (e + f + 54)],
  // Exact ties.
  (n, e, f) => [2 ** e, (n & 1 ? -1 : 1) * 2 ** f, (1 + (n % 8) * ULP) * 2 ** (e + f + 53)],
  // Only the product's error is left.
  (n, e, f) => {
    const [x, y] = [(1 + (n + 1) * ULP) * 2 ** e, (1 + (3 * n + 1) * ULP) * 2 ** f];
    return [x, y, -(x * y)];
  },
  // Zeros of either sign, and c below and above what the products reach.
  (n, e) => [n & 1 ? 0 : -0, (n & 2 ? 1 : -1) * 2 ** e, n & 4 ? -0 : (n & 8) * 2 ** -1074],
  (n, e, f) => [
    (1 + n * ULP) * 2 ** e,
    (2 - ULP) * 2 ** f,
    (n & 1 ? -1 : 1) * 2 ** (((n * 37) % 2090) - 1070),
  ],
];

/** Sums of the factors' exponents: where errors of products are lost, where sums overflow, and between. */
const SUMS = [
  -1074, -1022, -972, -961, -960, -959, -958, -500, -40, 0, 30, 700, 960, 989, 991, 993, 1000, 1023,
];

/** fp64 FMAs at and beside ties, at both ends of the exponents, and of zeros; null for other ops. */
export function doubleEdges(op: MmaOp): CaseSet | null {
  if (op.datapath.kind !== 'sequential-fma' || op.a !== 'fp64') return null;
  const set = generateCases(op, campaignOf('normal'), { seed: 1, count: COUNT, k: op.k });
  const doubles = ({ buffer, byteOffset, length }: Uint32Array) =>
    new Float64Array(buffer, byteOffset, length / 2);
  const [a, b, c] = [set.a, set.b, set.c].map((words) => doubles(words as Uint32Array));
  a.fill(0);
  for (let i = 0; i < COUNT; i++) {
    const n = Math.floor(i / KINDS.length);
    const sum = SUMS[n % SUMS.length];
    // Of one factor: near the other's, or too large for fp64 to split.
    const near = Math.max(-1022, Math.floor(sum / 2) + ((n * 29) % 80) - 40);
    const e = n % 5 === 4 && sum > 0 ? 1015 : near;
    const at = i * op.k + (i % op.k);
    [a[at], b[at], c[i]] = KINDS[i % KINDS.length](n, e, sum - e);
  }
  return { ...set, source: 'double edges', id: (i: number) => `double-edge-${i}` };
}
