import { expect, it } from 'vitest';
import type { Tensor } from '../../src/files/index.js';
import { asMatrices } from '../../src/gemm/operand.js';
import { countSpecials, errorStatistics } from '../../src/gemm/statistics.js';

const f32 = (values: readonly number[]) => new Uint32Array(new Float32Array(values).buffer);
const matrix = (rows: number, cols: number, values: readonly number[]) => {
  const tensor: Tensor = {
    name: 'x',
    dtype: { name: 'f4', format: 'fp32', bits: 32, restatable: false },
    words: f32(values),
    shape: [rows, cols],
    strides: [cols, 1],
  };
  return asMatrices(tensor, 'fp32');
};

const input = (d: readonly number[]) => ({
  m: 1,
  n: 4,
  k: 1,
  a: matrix(1, 1, [1]),
  b: matrix(1, 4, [1, -2, 4, 0]),
  c: null,
  scaleA: null,
  scaleB: null,
  scaleBlock: 1,
  batch: 1,
  d: f32(d),
  dFormat: 'fp32' as const,
});

it('an exact result has no error', () => {
  const found = errorStatistics(input([1, -2, 4, 0]));
  expect(found).toMatchObject({
    elements: 4,
    maxAbsolute: 0,
    meanRelative: 0,
    signedBias: 0,
    maxUlp: 0,
    nonFinite: 0,
  });
  expect(found.ulpHistogram).toEqual([{ upTo: 0.5, count: 4 }]);
});

it('counts units in the last place at the fp64 value, bias with its sign', () => {
  const ulp = 2 ** -23;
  const found = errorStatistics(input([1 + ulp, -2 - 6 * ulp, 4 - 2 ** -10, 0]));
  expect(found.maxAbsolute).toBe(2 ** -10);
  // |2| has a unit of 2 ulp, |4| of 4: 1, 3 and 2^11 / 2^... units.
  expect(found.ulpHistogram).toEqual([
    { upTo: 0.5, count: 1 },
    { upTo: 1, count: 1 },
    { upTo: 4, count: 1 },
    { upTo: null, count: 1 },
  ]);
  expect(found.signedBias).toBe((ulp - 3 * ulp - 2 ** -12) / 3);
  expect(found.magnitudeBias).toBe((ulp + 3 * ulp - 2 ** -12) / 3);
});

it('leaves elements that are not finite out and counts them', () => {
  expect(errorStatistics(input([1, Number.NaN, Number.POSITIVE_INFINITY, 0]))).toMatchObject({
    nonFinite: 2,
    maxUlp: 0,
  });
});

it('counts special words of floats and integers', () => {
  const words = new Uint8Array([0x7f, 0xff, 0x7e, 0xfe, 0x00, 0x80, 0x38]);
  expect(countSpecials(words, 'e4m3')).toEqual({ nan: 2, infinite: 0, saturated: 2, zero: 2 });
  expect(countSpecials(new Uint16Array([0x7c00, 0xfc00, 0x7bff, 0x7e00]), 'fp16')).toEqual({
    nan: 1,
    infinite: 2,
    saturated: 1,
    zero: 0,
  });
  expect(countSpecials(new Uint32Array([0x7fffffff, 0x80000000, 0]), 's32')).toMatchObject({
    saturated: 2,
    zero: 1,
  });
});

it('samples columns of a B that would not fit, and says so', () => {
  const [n, k] = [3, 2 ** 24];
  const ones = (rows: number, cols: number) => {
    const tensor: Tensor = {
      name: 'ones',
      dtype: { name: 'u1', format: 'u8', bits: 8, restatable: true },
      words: new Uint8Array(rows * cols).fill(0x38),
      shape: [rows, cols],
      strides: [cols, 1],
    };
    return asMatrices(tensor, 'e4m3');
  };
  const exact = f32([k, k, k]);
  const found = errorStatistics({ ...input([]), m: 1, n, k, a: ones(1, k), b: ones(k, n), d: exact });
  expect(found).toMatchObject({ elements: 2, sampled: true, maxAbsolute: 0 });
});
