import { describe, expect, test } from 'vitest';
import {
  type Combination,
  ContractValueError,
  describePlan,
  findPreset,
  makePlan,
  type SplitScheme,
  UnsupportedFeatureError,
} from '../../src/cublas/index.js';

const plan = (
  preset: string,
  k: number,
  useFastAccum: boolean,
  count = 1,
  scheme: SplitScheme | null = null,
) => makePlan({ preset: findPreset(preset), k, useFastAccum, split: { count, scheme } });

const formula = (c: Combination): string =>
  c.kind === 'chain' ? `${c.chain}` : `(${c.from === 'zero' ? '0 ' : ''}${c.parts.map(formula).join(' ')})`;

describe('the plan of an unsplit GEMM', () => {
  test('fast accumulation is one chain over k = 0 .. K-1', () => {
    expect(plan('hopper', 300, true)).toMatchObject({
      chains: [[{ k0: 0, k1: 300 }]],
      combination: { kind: 'chain', chain: 0 },
    });
  });

  test('slow accumulation is one chain per consecutive 128 k, added serially from +0', () => {
    const p = plan('ada', 300, false);
    expect(p.chains).toEqual([[{ k0: 0, k1: 128 }], [{ k0: 128, k1: 256 }], [{ k0: 256, k1: 300 }]]);
    expect(formula(p.combination)).toBe('(0 0 1 2)');
  });

  test('slow accumulation of K <= 128 still adds to +0', () => {
    expect(formula(plan('ada', 64, false).combination)).toBe('(0 0)');
  });
});

describe('split-K on the RTX 4060', () => {
  test('split s owns the 64-wide tiles t with t mod S = s, the last one ragged', () => {
    expect(plan('ada', 64 * 5 + 10, true, 2, 'serial').chains).toEqual([
      [
        { k0: 0, k1: 64 },
        { k0: 128, k1: 192 },
        { k0: 256, k1: 320 },
      ],
      [
        { k0: 64, k1: 128 },
        { k0: 192, k1: 256 },
        { k0: 320, k1: 330 },
      ],
    ]);
  });

  test('slow accumulation starts a new chain at every 2nd tile of a split, added from +0 inside it', () => {
    const p = plan('ada', 64 * 7, false, 2, 'serial');
    expect(p.chains).toEqual([
      [
        { k0: 0, k1: 64 },
        { k0: 128, k1: 192 },
      ],
      [
        { k0: 256, k1: 320 },
        { k0: 384, k1: 448 },
      ],
      [
        { k0: 64, k1: 128 },
        { k0: 192, k1: 256 },
      ],
      [{ k0: 320, k1: 384 }],
    ]);
    expect(formula(p.combination)).toBe('((0 0 1) (0 2 3))');
  });

  test('serial is ((p0 + p1) + p2) + ...', () => {
    expect(formula(plan('ada', 64 * 4, true, 4, 'serial').combination)).toBe('(0 1 2 3)');
  });

  test.each([
    [2, '(1 0)'],
    [3, '(2 0 1)'],
    [4, '(3 (0 2) 1)'],
    [5, '(4 (0 3) 1 2)'],
    [6, '(5 (0 3) (1 4) 2)'],
    [8, '(7 (0 4) (1 5) (2 6) 3)'],
  ])('pairwise with S = %i: the last partial first, then the slots', (count, want) => {
    expect(formula(plan('ada', 64 * count, true, count, 'pairwise').combination)).toBe(want);
  });
});

describe('split-K on the H100 PCIe', () => {
  test('split s owns q = ceil(T/S) contiguous 128-wide tiles', () => {
    expect(plan('hopper', 128 * 5 + 4, true, 3, 'contiguous').chains).toEqual([
      [{ k0: 0, k1: 256 }],
      [{ k0: 256, k1: 512 }],
      [{ k0: 512, k1: 644 }],
    ]);
  });

  test('slow accumulation: every tile is its own chain, added serially from +0 inside the split', () => {
    const p = plan('hopper', 128 * 4, false, 2, 'contiguous');
    expect(p.chains.map((c) => c[0]!.k0)).toEqual([0, 128, 256, 384]);
    expect(formula(p.combination)).toBe('((0 0 1) (0 2 3))');
  });

  test('a split without tiles is a chain without k and warns unverified-split', () => {
    const p = plan('hopper', 128 * 4, true, 3, 'contiguous');
    expect(p.chains).toEqual([[{ k0: 0, k1: 256 }], [{ k0: 256, k1: 512 }], []]);
    expect(p.warnings.map((w) => w.kind)).toEqual(['unverified-split']);
    expect(plan('hopper', 128 * 6, true, 3, 'contiguous').warnings).toEqual([]);
  });
});

describe('what a preset does not have', () => {
  test.each([
    ['hopper', 'serial'],
    ['hopper', 'pairwise'],
    ['ada', 'contiguous'],
  ] as const)('%s refuses the scheme %s of the other preset', (preset, scheme) => {
    expect(() => plan(preset, 512, true, 2, scheme)).toThrow(ContractValueError);
  });

  test('b200_mma_sync refuses slow accumulation and split-K as unsupported', () => {
    expect(() => plan('b200_mma_sync', 512, false)).toThrow(UnsupportedFeatureError);
    expect(() => plan('b200_mma_sync', 512, true, 2, 'serial')).toThrow(UnsupportedFeatureError);
    expect(plan('blackwell', 512, true).chains).toHaveLength(1);
  });

  test.each([0, -1, 1.5])('splitK %d is no split count', (count) => {
    expect(() => plan('ada', 512, true, count, 'serial')).toThrow(ContractValueError);
  });
});

test('a plan in words names every chain and the order of additions', () => {
  expect(describePlan(plan('ada', 192, true, 3, 'pairwise'))).toBe(
    'ch0: 0..64\nch1: 64..128\nch2: 128..192\naccumulator = ((ch2 + ch0) + ch1), fp32 round to nearest even',
  );
});
