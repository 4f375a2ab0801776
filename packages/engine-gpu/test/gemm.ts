import {
  allocateWords,
  type Engine,
  FORMATS,
  type FormatName,
  type Inputs,
  type KRange,
  type MmaOp,
  type Operand,
  scaleWordCount,
  sparseWordCount,
} from '@bitmma/core';

/** xorshift32: the operands of a test depend on its seed alone. */
export function random(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

/** A word of moderate exponent, so that sums neither overflow nor drown. */
function moderate(format: FormatName, next: () => number): number {
  switch (format) {
    case 'fp16':
      return (next() & 0x83ff) | ((12 + (next() % 6)) << 10);
    case 'bf16':
      return (next() & 0x807f) | ((124 + (next() % 6)) << 7);
    case 'tf32':
    case 'fp32':
      return ((next() & 0x807fffff) | ((124 + (next() % 6)) << 23)) >>> 0;
    case 's32':
      return next();
    case 'e2m1':
      return next() & 15;
    case 'e2m3':
    case 'e3m2':
      return next() & 63;
    case 'ue8m0':
      return 120 + (next() % 14);
    case 'ue4m3':
      return 0x30 + (next() % 20);
    case 's8':
    case 'u8':
      return next() & 255;
    default:
      return next() & 0xbf;
  }
}

/** A rows x cols operand at an offset of 3, row- or column-major. */
export function operand(
  format: FormatName,
  rows: number,
  cols: number,
  byColumn: boolean,
  next: () => number,
): Operand {
  const words = allocateWords(FORMATS[format].wordBits, rows * cols + 5);
  for (let i = 0; i < words.length; i++) words[i] = moderate(format, next);
  return { format, words, offset: 3, rowStride: byColumn ? 1 : cols, colStride: byColumn ? rows : 1 };
}

const SELECTORS = {
  '1:2': [4, 14],
  '2:4': [4, 8, 12, 9, 13, 6, 14],
  '4:8-pairs': [4, 8, 12, 9, 13, 6, 14],
} as const;

export function inputsOf(op: MmaOp, m: number, n: number, k: number, seed: number): Inputs {
  const next = random(seed);
  const scales = scaleWordCount(op, k);
  const inputs: Inputs = {
    m,
    n,
    k,
    a: operand(op.a, m, k, (next() & 1) === 1, next),
    b: operand(op.b, k, n, (next() & 1) === 1, next),
    ...(op.scaling
      ? {
          scaleA: operand(op.scaling.format, m, scales, false, next),
          scaleB: operand(op.scaling.format, scales, n, true, next),
        }
      : {}),
  };
  if (op.sparsity === null) return inputs;
  const legal = SELECTORS[op.sparsity];
  const width = sparseWordCount(op.sparsity, k);
  const words = Uint32Array.from({ length: m * width }, () => {
    let word = 0;
    for (let i = 0; i < 8; i++) word |= legal[next() % legal.length] << (4 * i);
    return word;
  });
  return { ...inputs, sparse: { format: 's32', words, offset: 0, rowStride: width, colStride: 1 } };
}

export interface Job {
  readonly m0: number;
  readonly m1: number;
  readonly n0: number;
  readonly n1: number;
  readonly chain: readonly KRange[];
}

/** Runs tiles of one GEMM and gives d, column-major; cells outside the tiles keep a pattern. */
export async function runTiles(
  engine: Engine,
  op: MmaOp,
  inputs: Inputs,
  c: Operand | null,
  jobs: readonly Job[],
) {
  const { m, n } = inputs;
  const words = allocateWords(FORMATS[op.d].wordBits, m * n);
  words.fill(0xa5a5a5a5);
  const session = await engine.open(op);
  const loaded = await session.load(inputs);
  try {
    const d: Operand = { format: op.d, words, offset: 0, rowStride: 1, colStride: m };
    for (const job of jobs) await session.tile(loaded, { ...job, ...(c ? { c } : {}), d });
    await session.settle();
  } finally {
    loaded.release();
    await session.close();
  }
  return words;
}
