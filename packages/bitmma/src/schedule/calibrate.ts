import {
  type Engine,
  FORMATS,
  type FormatName,
  type Inputs,
  type MmaOp,
  scaleWordCount,
  sparseWordCount,
} from '@bitmma/core';
import { allocateWords } from '@bitmma/core/formats';
import { cachedSpeed, keepSpeed } from './cache.js';
import { defaultThreads, TilePool } from './pool.js';
import { schedule } from './schedule.js';
import {
  familyOf,
  fitSpeed,
  type ProblemSize,
  predictSeconds,
  type SpeedModel,
  type Timing,
} from './speed.js';
import { TILE_UNIT } from './tiles.js';

/** Square sizes grow until one takes this long. */
const ENOUGH_SECONDS = 0.06;
const SIZES = [64, 128, 256, 512, 1024] as const;
/** Rows and columns of the deep shape, which is all packing where others are all multiplying. */
const NARROW = 4;
const DEEP = 8192;
/** Calls until a just-in-time compiler has settled on the path of small problems. */
const WARM_UPS = 200;

/** An engine's speed on an op's family: from the cache, or measured now (a second or so) and kept. */
export async function speedOf(engine: Engine, op: MmaOp, kernel?: string): Promise<SpeedModel> {
  const name = kernel ?? 'default';
  const family = familyOf(op);
  const known = await cachedSpeed(engine.id, name, family);
  if (known) return known;
  const model = await measure(engine, op, kernel);
  await keepSpeed(engine.id, name, family, model);
  return model;
}

/**
 * Warms the engine up, times one dot product, squares up to one that takes ENOUGH_SECONDS and a deep shape, and fits
 * the model; then worker threads, cold and warm.
 */
async function measure(engine: Engine, op: MmaOp, kernel: string | undefined): Promise<SpeedModel> {
  const whole = (k: number): number => Math.ceil(k / op.k) * op.k;
  const timings: Timing[] = [];
  const time = async (m: number, n: number, k: number, warmUps: number, times: number): Promise<number> => {
    const job = jobOf(engine, op, kernel, { m, n, k });
    const seconds = await timed(job, warmUps, times);
    timings.push({ m, n, k, seconds });
    return seconds;
  };
  // First, so that the kernels are compiled before anything small is timed.
  const square = await time(SIZES[0], SIZES[0], whole(SIZES[0]), 1, 5);
  await time(1, 1, op.k, WARM_UPS, 25);
  await time(NARROW, NARROW, whole(32), 20, 15);
  await time(NARROW, NARROW, whole(DEEP), 1, 5);
  let last = square;
  for (const size of SIZES.slice(1)) {
    if (last > ENOUGH_SECONDS) break;
    last = await time(size, size, whole(size), 1, 3);
  }
  const alone = { ...fitSpeed(timings), pool: 0, start: 0 };
  if (engine.placement !== 'worker' || defaultThreads() < 2) return alone;
  return { ...alone, ...(await measurePool(engine, op, kernel, alone)) };
}

/** What worker threads cost on two tiles of little work, beside that work: the first time, and once they run. */
async function measurePool(
  engine: Engine,
  op: MmaOp,
  kernel: string | undefined,
  alone: SpeedModel,
): Promise<Pick<SpeedModel, 'pool' | 'start'>> {
  const size = { m: 2 * TILE_UNIT, n: TILE_UNIT, k: op.k };
  const pool = new TilePool(2);
  try {
    const job = jobOf(engine, op, kernel, size, { threads: 2, tileMacs: 1, pool });
    const cold = await job();
    const warm = await timed(job, 3, 15);
    const half = predictSeconds(alone, { ...size, m: TILE_UNIT });
    return { pool: Math.max(0, warm - half), start: Math.max(0, cold - warm) };
  } finally {
    await pool.close();
  }
}

/** A function that runs one job and says its seconds. */
function jobOf(
  engine: Engine,
  op: MmaOp,
  kernel: string | undefined,
  size: ProblemSize,
  more: { readonly threads?: number; readonly tileMacs?: number; readonly pool?: TilePool } = {},
): () => Promise<number> {
  const inputs = sampleInputs(op, size.m, size.n, size.k);
  const d = resultOperand(op, size.m, size.n);
  return async () => {
    const run = await schedule({ op, engine, inputs, d, ...(kernel !== undefined && { kernel }), ...more });
    return run.seconds;
  };
}

/** The median of some runs after others; fewer of both where they are slow. */
async function timed(job: () => Promise<number>, warmUps: number, times: number): Promise<number> {
  let spent = 0;
  for (let i = 0; i < warmUps && spent < 2 * ENOUGH_SECONDS; i++) spent += await job();
  const seconds: number[] = [];
  for (spent = 0; seconds.length < times && (seconds.length === 0 || spent < 4 * ENOUGH_SECONDS); ) {
    seconds.push(await job());
    spent += seconds.at(-1)!;
  }
  return seconds.sort((x, y) => x - y)[seconds.length >> 1]!;
}

/** A d operand of fresh shared words, row-major. */
export const resultOperand = (op: MmaOp, m: number, n: number) => ({
  format: op.d,
  words: allocateWords(FORMATS[op.d].wordBits, m * n, true),
  offset: 0,
  rowStride: n,
  colStride: 1,
});

/** Operands of finite, mixed words: every element's exponent field is near the middle of its range. */
export function sampleInputs(op: MmaOp, m: number, n: number, k: number): Inputs {
  let state = 1;
  const next = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state;
  };
  const operand = (format: FormatName, rows: number, columns: number) => {
    const { kind, wordBits } = FORMATS[format];
    const words = allocateWords(wordBits, rows * columns, true);
    for (let i = 0; i < words.length; i++)
      words[i] = kind === 'integer' ? next() >>> 24 : finiteWord(format, next(), i);
    return { format, words, offset: 0, rowStride: columns, colStride: 1 };
  };
  const scales = scaleWordCount(op, k);
  const metadata = op.sparsity ? sparseWordCount(op.sparsity, k) : 0;
  return {
    m,
    n,
    k,
    a: operand(op.a, m, k),
    b: operand(op.b, k, n),
    ...(op.scaling && {
      scaleA: operand(op.scaling.format, m, scales),
      scaleB: operand(op.scaling.format, scales, n),
    }),
    ...(op.sparsity && {
      sparse: {
        format: 's32' as const,
        words: new Uint32Array(new SharedArrayBuffer(m * metadata * 4)).fill(0x44444444),
        offset: 0,
        rowStride: metadata,
        colStride: 1,
      },
    }),
  };
}

/** A word whose exponent field is the bias plus -4..3, whatever the format; fp64's low half is any word. */
function finiteWord(format: FormatName, random: number, item: number): number {
  const f = FORMATS[format];
  if (f.kind === 'exponent') return f.bias - 4 + (random >>> 29);
  if (f.kind === 'integer') return random >>> 24;
  if (f.wordBits === 64 && item % 2 === 0) return random;
  const fractionBits = f.wordBits === 64 ? f.fractionBits - 32 : f.fractionBits + f.droppedBits;
  const top = (1 << f.exponentBits) - 2;
  const x = Math.max(0, Math.min(top, f.bias - 4 + (random >>> 29)));
  const sign = f.signed ? (random >>> 28) & 1 : 0;
  return (
    (sign * 2 ** (f.exponentBits + fractionBits) + x * 2 ** fractionBits + (random % 2 ** fractionBits)) >>> 0
  );
}
