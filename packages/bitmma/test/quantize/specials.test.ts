import { expect, it } from 'vitest';
import { quantizeMx } from '../../src/quantize/mx.js';
import { quantizeNvfp4 } from '../../src/quantize/nvfp4.js';

const row = (...values: number[]) => Float32Array.from({ length: 32 }, (_, i) => values[i] ?? 0);

it('a block with NaN or infinity has the NaN scale and zeros; a zero block the smallest scale', () => {
  for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    const mx = quantizeMx(row(1, bad), 1, 32, { element: 'e4m3', rule: 'floor' });
    expect(mx.scales[0]).toBe(0xff);
    expect(mx.elements.every((word) => word === 0)).toBe(true);
    const nv = quantizeNvfp4(row(1, bad), 1, 32);
    expect([...nv.scales]).toEqual([0x7f, 0]);
    expect(nv.elements.every((word) => word === 0)).toBe(true);
  }
  const zero = quantizeMx(row(0, -0), 1, 32, { element: 'e4m3', rule: 'floor' });
  expect(zero.scales[0]).toBe(0);
  expect(zero.elements[1]).toBe(0x80);
});

it('rules part where they should: amax just above a power of two, and near the top of a binade', () => {
  const scaleOf = (amax: number, rule: 'floor' | 'ceil' | 'even' | 'rceil') =>
    quantizeMx(row(amax), 1, 32, { element: 'e2m1', rule }).scales[0]! - 127;
  // e2m1: emax 2, max 6, one fraction bit.
  expect(['floor', 'ceil', 'even', 'rceil'].map((rule) => scaleOf(4, rule as 'floor'))).toEqual([0, 0, 0, 0]);
  expect(['floor', 'ceil', 'even', 'rceil'].map((rule) => scaleOf(5, rule as 'floor'))).toEqual([0, 1, 0, 0]);
  expect(['floor', 'ceil', 'even', 'rceil'].map((rule) => scaleOf(6.5, rule as 'floor'))).toEqual([
    0, 1, 0, 1,
  ]);
  expect(['floor', 'ceil', 'even', 'rceil'].map((rule) => scaleOf(7, rule as 'floor'))).toEqual([0, 1, 1, 1]);
});

it('scales of the largest and smallest fp32 stay in range', () => {
  expect(quantizeMx(row(3.4028234663852886e38), 1, 32, { element: 'e2m1', rule: 'ceil' }).scales[0]).toBe(
    253,
  );
  expect(quantizeMx(row(2 ** -149), 1, 32, { element: 'e4m3', rule: 'floor' }).scales[0]).toBe(0);
});
