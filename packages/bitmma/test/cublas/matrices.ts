import type { Fp8Matrix } from '../../src/cublas/index.js';

/** Deterministic words of an LCG, one byte each; `finite` avoids NaN and Inf codes of the format. */
export function fp8Words(format: 'e4m3' | 'e5m2', count: number, seed: number, keep = 0xff): Uint8Array {
  let state = BigInt(seed) * 2862933555777941757n + 3037000493n;
  const next = () => {
    state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
    return Number(state >> 56n);
  };
  const special = (w: number) => (format === 'e4m3' ? (w & 0x7f) === 0x7f : (w & 0x7f) >= 0x7c);
  return Uint8Array.from({ length: count }, () => {
    let word = next() & keep;
    while (special(word)) word = next() & keep;
    return word;
  });
}

export const rowMajor = (words: Uint8Array, rows: number, columns: number, format = 'e4m3'): Fp8Matrix => ({
  format,
  words,
  shape: [rows, columns],
  strides: [columns, 1],
});

export const columnMajor = (
  words: Uint8Array,
  rows: number,
  columns: number,
  format = 'e4m3',
): Fp8Matrix => ({
  format,
  words,
  shape: [rows, columns],
  strides: [1, rows],
});

const float = new Float32Array(1);
const word = new Uint32Array(float.buffer);

/** The fp32 word of a number that fp32 holds. */
export const w32 = (value: number): number => {
  float[0] = value;
  return word[0]!;
};

export const f32 = (bits: number): number => {
  word[0] = bits;
  return float[0]!;
};
