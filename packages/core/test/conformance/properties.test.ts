import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { batchOf, type CaseSet, copyCases, sliceCases } from '../../src/conformance/cases.js';
import { campaignsFor, generateCases } from '../../src/conformance/generate.js';
import { runBatch } from '../../src/conformance/suite.js';
import {
  allocateWords,
  itemsPerWord,
  scaleWords,
  setWord,
  sparseWords,
  wordAt,
} from '../../src/conformance/words.js';
import { findOp } from '../../src/datapath/aliases/op.js';
import { catalog } from '../../src/datapath/catalog/index.js';
import type { MmaOp } from '../../src/datapath/op.js';
import type { Operand, WordArray } from '../../src/engine/engine.js';
import { referenceEngine } from '../../src/reference/index.js';

const engine = referenceEngine();

async function dots(set: CaseSet): Promise<WordArray> {
  const session = await engine.open(set.op);
  try {
    return await runBatch(session, batchOf(set));
  } finally {
    await session.close();
  }
}

/** One op of every datapath kind, format pair, scaling and sparsity. */
const OPS: readonly MmaOp[] = [
  ...new Map(
    catalog().map((op) => [
      `${op.datapath.kind} ${op.a} ${op.b} ${op.d} ${op.scaling?.block} ${op.sparsity} ${'block' in op.datapath ? op.datapath.block < op.k : ''}`,
      op,
    ]),
  ).values(),
];

/** Any op with any of its campaigns. */
const drawn = (ops: readonly MmaOp[], k: (op: MmaOp) => number) =>
  fc
    .constantFrom(...ops)
    .chain((op) =>
      fc
        .tuple(fc.constantFrom(...campaignsFor(op)), fc.nat(2 ** 31))
        .map(([campaign, seed]) => generateCases(op, campaign, { seed, count: 3, k: k(op) })),
    );

/** Positions from..to of every case, with c. */
function part(set: CaseSet, from: number, to: number, c: WordArray): CaseSet {
  const { op, count, k } = set;
  const width = to - from;
  const pick = (words: WordArray, each: number, start: number, n: number, items: number) => {
    const out = words.slice(0, count * n * items);
    for (let i = 0; i < count; i++)
      out.set(words.subarray((i * each + start) * items, (i * each + start + n) * items), i * n * items);
    return out;
  };
  const block = op.scaling?.block ?? 1;
  const scales = scaleWords(op, width);
  const metadata = sparseWords(op, width);
  return {
    ...set,
    k: width,
    a: pick(set.a, k, from, width, itemsPerWord(op.a)),
    b: pick(set.b, k, from, width, itemsPerWord(op.b)),
    c,
    ...(set.scaleA && set.scaleB
      ? {
          scaleA: pick(set.scaleA, scaleWords(op, k), from / block, scales, 1) as Uint8Array,
          scaleB: pick(set.scaleB, scaleWords(op, k), from / block, scales, 1) as Uint8Array,
        }
      : {}),
    ...(set.sparse
      ? {
          sparse: pick(
            set.sparse,
            sparseWords(op, k),
            (from / k) * sparseWords(op, k),
            metadata,
            1,
          ) as Uint32Array,
        }
      : {}),
  };
}

describe('a chain', () => {
  test('is its instructions step by step, d of one the c of the next', async () => {
    await fc.assert(
      fc.asyncProperty(
        drawn(
          OPS.filter((op) => op.c === op.d),
          (op) => 3 * op.k,
        ),
        async (set) => {
          const whole = await dots(set);
          let c: WordArray = set.c;
          for (let step = 0; step < 3; step++)
            c = await dots(part(set, step * set.op.k, (step + 1) * set.op.k, c));
          expect(c).toEqual(whole);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('with a ragged end is the chain padded with +0', async () => {
    const dense = OPS.filter((op) => !op.sparsity && op.k > 1 && op.c === op.d);
    await fc.assert(
      fc.asyncProperty(
        drawn(dense, (op) => 2 * op.k),
        fc.nat(),
        async (set, cut) => {
          const { op } = set;
          const k = op.k + 1 + (cut % (op.k - 1));
          const padded = copyCases(set);
          for (let i = 0; i < set.count; i++)
            for (let j = k; j < 2 * op.k; j++) {
              setWord(op.a, padded.a, i * 2 * op.k + j, 0n);
              setWord(op.b, padded.b, i * 2 * op.k + j, 0n);
            }
          // Scales of blocks that hold padding alone are not reached by a shorter chain.
          const blocks = scaleWords(op, k);
          for (const name of ['scaleA', 'scaleB'] as const)
            for (let i = 0; i < set.count; i++)
              for (let j = blocks; j < scaleWords(op, 2 * op.k); j++)
                padded[name]![i * scaleWords(op, 2 * op.k) + j] = 0;
          expect(await dots(part(set, 0, k, set.c))).toEqual(await dots(padded));
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('the order of products', () => {
  const blockOf = (op: MmaOp) => ('block' in op.datapath ? Math.min(op.datapath.block, op.k) : op.k);
  /** A random order within every block of `size` positions. */
  const shuffled = (k: number, size: number, seeds: readonly number[]): number[] => {
    const order = Array.from({ length: k }, (_, i) => i);
    for (let start = 0; start < k; start += size)
      for (let i = Math.min(size, k - start) - 1; i > 0; i--) {
        const j = seeds[(start + i) % seeds.length] % (i + 1);
        [order[start + i], order[start + j]] = [order[start + j], order[start + i]];
      }
    return order;
  };
  const reorder = (set: CaseSet, order: readonly number[]): CaseSet => {
    const { op, k } = set;
    const next = copyCases(set);
    for (let i = 0; i < set.count; i++)
      order.forEach((from, to) => {
        setWord(op.a, next.a, i * k + to, wordAt(op.a, set.a, i * k + from));
        setWord(op.b, next.b, i * k + to, wordAt(op.b, set.b, i * k + from));
      });
    return next;
  };
  const seeds = fc.array(fc.nat(), { minLength: 17, maxLength: 17 });

  test('does not matter within a window', async () => {
    const windows = OPS.filter(
      (op) =>
        ['fused-window', 'late-window', 'exact', 'cdna3-window', 'integer', 'scaled-window'].includes(
          op.datapath.kind,
        ) && !op.sparsity,
    );
    await fc.assert(
      fc.asyncProperty(
        drawn(windows, (op) => op.k),
        seeds,
        async (set, order) => {
          expect(await dots(reorder(set, shuffled(set.k, blockOf(set.op), order)))).toEqual(await dots(set));
        },
      ),
      { numRuns: 400 },
    );
  });

  test('is even with even and odd with odd where windows interleave', async () => {
    const ops = OPS.filter((op) => op.datapath.kind === 'cdna3-odd-even');
    await fc.assert(
      fc.asyncProperty(
        drawn(ops, (op) => op.k),
        seeds,
        async (set, order) => {
          const half = shuffled(set.k / 2, 8, order);
          const interleaved = Array.from({ length: set.k }, (_, i) => 2 * half[i >> 1] + (i & 1));
          expect(await dots(reorder(set, interleaved))).toEqual(await dots(set));
        },
      ),
      { numRuns: 100 },
    );
  });

  test.each([
    ['a100', 'mma.sync.m16n8k16.f32.f16.f16.f32', 8],
    ['rtx1000', 'mma.sync.m16n8k32.f32.e4m3.e4m3.f32', 16],
    ['v100', 'mma.sync.m8n8k4.f32.f16.f16.f32', 4],
    ['mi100', 'v_mfma_f32_16x16x16f16', 4],
    ['mi300x', 'v_mfma_f32_16x16x16_bf16', 8],
  ] as const)('matters across the blocks of %s %s', async (device, instruction, n) => {
    const op = findOp(device, instruction);
    const k = Math.max(op.k, 2 * n);
    let differs = 0;
    for (const campaign of campaignsFor(op).slice(0, 8)) {
      const set = generateCases(op, campaign, { seed: 11, count: 50, k });
      // Position 0 of the first block against position n, the first of the second.
      const order = Array.from({ length: k }, (_, i) => (i === 0 ? n : i === n ? 0 : i));
      const [x, y] = [await dots(set), await dots(reorder(set, order))];
      differs += x.filter((word, i) => word !== y[i]).length;
    }
    expect(differs).toBeGreaterThan(0);
  });

  test('matters between the pairs and steps of the other families', async () => {
    for (const [device, instruction, order] of [
      ['mi210', 'v_mfma_f32_4x4x4f16', [0, 2, 1, 3]],
      ['mi100', 'v_mfma_f32_16x16x4f32', [3, 2, 1, 0]],
      ['mi300x', 'v_mfma_f32_32x32x16_bf8_bf8', [1, 0, ...Array.from({ length: 14 }, (_, i) => i + 2)]],
    ] as const) {
      const op = findOp(device, instruction);
      let differs = 0;
      for (const campaign of campaignsFor(op)) {
        const set = generateCases(op, campaign, { seed: 12, count: 50 });
        const [x, y] = [await dots(set), await dots(reorder(set, order))];
        differs += x.filter((word, i) => word !== y[i]).length;
      }
      expect(differs, instruction).toBeGreaterThan(0);
    }
  });
});

describe('a tile', () => {
  test('is the dots of its rows and columns, whatever the strides, split anywhere', async () => {
    const ops = OPS.filter((op) => op.c === op.d);
    await fc.assert(
      fc.asyncProperty(
        drawn(ops, (op) => 2 * op.k),
        fc.boolean(),
        fc.boolean(),
        async (set, rowsFirst, columnsFirst) => {
          const { op, k } = set;
          const [m, n] = [2, 3];
          // Rows of a: cases 0, 1; columns of b: cases 0, 1, 2; c: one word a cell from the same cases.
          const view = (
            format: Operand['format'],
            words: WordArray,
            each: number,
            rows: boolean,
            first: number,
          ): Operand => {
            const out = allocateWords(format, first * each + 5);
            for (let i = 0; i < first; i++)
              for (let j = 0; j < each; j++)
                setWord(
                  format,
                  out,
                  2 + (rows ? i * each + j : j * first + i),
                  wordAt(format, words, i * each + j),
                );
            return { format, words: out, offset: 2, rowStride: rows ? each : 1, colStride: rows ? 1 : first };
          };
          const transposed = ({ rowStride, colStride, ...rest }: Operand): Operand => ({
            ...rest,
            rowStride: colStride,
            colStride: rowStride,
          });
          const scales = scaleWords(op, k);
          const metadata = sparseWords(op, k);
          const c: Operand = {
            format: op.c,
            words: allocateWords(op.c, m * n),
            offset: 0,
            rowStride: n,
            colStride: 1,
          };
          for (let i = 0; i < m * n; i++) setWord(op.c, c.words, i, wordAt(op.c, set.c, i % set.count));
          const d: Operand = {
            format: op.d,
            words: allocateWords(op.d, m * n),
            offset: 0,
            rowStride: 1,
            colStride: m,
          };
          const session = await engine.open(op);
          const loaded = await session.load({
            m,
            n,
            k,
            a: view(op.a, set.a, k, rowsFirst, m),
            b: transposed(view(op.b, set.b, k, columnsFirst, n)),
            ...(op.scaling && set.scaleA && set.scaleB
              ? {
                  scaleA: view(op.scaling.format, set.scaleA, scales, rowsFirst, m),
                  scaleB: transposed(view(op.scaling.format, set.scaleB, scales, columnsFirst, n)),
                }
              : {}),
            ...(set.sparse
              ? { sparse: { format: 's32', words: set.sparse, offset: 0, rowStride: metadata, colStride: 1 } }
              : {}),
          });
          const chain = [
            { k0: 0, k1: op.k },
            { k0: op.k, k1: k },
          ];
          for (const [m0, m1, n0, n1] of [
            [0, 1, 0, 3],
            [1, 2, 0, 2],
            [1, 2, 2, 3],
          ])
            await session.tile(loaded, { m0, m1, n0, n1, chain, c, d });
          await session.settle();
          await session.close();
          for (let row = 0; row < m; row++)
            for (let column = 0; column < n; column++) {
              const a = sliceCases(set, row, 1);
              const b = sliceCases(set, column, 1);
              const want = await dots({
                ...a,
                b: b.b,
                c: sliceCases(set, (row * n + column) % set.count, 1).c,
                ...(b.scaleB ? { scaleB: b.scaleB } : {}),
              });
              expect(wordAt(op.d, d.words, row + column * m)).toBe(wordAt(op.d, want, 0));
            }
        },
      ),
      { numRuns: 200 },
    );
  });
});
