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
import { schedule } from './schedule.js';
import { familyOf, fitSpeed, type SpeedModel } from './speed.js';

/** The larger size grows until it takes this long; the whole calibration of a slow engine stays below a second. */
const ENOUGH_SECONDS = 0.06;
const SIZES = [64, 128, 256, 512, 1024] as const;

/** An engine's speed on an op's family: from the cache, or measured now (at most a second) and kept. */
export async function speedOf(engine: Engine, op: MmaOp, kernel?: string): Promise<SpeedModel> {
  const name = kernel ?? 'default';
  const family = familyOf(op);
  const known = await cachedSpeed(engine.id, name, family);
  if (known) return known;
  const model = await measure(engine, op, kernel);
  await keepSpeed(engine.id, name, family, model);
  return model;
}

/** Times a tiny GEMM and the first size that takes ENOUGH_SECONDS; each the median of three after one warm-up. */
async function measure(engine: Engine, op: MmaOp, kernel: string | undefined): Promise<SpeedModel> {
  const depth = Math.max(op.k, 32);
  const small = await timed(engine, op, kernel, 4, depth, 5);
  let last = small;
  let macs = 16 * depth;
  for (const size of SIZES) {
    const k = Math.ceil(Math.max(size, op.k) / op.k) * op.k;
    last = await timed(engine, op, kernel, size, k, 3);
    macs = size * size * k;
    if (last > ENOUGH_SECONDS) break;
  }
  return fitSpeed([16 * depth, small], [macs, last]);
}

async function timed(
  engine: Engine,
  op: MmaOp,
  kernel: string | undefined,
  size: number,
  k: number,
  times: number,
) {
  const inputs = sampleInputs(op, size, size, k);
  const d = resultOperand(op, size, size);
  const seconds: number[] = [];
  for (let i = 0; i <= times; i++) {
    const run = await schedule({ op, engine, inputs, d, ...(kernel !== undefined && { kernel }) });
    // The first run pays for compilation once and is left out, unless it is slow already.
    if (i > 0 || run.seconds > 10 * ENOUGH_SECONDS) seconds.push(run.seconds);
    if (run.seconds > 10 * ENOUGH_SECONDS) break;
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
