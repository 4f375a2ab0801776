import { describe, expect, test } from 'vitest';
import { dot } from '../../src/cublas/index.js';
import { f32, w32 } from './matrices.js';

const E4M3 = { one: 0x38, onePointFive: 0x3c, twoPointTwoFive: 0x41, min: 0x01 } as const;
const ada = (a: number[], b: number[], c = 0) =>
  dot(Uint8Array.from(a), Uint8Array.from(b), { formatA: 'e4m3', preset: 'ada', c });

describe('one block step (contract section 1)', () => {
  test('a subnormal input uses emin, with its denormalised significand', async () => {
    // 2^-9 is 0.001 * 2^-6: its exponent is -6, so 2^-9 * 1 opens a window at 2^-6 with quantum 2^-19.
    // Beside it c = 2^-20 is cut to zero; alone in a window at 2^-9 (quantum 2^-22) it would stay.
    expect(f32(await ada([E4M3.min], [E4M3.one], w32(2 ** -20)))).toBe(2 ** -9);
  });

  test('the product of significands is not renormalised: the exponent is one below it at 2 or more', async () => {
    // 1.5 * 1.5 = 2.25 has exponent 0: quantum 2^-13 keeps c = 2^-13; then 13 bits below the sum's own leading bit
    // (2^1) drop it again, so that two of them are needed to see it.
    expect(f32(await ada([E4M3.onePointFive], [E4M3.onePointFive], w32(2 ** -13 + 2 ** -14)))).toBe(2.25);
    expect(
      f32(await ada([E4M3.onePointFive, 0xbc], [E4M3.onePointFive, E4M3.onePointFive], w32(2 ** -13))),
    ).toBe(2 ** -13);
    // 2.25 * 1 has exponent 1: the same c is below its quantum 2^-12.
    expect(f32(await ada([E4M3.twoPointTwoFive - 1, 0xc0], [E4M3.one, E4M3.one], w32(2 ** -13)))).toBe(0);
  });

  test('products that are exactly zero do not take part', async () => {
    // 0 * 448 would have exponent 2; without it c = 2^-12 stands alone.
    expect(f32(await ada([0x00], [0x7e], w32(2 ** -12)))).toBe(2 ** -12);
  });

  test('every product and c are truncated toward zero to 13 fraction bits below 2^E', async () => {
    const c = w32(-(2 ** -14 + 2 ** -13));
    expect(f32(await ada([E4M3.one, 0xb8], [E4M3.one, E4M3.one], c))).toBe(-(2 ** -13));
  });

  test('the sum is truncated toward zero to 13 fraction bits below its own leading bit', async () => {
    // 1.75 * 1.75 = 3.0625 and c = 2^-13 (kept at quantum 2^-13): the sum needs 14 bits below 2^1.
    expect(f32(await ada([0x3e], [0x3e], w32(2 ** -13)))).toBe(3.0625);
    expect(f32(await ada([0x3e], [0xbe], w32(-(2 ** -13))))).toBe(-3.0625);
  });

  test.each([
    ['exactly zero', [E4M3.one, 0xb8], 0],
    ['no term at all', [0x80], 0x80000000],
  ] as const)('a block result that is %s is +0', async (_, a, c) => {
    expect(
      await ada(
        [...a],
        a.map(() => E4M3.one),
        c,
      ),
    ).toBe(0);
  });

  test('a block result that truncates to zero is +0', async () => {
    // c = -2^-20 is below the quantum of 1 - 1: what is left is no term but zero.
    expect(await ada([E4M3.one, 0xb8], [E4M3.one, E4M3.one], w32(-(2 ** -20)))).toBe(0);
  });
});
