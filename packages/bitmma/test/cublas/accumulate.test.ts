import { findOp } from '@bitmma/core';
import { referenceDot } from '@bitmma/core/reference';
import { describe, expect, test } from 'vitest';
import {
  accumulate,
  ContractTypeError,
  ContractValueError,
  type ContractWarning,
  dot,
  type Fp8Matrix,
  findPreset,
  SplitKUnknownError,
} from '../../src/cublas/index.js';
import { f32, fp8Words, rowMajor, w32 } from './matrices.js';

const E4M3_ONE = 0x38;

describe('dot', () => {
  test('ada is a chain of 16-term blocks, hopper of 32', async () => {
    // 128 - 128 in the first block, 16 products of 2^-9 at positions 16..31: in one block with 128 each is cut to zero.
    const a = new Uint8Array(32).fill(0x01, 16);
    const b = new Uint8Array(32).fill(E4M3_ONE);
    a[0] = 0x70;
    a[1] = 0xf0;
    expect(f32(await dot(a, b, { formatA: 'e4m3', preset: 'hopper' }))).toBe(0);
    expect(f32(await dot(a, b, { formatA: 'e4m3', preset: 'ada' }))).toBe(2 ** -5);
  });

  test('the addend enters the alignment of the first block (ada, hopper)', async () => {
    const a = Uint8Array.of(0x01);
    const b = Uint8Array.of(E4M3_ONE);
    for (const preset of ['ada', 'hopper'])
      expect(f32(await dot(a, b, { formatA: 'e4m3', preset, c: w32(128) }))).toBe(128);
  });

  test('b200_mma_sync adds c after the block, and warns experimental', async () => {
    const warnings: ContractWarning[] = [];
    const a = Uint8Array.of(0x01);
    const b = Uint8Array.of(E4M3_ONE);
    const word = await dot(a, b, {
      formatA: 'e4m3',
      preset: 'blackwell',
      c: w32(128),
      onWarning: (w) => warnings.push(w),
    });
    expect(f32(word)).toBe(128 + 2 ** -9);
    expect(warnings.map((w) => w.kind)).toEqual(['experimental']);
  });

  test('b200_mma_sync is not the catalog’s FP8 mma.sync of the b200', async () => {
    // Positions 0 and 1 hold 448^2, position 2 (bit 1 set) 2^-9 * 2^-6: one window drops it, a half of its own keeps it.
    const a = new Uint8Array(32);
    const b = new Uint8Array(32);
    a[0] = b[0] = a[1] = 0x7e;
    b[1] = 0xfe;
    a[2] = 0x01;
    b[2] = 0x08;
    const split = referenceDot(findOp('b200', 'mma.sync.m16n8k32.f32.e4m3.e4m3.f32'), { k: 32, a, b });
    expect(f32(Number(split))).toBe(2 ** -15);
    expect(f32(await dot(a, b, { formatA: 'e4m3', preset: 'b200_mma_sync' }))).toBe(0);
  });

  test('a NaN word is 0x7FFFFFFF', async () => {
    expect(await dot(Uint8Array.of(0xff), Uint8Array.of(0), { formatA: 'e4m3' })).toBe(0x7fffffff);
  });

  test('mismatched K is a value error, a format that is not FP8 a type error, and nothing broadcasts', async () => {
    const one = Uint8Array.of(E4M3_ONE);
    await expect(dot(one, Uint8Array.of(1, 2), { formatA: 'e4m3' })).rejects.toThrow(ContractValueError);
    await expect(dot(one, one, { formatA: 'fp16' })).rejects.toThrow(ContractTypeError);
    await expect(dot(one, one, { formatA: 'e4m3', preset: 'turing' })).rejects.toThrow(ContractValueError);
  });
});

/** One output of a plan worked out by hand from dot() and fp32 additions. */
async function chains(
  a: Uint8Array,
  b: Uint8Array,
  ranges: readonly (readonly [number, number])[][],
  preset: string,
) {
  const pick = (x: Uint8Array, list: readonly (readonly [number, number])[]) =>
    Uint8Array.from(list.flatMap(([from, to]) => [...x.subarray(from, to)]));
  const parts: number[] = [];
  for (const list of ranges)
    parts.push(f32(await dot(pick(a, list), pick(b, list), { formatA: 'e4m3', preset })));
  return parts;
}

describe('accumulate', () => {
  const k = 400;
  const a = fp8Words('e4m3', 3 * k, 1, 0xbf);
  const b = fp8Words('e4m3', 2 * k, 2, 0xbf);
  const A = rowMajor(a, 3, k);
  const B = rowMajor(b, 2, k);
  const row = (i: number) => a.subarray(i * k, (i + 1) * k);
  const column = (j: number) => b.subarray(j * k, (j + 1) * k);

  test('fast: every output is dot() of a row of a and a row of b', async () => {
    for (const preset of ['ada', 'hopper', 'b200_mma_sync']) {
      const acc = await accumulate(A, B, { useFastAccum: true, preset });
      for (let i = 0; i < 3; i++)
        for (let j = 0; j < 2; j++)
          expect(acc[i * 2 + j]).toBe(await dot(row(i), column(j), { formatA: 'e4m3', preset }));
    }
  });

  test('slow: the 128-chunk results are added from +0 in fp32', async () => {
    const acc = await accumulate(A, B, { useFastAccum: false, preset: 'hopper' });
    const parts = await chains(
      row(1),
      column(1),
      [[[0, 128]], [[128, 256]], [[256, 384]], [[384, 400]]],
      'hopper',
    );
    expect(acc[3]).toBe(w32(parts.reduce((sum, p) => Math.fround(sum + p), 0)));
  });

  test('split-K serial on ada: strided tiles per split', async () => {
    const acc = await accumulate(A, B, { useFastAccum: true, preset: 'ada', splitK: [2, 'serial'] });
    const even = [
      [0, 64],
      [128, 192],
      [256, 320],
      [384, 400],
    ] as const;
    const odd = [
      [64, 128],
      [192, 256],
      [320, 384],
    ] as const;
    const [p0, p1] = await chains(row(2), column(0), [[...even], [...odd]], 'ada');
    expect(acc[4]).toBe(w32(Math.fround(p0! + p1!)));
  });

  test('an empty split contributes +0 and warns', async () => {
    const warnings: ContractWarning[] = [];
    const options = { useFastAccum: true, onWarning: (w: ContractWarning) => warnings.push(w) } as const;
    const acc = await accumulate(A, B, { ...options, splitK: [9, 'contiguous'] });
    const tiles = await accumulate(A, B, { useFastAccum: true, splitK: [4, 'contiguous'] });
    expect(acc).toEqual(tiles);
    expect(warnings.map((w) => w.kind)).toEqual(['unverified-split']);
  });

  test('any layout: a transposed view gives the same words', async () => {
    const transposed = new Uint8Array(3 * k);
    for (let i = 0; i < 3; i++) for (let x = 0; x < k; x++) transposed[x * 3 + i] = a[i * k + x]!;
    const view: Fp8Matrix = { format: 'e4m3', words: transposed, shape: [3, k], strides: [1, 3] };
    expect(await accumulate(view, B, { useFastAccum: true })).toEqual(
      await accumulate(A, B, { useFastAccum: true }),
    );
  });

  test('any K: zero padding changes nothing', async () => {
    const odd = 37;
    const cut = (words: Uint8Array, rows: number): Fp8Matrix => ({
      format: 'e4m3',
      words,
      shape: [rows, odd],
      strides: [k, 1],
    });
    const padded = new Uint8Array(64);
    padded.set(a.subarray(0, odd));
    const paddedB = new Uint8Array(64);
    paddedB.set(b.subarray(0, odd));
    const acc = await accumulate(cut(a, 3), cut(b, 2), { useFastAccum: true });
    expect(acc[0]).toBe(await dot(padded, paddedB, { formatA: 'e4m3', preset: 'hopper' }));
  });

  test('more tiles than one give the words of one', async () => {
    const big = rowMajor(fp8Words('e4m3', 300 * 32, 7), 300, 32);
    const acc = await accumulate(big, big, { useFastAccum: false });
    for (const [i, j] of [
      [0, 0],
      [255, 256],
      [256, 255],
      [299, 299],
    ] as const) {
      const want = await dot(
        big.words.subarray(i * 32, i * 32 + 32),
        big.words.subarray(j * 32, j * 32 + 32),
        {
          formatA: 'e4m3',
          preset: 'hopper',
        },
      );
      // 128-chunk restart of one chunk: +0 + ch0 turns nothing but -0, which no chain gives.
      expect(acc[i * 300 + j]).toBe(want);
    }
  });

  test('useFastAccum must be explicit', async () => {
    await expect(accumulate(A, B, {} as never)).rejects.toThrow(ContractTypeError);
  });

  test('splitK auto without a table is SplitKUnknownError naming three ways out', async () => {
    await expect(accumulate(A, B, { useFastAccum: true, splitK: 'auto' })).rejects.toThrow(
      SplitKUnknownError,
    );
    await expect(accumulate(A, B, { useFastAccum: true, splitK: 'auto' })).rejects.toThrow(
      /give splitK explicitly.*load a split table.*record it/,
    );
  });

  test('a scheme of the other preset and a count without a scheme are value errors', async () => {
    await expect(accumulate(A, B, { useFastAccum: true, splitK: [2, 'serial'] })).rejects.toThrow(
      ContractValueError,
    );
    await expect(accumulate(A, B, { useFastAccum: true, splitK: 2 })).rejects.toThrow(ContractValueError);
  });

  test('formats that are not FP8 and different K are refused', async () => {
    await expect(accumulate(rowMajor(a, 3, k, 'fp16'), B, { useFastAccum: true })).rejects.toThrow(
      ContractTypeError,
    );
    await expect(accumulate(A, rowMajor(b, 4, k / 2), { useFastAccum: true })).rejects.toThrow(
      ContractValueError,
    );
  });
});

describe('non-finite inputs', () => {
  const k = 320;
  const zeros = () => new Uint8Array(k);

  test.each([true, false])(
    'fast %s: NaN anywhere in a row or column makes the output NaN',
    async (useFastAccum) => {
      const words = zeros();
      words[300] = 0x7f;
      const acc = await accumulate(rowMajor(words, 1, k), rowMajor(zeros(), 1, k), { useFastAccum });
      expect(acc[0]).toBe(0x7fffffff);
    },
  );

  test('infinities of one sign give it, of both signs NaN, also across chains and splits', async () => {
    const inf = zeros();
    inf[3] = 0x7c;
    inf[290] = 0x7c;
    const ones = zeros().fill(0x3c);
    const mixed = ones.slice();
    mixed[290] = 0xbc;
    const run = (b: Uint8Array, splitK: 1 | [number, 'contiguous']) =>
      accumulate(rowMajor(inf, 1, k, 'e5m2'), rowMajor(b, 1, k, 'e5m2'), { useFastAccum: false, splitK });
    expect((await run(ones, 1))[0]).toBe(0x7f800000);
    expect((await run(mixed, 1))[0]).toBe(0x7fffffff);
    expect((await run(mixed, [2, 'contiguous']))[0]).toBe(0x7fffffff);
    expect((await run(zeros(), 1))[0]).toBe(0x7fffffff);
  });
});

test('every preset op carries its block and fraction bits', () => {
  const shape = (name: string) => findPreset(name).op('e4m3', 'e5m2').datapath;
  expect(shape('ada')).toMatchObject({
    kind: 'fused-window',
    block: 16,
    fraction: 13,
    output: { precision: 13 },
  });
  expect(shape('hopper')).toMatchObject({
    kind: 'fused-window',
    block: 32,
    fraction: 13,
    output: { precision: 13 },
  });
  expect(shape('b200_mma_sync')).toMatchObject({
    kind: 'late-window',
    block: 32,
    fraction: 25,
    output: { precision: 23 },
  });
});
