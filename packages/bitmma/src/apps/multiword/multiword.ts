import {
  defaultOp,
  type Engine,
  findDevice,
  InputError,
  type MmaOp,
  opHash,
  type WordArray,
} from '@bitmma/core';
import { chooseEngine } from '../../engines.js';
import { type Listener, silent } from '../../events.js';
import { compensatedProduct } from '../compensated.js';
import { PointFile } from '../points.js';
import { asSingles, deviceProduct, type ProductRequest, type WordLines } from '../product.js';
import { Doubles } from '../random.js';
import { columnNorm, combine, rowNorm } from './combine.js';
import { type Split, scaleWords, splitLines, unitRoundoff, type WordFormat } from './split.js';

/** The three formats of the study; e5m2 is e5m2fnuz where the device has that instead. */
export type StudyFormat = 'fp16' | 'bf16' | 'e5m2';

/**
 * separate: every product A_i B_j from +0, products added in fp32 outside the device, smallest scale first.
 * chained: u^(i+j-2) A_i in the format's own words, and each product goes on from the accumulator of the one before,
 * i outer, j inner, largest scale first.
 */
export type Order = 'separate' | 'chained';

export interface MultiwordOptions {
  readonly format: StudyFormat;
  readonly words?: readonly number[];
  readonly devices?: readonly string[];
  /** Datapaths of your own beside the devices, each under its op's `device`. */
  readonly ops?: readonly MmaOp[];
  /** Inner dimensions. */
  readonly n?: readonly number[];
  readonly order?: Order;
  /** Magnitudes are 10^x, x uniform on [-decades, decades). */
  readonly decades?: number;
  readonly seed?: number;
  readonly engine?: string;
  /** CSV of finished points; absent: none is kept. */
  readonly points?: string;
  readonly signal?: AbortSignal;
  readonly on?: Listener;
}

/** Relative norm-wise error of one product. */
export interface MultiwordPoint {
  readonly device: string;
  readonly format: string;
  readonly words: number;
  readonly n: number;
  readonly error: number;
}

/** Words and devices of the figures; half decades of n. */
export const STUDY: Readonly<
  Record<StudyFormat, { readonly words: readonly number[]; readonly devices: readonly string[] }>
> = {
  e5m2: { words: [1, 4, 6], devices: ['b200', 'mi300x'] },
  fp16: { words: [1, 2, 3], devices: ['v100', 'b200', 'mi100', 'mi250', 'mi300x'] },
  bf16: { words: [1, 2, 3], devices: ['b200', 'mi100', 'mi250', 'mi300x'] },
};
export const HALF_DECADES: readonly number[] = Array.from({ length: 11 }, (_, i) =>
  Math.floor(10 ** (1 + i / 2) + 1e-6),
);

/** Rows of A and columns of B. */
export const ROWS = 10;
const MOST_WORDS = 8;

interface Contender {
  readonly device: string;
  readonly op: MmaOp;
  readonly engine: Engine;
}

/**
 * Errors of multi-word products of a 10 x n and an n x 10 matrix on emulated devices: ||C' - C|| / (||A|| ||B||) in the
 * infinity norm, C the compensated fp64 product. Points come n by n, and within it as the devices and words were named.
 * InputError for a device without the format, an op of your own of other operands, or a name given twice.
 */
export async function multiword(options: MultiwordOptions): Promise<MultiwordPoint[]> {
  const { format, order = 'separate', decades = 10, seed = 1, on = silent, signal } = options;
  const words = options.words ?? STUDY[format].words;
  const sizes = options.n ?? HALF_DECADES;
  for (const p of words)
    if (!Number.isInteger(p) || p < 1 || p > MOST_WORDS)
      throw new InputError(`words: expected whole numbers of 1 to ${MOST_WORDS}, got ${p}`);
  for (const n of sizes)
    if (!Number.isInteger(n) || n < 1 || n > 1e7)
      throw new InputError(`n: expected whole numbers of 1 to 10000000, got ${n}`);
  const contenders = await openContenders(options.devices ?? STUDY[format].devices, format, options);
  const file = new PointFile(
    options.points ?? null,
    ['format', 'device', 'words', 'n', 'order', 'decades', 'seed', 'op'],
    ['error'],
  );
  const keyOf = ({ device, op }: Contender, p: number, n: number) => ({
    format: op.a,
    device,
    words: p,
    n,
    order,
    decades,
    seed,
    op: opHash(op).slice(0, 8),
  });

  const total = sizes.reduce((sum, n) => sum + n, 0) * contenders.length;
  let before = 0;
  for (const n of sizes) {
    const missing = contenders.filter((one) => words.some((p) => file.get(keyOf(one, p, n)) === undefined));
    let done = (contenders.length - missing.length) * n;
    if (missing.length > 0) {
      const problem = makeProblem(n, decades, seed);
      const splits = new Map<WordFormat, readonly [Split, Split]>();
      for (const one of missing) {
        const own = one.op.a as WordFormat;
        const split = splits.get(own) ?? splitBoth(problem, own, Math.max(...words));
        splits.set(own, split);
        const start = done;
        const errors = await errorsOf(problem, split, one, words, order, signal, (fraction) => {
          on({ kind: 'progress', phase: `${format}, n = ${n}`, done: before + start + fraction * n, total });
        });
        for (const [i, p] of words.entries()) file.add({ ...keyOf(one, p, n), error: errors[i]! });
        done += n;
      }
    }
    before += contenders.length * n;
  }
  const rows = sizes.flatMap((n) =>
    contenders.flatMap((one) => words.map((p) => file.get(keyOf(one, p, n))!)),
  );
  await file.finish(rows);
  return rows.map((row) => ({
    device: String(row.device),
    format: String(row.format),
    words: Number(row.words),
    n: Number(row.n),
    error: Number(row.error),
  }));
}

async function openContenders(
  devices: readonly string[],
  format: StudyFormat,
  { ops = [], engine, on = silent }: MultiwordOptions,
): Promise<Contender[]> {
  const named = devices.map((name) => {
    const device = findDevice(name);
    const own = format === 'e5m2' && device.vendor === 'amd' ? 'e5m2fnuz' : format;
    return defaultOp(device.id, { a: own, b: own, accumulate: 'fp32' });
  });
  for (const op of ops) checkOwn(op, format);
  const contenders = new Map<string, Contender>();
  for (const op of [...named, ...ops]) {
    const { device } = op;
    if (contenders.has(device)) throw new InputError(`expected each device once, got ${device} twice`);
    contenders.set(device, { device, op, engine: await chooseEngine(engine, op, on) });
  }
  return [...contenders.values()];
}

/** An op of the user's own must take the study's words, and its name must be a cell of a CSV file. */
function checkOwn({ device, a, b, d, scaling, sparsity }: MmaOp, format: StudyFormat): void {
  const takes = a === format || (format === 'e5m2' && a === 'e5m2fnuz');
  if (!takes || b !== a || d !== 'fp32' || scaling !== null || sparsity !== null)
    throw new InputError(
      `${device}: expected a dense datapath of ${format} x ${format} -> fp32, got ${a} x ${b} -> ${d}` +
        `${scaling === null ? '' : ', block-scaled'}${sparsity === null ? '' : ', sparse'}`,
    );
  if (/[,\s|]/.test(device))
    throw new InputError(`device: expected a name without commas, bars and spaces, got ${device}`);
}

/** A (rows) and B (columns) as lines of n doubles, their product and the norms that errors are relative to. */
interface Problem {
  readonly n: number;
  readonly a: Float64Array;
  readonly b: Float64Array;
  readonly product: Float64Array;
  readonly norm: number;
}

function makeProblem(n: number, decades: number, seed: number): Problem {
  const lines = (name: string): Float64Array => {
    const values = new Float64Array(ROWS * n);
    for (let line = 0; line < ROWS; line++) {
      const random = new Doubles(seed, `multiword ${name} ${n}`, line);
      for (let p = 0; p < n; p++) values[line * n + p] = random.logUniform(decades);
    }
    return values;
  };
  const a = lines('A');
  const b = lines('B');
  const product = compensatedProduct(a, b, ROWS, ROWS, n);
  return { n, a, b, product, norm: rowNorm(a, ROWS, n) * columnNorm(b, ROWS, n) };
}

const splitBoth = ({ a, b, n }: Problem, format: WordFormat, count: number): readonly [Split, Split] => [
  splitLines(a, ROWS, n, format, count),
  splitLines(b, ROWS, n, format, count),
];

/** The error of each word count. */
async function errorsOf(
  problem: Problem,
  split: readonly [Split, Split],
  { op, engine }: Contender,
  words: readonly number[],
  order: Order,
  signal: AbortSignal | undefined,
  onFraction: (fraction: number) => void,
): Promise<number[]> {
  const { n } = problem;
  const most = Math.max(...words);
  const pairs = (p: number) => (p * (p + 1)) / 2;
  const all = order === 'separate' ? pairs(most) : words.reduce((sum, p) => sum + pairs(p), 0);
  let macs = 0;
  const onDone = (more: number) => {
    macs += more;
    onFraction(macs / (all * ROWS * ROWS * n));
  };
  const run = { op, engine, m: ROWS, k: n, signal, onDone };
  const [a, b] = split;
  if (order === 'separate') {
    const products = await separateProducts(run, a, b, most);
    return words.map((p) => relativeError(problem, combine(products, p, a, b)));
  }
  const errors: number[] = [];
  for (const p of words)
    errors.push(relativeError(problem, combine([[await chainedProduct(run, a, b, p)]], 1, a, b)));
  return errors;
}

type Run = Omit<ProductRequest, 'a' | 'b' | 'n'>;

/** A_i B_j of all i + j < count (from 0): one product of A_i and the words of B side by side for each i. */
async function separateProducts(run: Run, a: Split, b: Split, count: number): Promise<Float32Array[][]> {
  const products: Float32Array[][] = [];
  for (let i = 0; i < count; i++) {
    const columns = (count - i) * ROWS;
    const d = asSingles(await deviceProduct({ ...run, n: columns, a: wordOf(a, i), b: wordOf(b, 0) }));
    products.push(
      Array.from({ length: count - i }, (_, j) =>
        Float32Array.from(
          { length: ROWS * ROWS },
          (__, e) => d[Math.floor(e / ROWS) * columns + j * ROWS + (e % ROWS)]!,
        ),
      ),
    );
  }
  return products;
}

/** The accumulator of one product is the addend of the next; scales are in the words of A. */
async function chainedProduct(run: Run, a: Split, b: Split, count: number): Promise<Float32Array> {
  const u = unitRoundoff(a.format);
  let c: WordArray | undefined;
  for (let i = 0; i < count; i++)
    for (let j = 0; i + j < count; j++) {
      const { words, offset } = wordOf(a, i);
      const own = words.subarray(offset, offset + ROWS * run.k);
      const scaled = { words: scaleWords(own, a.format, u ** (i + j)), offset: 0, stride: run.k };
      c = await deviceProduct({ ...run, n: ROWS, a: scaled, b: wordOf(b, j), ...(c && { c }) });
    }
  return asSingles(c!);
}

const wordOf = ({ words, lines, n }: Split, i: number): WordLines => ({
  words,
  offset: i * lines * n,
  stride: n,
});

function relativeError({ product, norm }: Problem, computed: Float64Array): number {
  const difference = computed.map((value, e) => value - product[e]!);
  return rowNorm(difference, ROWS, ROWS) / norm;
}
