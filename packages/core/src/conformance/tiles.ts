/**
 * Tiles against dot products: the same cells computed as tiles of a GEMM, in several layouts, chains and cuts, must
 * be the words that a second engine gives for each cell's own dot product.
 */
import type { MmaOp } from '../datapath/op.js';
import type { Engine, Inputs, KRange, Operand, Session, WordArray } from '../engine/engine.js';
import { InputError } from '../errors.js';
import type { FormatName } from '../formats/table.js';
import type { Campaign } from './campaigns.js';
import { allocateCases, batchOf, type CaseSet, describeCase } from './cases.js';
import { mismatches } from './compare.js';
import { campaignOf, campaignsFor, generateCases } from './generate.js';
import { CaseRandom, streamOf } from './prng.js';
import { type Mismatch, NothingRanError, type OpResult, runBatch, type SuiteResult } from './suite.js';
import { allocateWords, formatWords, itemsPerWord, scaleWords, sparseWords } from './words.js';

export interface TileOptions {
  readonly engine: Engine;
  readonly kernel?: string;
  /** Gives the expected words by its dot products; `engine` itself checks its tiles against its own dots. */
  readonly against: Engine;
  readonly ops: readonly MmaOp[];
  readonly seed?: number;
  /** GEMMs of each op. */
  readonly rounds?: number;
  /** Largest m and n. */
  readonly size?: number;
  /** Instructions along k at most. */
  readonly steps?: number;
  readonly keep?: number;
}

const GUARD = 0x5a5a5a5a;

/** Copies element `from` of one array to element `to` of another. */
function copy(format: FormatName, from: WordArray, i: number, to: WordArray, j: number): void {
  const items = itemsPerWord(format);
  for (let x = 0; x < items; x++) to[j * items + x] = from[i * items + x];
}

/** A rows x cols operand whose element (r, c) is word `at(r, c)` of `words`: either major, padded, off its start. */
function operand(
  random: CaseRandom,
  format: FormatName,
  rows: number,
  cols: number,
  words?: WordArray,
  at: (row: number, col: number) => number = () => 0,
): Operand {
  const pad = random.below(3);
  const offset = random.below(5);
  const byRow = random.bits(1) === 1;
  const [rowStride, colStride] = byRow ? [cols + pad, 1] : [1, rows + pad];
  const length = offset + rows * rowStride + cols * colStride;
  const out = allocateWords(format, length);
  out.fill(GUARD);
  if (words)
    for (let r = 0; r < rows; r++)
      for (let c = 0; c < cols; c++)
        copy(format, words, at(r, c), out, offset + r * rowStride + c * colStride);
  return { format, words: out, offset, rowStride, colStride };
}

/** The chain of k positions cut at random multiples of `step`. */
function chainOf(random: CaseRandom, k: number, step: number): KRange[] {
  const chain: KRange[] = [];
  for (let k0 = 0; k0 < k; ) {
    const k1 = Math.min(k, k0 + step * random.between(1, 4));
    chain.push({ k0, k1 });
    k0 = k1;
  }
  return chain;
}

/** Cuts 0..n in one or two ranges. */
function cuts(random: CaseRandom, n: number): [number, number][] {
  const at = random.below(n + 1);
  return at === 0 || at === n
    ? [[0, n]]
    : [
        [0, at],
        [at, n],
      ];
}

interface Gemm {
  readonly m: number;
  readonly n: number;
  /** Every cell (row-major) as a dot product. */
  readonly cells: CaseSet;
  readonly rows: CaseSet;
  readonly columns: CaseSet;
}

/** Rows of A and columns of B of a campaign, and their products as cells. */
function gemm(
  op: MmaOp,
  campaign: Campaign,
  m: number,
  n: number,
  k: number,
  seed: number,
  round: number,
): Gemm {
  const start = round * 1000;
  const rows = generateCases(op, campaign, { seed, start, count: m, k });
  const columns = generateCases(op, campaign, { seed, start: start + 500, count: n, k });
  const words = allocateCases(op, m * n, k);
  const scales = scaleWords(op, k);
  const metadata = sparseWords(op, k);
  for (let cell = 0; cell < m * n; cell++) {
    const [i, j] = [Math.floor(cell / n), cell % n];
    for (let x = 0; x < k; x++) {
      copy(op.a, rows.a, i * k + x, words.a, cell * k + x);
      copy(op.b, columns.b, j * k + x, words.b, cell * k + x);
    }
    copy(op.c, cell % 2 === 0 ? rows.c : columns.c, cell % 2 === 0 ? i : j, words.c, cell);
    words.scaleA?.set(rows.scaleA!.subarray(i * scales, (i + 1) * scales), cell * scales);
    words.scaleB?.set(columns.scaleB!.subarray(j * scales, (j + 1) * scales), cell * scales);
    words.sparse?.set(rows.sparse!.subarray(i * metadata, (i + 1) * metadata), cell * metadata);
  }
  const cells: CaseSet = {
    op,
    source: `${campaign.name} seed ${seed}, ${m} x ${n} x ${k}`,
    count: m * n,
    k,
    ...words,
    id: (cell) => `row ${Math.floor(cell / n)}, column ${cell % n}`,
  };
  return { m, n, cells, rows, columns };
}

function inputsOf({ m, n, cells, rows, columns }: Gemm, random: CaseRandom): Inputs {
  const { op, k } = cells;
  const scales = scaleWords(op, k);
  const metadata = sparseWords(op, k);
  return {
    m,
    n,
    k,
    a: operand(random, op.a, m, k, rows.a, (r, c) => r * k + c),
    b: operand(random, op.b, k, n, columns.b, (r, c) => c * k + r),
    ...(op.scaling
      ? {
          scaleA: operand(random, op.scaling.format, m, scales, rows.scaleA!, (r, c) => r * scales + c),
          scaleB: operand(random, op.scaling.format, scales, n, columns.scaleB!, (r, c) => c * scales + r),
        }
      : {}),
    ...(rows.sparse
      ? { sparse: operand(random, 's32', m, metadata, rows.sparse, (r, c) => r * metadata + c) }
      : {}),
  };
}

/** Runs the GEMM tile by tile; the cells' words in row-major order, and the words beside the view that changed. */
async function byTiles(
  session: Session,
  work: Gemm,
  random: CaseRandom,
): Promise<{ d: WordArray; spilled: number }> {
  const { m, n, cells } = work;
  const { op, k } = cells;
  const c = operand(random, op.c, m, n, cells.c, (row, col) => row * n + col);
  const d = operand(random, op.d, m, n);
  const loaded = await session.load(inputsOf(work, random));
  const chain = chainOf(random, k, op.k);
  for (const [m0, m1] of cuts(random, m))
    for (const [n0, n1] of cuts(random, n)) await session.tile(loaded, { m0, m1, n0, n1, chain, c, d });
  await session.settle();
  loaded.release();
  const out = allocateWords(op.d, m * n);
  const rest = d.words.slice();
  const items = itemsPerWord(op.d);
  for (let row = 0; row < m; row++)
    for (let col = 0; col < n; col++) {
      const at = d.offset + row * d.rowStride + col * d.colStride;
      copy(op.d, d.words, at, out, row * n + col);
      for (let x = 0; x < items; x++) rest[at * items + x] = GUARD;
    }
  const untouched = allocateWords(op.d, 1).fill(GUARD)[0];
  return { d: out, spilled: rest.filter((word) => word !== untouched).length };
}

async function checkOp(options: TileOptions, op: MmaOp): Promise<OpResult> {
  const { engine, against, kernel, seed = 1, rounds = 4, size = 9, steps = 3, keep = 4 } = options;
  const session = await engine.open(op, kernel === undefined ? {} : { kernel });
  const judge = await against.open(op);
  const names = ['normal', 'window-edge', 'raw-bit', 'specials', 'cancellation', 'independent-bit'];
  const campaigns = names.map(campaignOf).filter((campaign) => campaignsFor(op).includes(campaign));
  const found: Mismatch[] = [];
  const counts = { passed: 0, failed: 0 };
  const sources: string[] = [];
  try {
    for (let round = 0; round < rounds; round++) {
      const random = new CaseRandom(seed, streamOf(`tiles ${op.device} ${op.instruction}`), round);
      const k =
        op.k * random.between(1, steps) - (op.sparsity || random.bits(1) === 0 ? 0 : random.below(op.k));
      const campaign = campaigns[round % campaigns.length];
      const work = gemm(op, campaign, random.between(1, size), random.between(1, size), k, seed, round);
      const { d, spilled } = await byTiles(session, work, random);
      if (spilled > 0)
        throw new InputError(
          `${engine.id} ${op.instruction}: expected d alone to be written, got ${spilled} words beside it`,
        );
      const { cells } = work;
      const expected = await runBatch(judge, batchOf(cells));
      const failed = mismatches(cells, d, expected);
      sources.push(cells.source);
      counts.failed += failed.length;
      counts.passed += cells.count - failed.length;
      for (const i of failed.slice(0, keep - found.length))
        found.push({
          id: cells.id(i),
          source: cells.source,
          inputs: describeCase(cells, i),
          expected: formatWords(op.d, expected, i, 1),
          got: formatWords(op.d, d, i, 1),
        });
    }
    const report = session.report();
    if (Object.values(report.kernels).every((ran) => ran === 0))
      throw new NothingRanError(`engine ${engine.id} reports no kernel that ran ${op.instruction}`);
    return { op, kernel: session.kernel, ...counts, skipped: 0, sources, mismatches: found, report };
  } finally {
    await session.close();
    await judge.close();
  }
}

/**
 * Runs random GEMMs of each op: rows x columns up to `size`, one to `steps` instructions along k with a ragged end,
 * operands in either major with gaps and offsets, tiles cut at random, the chain in random ranges.
 * @throws NothingRanError where the engine ran nothing; InputError where it wrote outside d.
 */
export async function runTiles(options: TileOptions): Promise<SuiteResult> {
  const { engine, kernel, ops } = options;
  const results: OpResult[] = [];
  for (const op of ops) {
    const support = engine.supports(op);
    const reason = !support.ok
      ? support.reason
      : kernel !== undefined && !support.kernels.includes(kernel)
        ? `no kernel ${kernel} for this op, it has ${support.kernels.join(', ')}`
        : undefined;
    results.push(
      reason === undefined
        ? await checkOp(options, op)
        : {
            op,
            kernel: null,
            passed: 0,
            failed: 0,
            skipped: 1,
            reason,
            sources: [],
            mismatches: [],
            report: { kernels: {}, rarePaths: {} },
          },
    );
  }
  const total = (field: 'passed' | 'failed' | 'skipped') =>
    results.reduce((sum, each) => sum + each[field], 0);
  const result = {
    engine: engine.id,
    ops: results,
    passed: total('passed'),
    failed: total('failed'),
    skipped: total('skipped'),
  };
  if (result.passed + result.failed === 0)
    throw new NothingRanError(`engine ${engine.id} ran no tile of ${ops.length} ops`);
  return result;
}
