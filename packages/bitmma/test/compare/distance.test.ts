import fc from 'fast-check';
import { expect, it } from 'vitest';
import { differenceOf } from '../../src/compare/distance.js';

it('bits decide equality, the distance counts representable numbers', () => {
  const left = new Uint32Array([0x00000000, 0x3f800000, 0x7fc00000, 0x00000001, 0x3f800000, 0x7f800000]);
  const right = new Uint32Array([0x80000000, 0x3f800003, 0x7fc00001, 0x80000001, 0x3f800000, 0x7f7fffff]);
  const found = differenceOf(left, right, 'fp32');
  expect([...found.ulps]).toEqual([0, 3, -1, 2, 0, -1]);
  expect(found).toMatchObject({ words: 6, different: 5, maxUlp: 3, nonFinite: 2, first: 0 });
});

it('of fp64 and integers', () => {
  const fp64 = differenceOf(new Uint32Array([5, 0x3ff00000]), new Uint32Array([2, 0x3ff00000]), 'fp64');
  expect(fp64).toMatchObject({ words: 1, different: 1, maxUlp: 3 });
  const s32 = differenceOf(new Uint32Array([0xffffffff]), new Uint32Array([1]), 's32');
  expect(s32).toMatchObject({ different: 1, maxUlp: 2 });
});

it('is symmetric, and zero only for equal values', () => {
  fc.assert(
    fc.property(
      fc.uint16Array({ minLength: 8, maxLength: 8 }),
      fc.uint16Array({ minLength: 8, maxLength: 8 }),
      (x, y) => {
        const [there, back] = [differenceOf(x, y, 'bf16'), differenceOf(y, x, 'bf16')];
        expect([...there.ulps]).toEqual([...back.ulps]);
        expect(there.different).toBe(x.filter((word, i) => word !== y[i]).length);
      },
    ),
  );
});
