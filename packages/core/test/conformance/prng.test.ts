import { describe, expect, test } from 'vitest';
import { CaseRandom, philox4x32, streamOf } from '../../src/conformance/prng.js';

describe('Philox4x32-10', () => {
  // Known answers published with the generator (Random123, kat_vectors).
  test.each([
    [
      [0, 0, 0, 0],
      [0, 0],
      [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8],
    ],
    [
      [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff],
      [0xffffffff, 0xffffffff],
      [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd],
    ],
    [
      [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
      [0xa4093822, 0x299f31d0],
      [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
    ],
  ] as const)('%j', (counter, key, words) => {
    expect(philox4x32(counter, key)).toEqual(words);
  });
});

describe('CaseRandom', () => {
  test('words of a case are the blocks of its counter', () => {
    const random = new CaseRandom(7 + 2 ** 33, 99, 5 + 2 ** 32);
    const words = Array.from({ length: 8 }, () => random.word());
    expect(words).toEqual([...philox4x32([0, 5, 1, 99], [7, 2]), ...philox4x32([1, 5, 1, 99], [7, 2])]);
  });

  test('bits and ranges', () => {
    const random = new CaseRandom(1, 2, 3);
    for (let i = 0; i < 1000; i++) {
      expect(random.bits(53)).toBeLessThan(2 ** 53);
      expect(random.bits(0)).toBe(0);
      const n = random.between(-3, 4);
      expect(n >= -3 && n <= 4).toBe(true);
    }
  });

  test('below is uniform', () => {
    const random = new CaseRandom(4, 0, 0);
    const counts = [0, 0, 0];
    for (let i = 0; i < 30000; i++) counts[random.below(3)]++;
    for (const count of counts) expect(Math.abs(count - 10000)).toBeLessThan(400);
  });

  test('a stream is FNV-1a of its name', () => {
    expect(streamOf('')).toBe(0x811c9dc5);
    expect(streamOf('foobar')).toBe(0xbf9cf968);
  });
});
