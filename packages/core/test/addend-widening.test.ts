import { expect, it } from 'vitest';
import { findOp } from '../src/index.js';
import { referenceDot } from '../src/reference/index.js';

const half = (...words: number[]) => Uint16Array.from(words);

it('widens an fp16 c exactly before the first step: a subnormal then has its own exponent', () => {
  const op = findOp('v100', 'mma.sync.m8n8k4.f32.f16.f16.f16');
  // c = 2^-22, p = 2^-38: the quantum is 2^-45. With c's fp16 exponent -14 it would be 2^-37 and p lost.
  const d = referenceDot(op, { k: 4, a: half(0, 0, 0x20, 0), b: half(0, 0, 0x20, 0), c: half(4) });
  expect(d.toString(16)).toBe('34800080');
});
