import { describe, expect, test } from 'vitest';
import {
  accumulate,
  alphaOf,
  ContractTypeError,
  ContractValueError,
  type ContractWarning,
  epilogue,
  type OutMatrix,
  parseSplitTable,
  ReferenceRejectsError,
  type ScaledMmOptions,
  SplitKUnknownError,
  scaledMm,
  scaleWord,
  UnsupportedFeatureError,
} from '../../src/cublas/index.js';
import { columnMajor, fp8Words, rowMajor, w32 } from './matrices.js';

const [m, n, k] = [5, 16, 160];
const input = rowMajor(fp8Words('e4m3', m * k, 11), m, k);
const mat2 = columnMajor(fp8Words('e4m3', n * k, 12), k, n);
const one = scaleWord(w32(1));
const base: ScaledMmOptions = { scaleA: one, scaleB: one, splitK: 1, outDtype: 'bf16' };

describe('scaledMm', () => {
  test('is the epilogue of the slow accumulator by default, on the hopper profile', async () => {
    const scales = { scaleA: scaleWord(w32(0.75)), scaleB: scaleWord(w32(-3)) };
    const out = await scaledMm(input, mat2, { ...base, ...scales });
    const acc = await accumulate(input, rowMajor(mat2.words, n, k), {
      useFastAccum: false,
      preset: 'hopper',
    });
    const want = new Uint16Array(m * n);
    epilogue(acc, want, 'bf16', alphaOf(w32(0.75), w32(-3)));
    expect(out).toMatchObject({ format: 'bf16', shape: [m, n], strides: [n, 1] });
    expect(out.words).toEqual(want);
  });

  test('outDtype defaults to the input format', async () => {
    const { outDtype: _, ...rest } = base;
    expect((await scaledMm(input, mat2, rest)).format).toBe('e4m3');
  });

  test('splitK defaults to auto, which asks the tables and never guesses', async () => {
    const { splitK: _, ...rest } = base;
    await expect(scaledMm(input, mat2, rest)).rejects.toThrow(SplitKUnknownError);
    const entry = {
      m,
      n,
      k,
      a: 'e4m3',
      b: 'e4m3',
      out: 'bf16',
      fastAccum: false,
      split: 2,
      scheme: 'contiguous',
      evidence: 'a test',
    };
    const table = parseSplitTable(
      {
        format: 'bitmma-split-table-1',
        profile: 'hopper',
        workspace: 1048576,
        libraries: '',
        entries: [entry],
      },
      'table',
    );
    const auto = await scaledMm(input, mat2, { ...rest, splitTables: [table] });
    const explicit = await scaledMm(input, mat2, { ...rest, splitK: [2, 'contiguous'] });
    expect(auto.words).toEqual(explicit.words);
    await expect(scaledMm(input, mat2, { ...rest, splitTables: [table], profile: 'ada' })).rejects.toThrow(
      SplitKUnknownError,
    );
  });

  test('the ada profile runs its own chain', async () => {
    const hopper = await scaledMm(input, mat2, { ...base, outDtype: 'fp32' });
    const ada = await scaledMm(input, mat2, { ...base, outDtype: 'fp32', profile: 'ada' });
    expect(ada.words).not.toEqual(hopper.words);
  });
});

describe('out', () => {
  const out = (shape: [number, number], strides: [number, number], length: number): OutMatrix => ({
    format: 'bf16',
    words: new Uint16Array(length).fill(0xabcd),
    shape,
    strides,
  });

  test('another shape is resized first, with a warning', async () => {
    const warnings: ContractWarning[] = [];
    const given = out([2, 2], [2, 1], 4);
    const result = await scaledMm(input, mat2, { ...base, out: given, onWarning: (w) => warnings.push(w) });
    expect(result).toBe(given);
    expect(given.shape).toEqual([m, n]);
    expect(warnings.map((w) => w.kind)).toEqual(['out-resized']);
    expect(given.words).toEqual((await scaledMm(input, mat2, base)).words);
  });

  test('column-major out solves the swapped problem (N, M, K)', async () => {
    const wide = rowMajor(fp8Words('e5m2', 16 * k, 21), 16, k, 'e5m2');
    const given: OutMatrix = {
      format: 'bf16',
      words: new Uint16Array(16 * n),
      shape: [16, n],
      strides: [1, 16],
    };
    const entry = {
      m: n,
      n: 16,
      k,
      a: 'e4m3',
      b: 'e5m2',
      out: 'bf16',
      fastAccum: false,
      split: 1,
      scheme: null,
      evidence: 'a test',
    };
    const table = parseSplitTable(
      { format: 'bitmma-split-table-1', profile: 'hopper', workspace: 0, libraries: '', entries: [entry] },
      't',
    );
    const { splitK: _, ...auto } = base;
    await scaledMm(wide, mat2, { ...auto, out: given, splitTables: [table] });
    const plain = await scaledMm(wide, mat2, base);
    for (let i = 0; i < 16; i++)
      for (let j = 0; j < n; j++) expect(given.words[i + j * 16]).toBe(plain.words[i * n + j]);
  });

  test('neither row- nor column-major: returned unchanged, with a warning', async () => {
    const warnings: ContractWarning[] = [];
    const given = out([m, n], [2 * n, 2], 2 * m * n);
    const before = given.words.slice();
    await scaledMm(input, mat2, { ...base, out: given, onWarning: (w) => warnings.push(w) });
    expect(given.words).toEqual(before);
    expect(warnings.map((w) => w.kind)).toEqual(['out-strided']);
  });

  test('the result never depends on what out held', async () => {
    const given = out([m, n], [n, 1], m * n);
    expect((await scaledMm(input, mat2, { ...base, out: given })).words).toEqual(
      (await scaledMm(input, mat2, base)).words,
    );
  });

  test('a format other than outDtype is rejected', async () => {
    const given = { ...out([m, n], [n, 1], m * n), format: 'fp16' } as const;
    await expect(scaledMm(input, mat2, { ...base, out: given })).rejects.toThrow(ReferenceRejectsError);
  });
});

describe('empty dimensions', () => {
  const empty = (rows: number, columns: number, format = 'e4m3') =>
    rowMajor(new Uint8Array(0), rows, columns, format);
  const emptyColumns = (rows: number, columns: number, format = 'e4m3') =>
    columnMajor(new Uint8Array(0), rows, columns, format);

  test('M = 0 or N = 0 gives an empty result', async () => {
    expect((await scaledMm(empty(0, k), mat2, base)).words).toHaveLength(0);
    expect((await scaledMm(input, emptyColumns(k, 0), base)).shape).toEqual([m, 0]);
  });

  test('K = 0 gives +0 everywhere for every scale, scaleResult, bias and output', async () => {
    for (const outDtype of ['fp32', 'bf16', 'fp16', 'e4m3', 'e5m2'] as const) {
      const out = await scaledMm(empty(3, 0), emptyColumns(0, 16), {
        ...base,
        outDtype,
        scaleA: scaleWord(0x7fc00000),
        scaleResult: scaleWord(w32(2)),
        bias: [3],
      });
      expect([...out.words]).toEqual(new Array(48).fill(0));
    }
  });

  test('the early return takes every float8 format torch has, fnuz and e8m0 included', async () => {
    for (const format of ['e4m3fnuz', 'e5m2fnuz', 'ue8m0', 'e5m2']) {
      const out = await scaledMm(empty(2, 0, format), emptyColumns(0, 16, format), base);
      expect(out.words).toHaveLength(32);
      await expect(scaledMm({ ...input, format }, { ...mat2, format }, base)).rejects.toThrow(
        ReferenceRejectsError,
      );
    }
  });
});

describe('what is refused, each with its class', () => {
  const rejected: [string, () => Promise<unknown>][] = [
    [
      'K that is no multiple of 16',
      () => scaledMm(rowMajor(new Uint8Array(24), 1, 24), columnMajor(new Uint8Array(24 * 16), 24, 16), base),
    ],
    ['N that is no multiple of 16', () => scaledMm(input, columnMajor(new Uint8Array(k * 8), k, 8), base)],
    ['shapes that do not fit', () => scaledMm(input, columnMajor(new Uint8Array(32 * 16), 32, 16), base)],
    ['an input that is not float8', () => scaledMm({ ...input, format: 'bf16' }, mat2, base)],
    ['e5m2 x e5m2', () => scaledMm({ ...input, format: 'e5m2' }, { ...mat2, format: 'e5m2' }, base)],
    ['e4m3 x e4m3 to e5m2', () => scaledMm(input, mat2, { ...base, outDtype: 'e5m2' })],
    [
      'e4m3 x e4m3 to e5m2 on ada',
      () => scaledMm(input, mat2, { ...base, outDtype: 'e5m2', profile: 'ada' }),
    ],
    ['a column-major input', () => scaledMm(columnMajor(input.words, m, k), mat2, base)],
    ['a row-major mat2', () => scaledMm(input, rowMajor(mat2.words, k, n), base)],
    [
      'a leading dimension off 16',
      () => scaledMm({ ...input, words: new Uint8Array(m * (k + 8)), strides: [k + 8, 1] }, mat2, base),
    ],
    [
      'a storage offset off 16',
      () => scaledMm({ ...input, words: new Uint8Array(m * k + 8), offset: 8 }, mat2, base),
    ],
    [
      'a scale that is not fp32',
      () => scaledMm(input, mat2, { ...base, scaleA: { ...one, format: 'bf16' } }),
    ],
    [
      'two scale words',
      () => scaledMm(input, mat2, { ...base, scaleA: { format: 'fp32', words: new Uint32Array(2) } }),
    ],
    [
      'scaleResult of two words',
      () => scaledMm(input, mat2, { ...base, scaleResult: { format: 'fp32', words: new Uint32Array(2) } }),
    ],
    ['an output format torch has not', () => scaledMm(input, mat2, { ...base, outDtype: 'fp64' as never })],
    ['another number of dimensions', () => scaledMm({ ...input, shape: [m, k, 1] as never }, mat2, base)],
  ];
  test.each(rejected)('%s: ReferenceRejectsError', async (_, call) => {
    await expect(call()).rejects.toThrow(ReferenceRejectsError);
  });

  test('bias and row-wise scales: UnsupportedFeatureError', async () => {
    await expect(scaledMm(input, mat2, { ...base, bias: [1] })).rejects.toThrow(UnsupportedFeatureError);
    const rowwise = {
      scaleA: { format: 'fp32', words: new Uint32Array(m) },
      scaleB: { format: 'fp32', words: new Uint32Array(n) },
    };
    await expect(scaledMm(input, mat2, { ...base, ...rowwise })).rejects.toThrow(UnsupportedFeatureError);
  });

  test('wrong argument types: ContractTypeError', async () => {
    await expect(scaledMm(input.words as never, mat2, base)).rejects.toThrow(ContractTypeError);
    await expect(scaledMm(input, mat2, { ...base, scaleA: 1 as never })).rejects.toThrow(ContractTypeError);
    await expect(scaledMm(input, mat2, { ...base, useFastAccum: 1 as never })).rejects.toThrow(
      ContractTypeError,
    );
  });

  test('a profile or split scheme that is not there: ContractValueError', async () => {
    await expect(scaledMm(input, mat2, { ...base, profile: 'volta' })).rejects.toThrow(ContractValueError);
    await expect(scaledMm(input, mat2, { ...base, splitK: [2, 'pairwise'] })).rejects.toThrow(
      ContractValueError,
    );
  });
});

describe('a split table', () => {
  const entry = {
    m: 16,
    n: 16,
    k: 16,
    a: 'e4m3',
    b: 'e4m3',
    out: 'bf16',
    fastAccum: true,
    split: 1,
    scheme: null,
    evidence: 'x',
  };
  const table =
    (change: object, more: object = {}) =>
    () =>
      parseSplitTable(
        {
          format: 'bitmma-split-table-1',
          profile: 'ada',
          workspace: 0,
          libraries: '',
          entries: [{ ...entry, ...change }],
          ...more,
        },
        'here.json',
      );
  test.each([
    ['another format', table({}, { format: 'x' }), /format/],
    ['no entries', table({}, { entries: 3 }), /entries/],
    ['an unknown field', table({ extra: 1 }), /entry 0: unknown field extra/],
    ['a fractional k', table({ k: 1.5 }), /entry 0: k/],
    ['a scheme for one split', table({ scheme: 'serial' }), /scheme/],
    ['no scheme for two splits', table({ split: 2 }), /scheme/],
    ['an unknown format', table({ a: 'fp16' }), /entry 0: a/],
    ['the same problem twice', table({}, { entries: [entry, entry] }), /stands twice/],
  ])('refuses %s, naming it', (_, parse, message) => {
    expect(parse).toThrow(message);
    expect(parse).toThrow(/here\.json/);
  });
});
