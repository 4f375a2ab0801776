import { type Engine, InputError, type Loaded, type Operand, type Session } from '@bitmma/core';
import { referenceEngine } from '@bitmma/core/reference';
import { ContractTypeError, ContractValueError, type OnWarning } from './errors.js';
import type { Combination, Plan, Split } from './plan.js';
import { makePlan } from './plan.js';
import type { Fp8, Preset, SplitScheme } from './presets.js';
import { findPreset } from './presets.js';
import { findProfile } from './profiles.js';
import { lookUpSplit, type SplitTable } from './split-table.js';
import { type Fp32Vectors, vectorsFor } from './vectors.js';

/** A two-dimensional FP8 operand: words, and strides and offset in elements. */
export interface Fp8Matrix {
  readonly format: string;
  readonly words: Uint8Array;
  readonly shape: readonly [number, number];
  readonly strides: readonly [number, number];
  readonly offset?: number;
}

export type SplitK = 'auto' | number | readonly [number, SplitScheme];

export interface AccumulateOptions {
  /** One chain over K, or a restart every 128. Always explicit. */
  readonly useFastAccum: boolean;
  /** Default 1: one split. 'auto' asks `splitTables`. */
  readonly splitK?: SplitK;
  /** A preset, or its profile's: default hopper. */
  readonly preset?: string;
  readonly profile?: string;
  readonly splitTables?: readonly SplitTable[];
  /** Default: the reference engine. */
  readonly engine?: Engine;
  /** fp32 vectors; default: those that go with the engine. */
  readonly vectors?: Fp32Vectors;
  readonly signal?: AbortSignal;
  readonly onWarning?: OnWarning;
  /** Called after each tile with the fraction done. */
  readonly onProgress?: (done: number) => void;
}

/** Rows and columns of one engine call: wide, so that a strip of A is packed for few calls; measured on native. */
const TILE_ROWS = 128;
const TILE_COLUMNS = 4096;

export const isFp8 = (format: string): format is Fp8 => format === 'e4m3' || format === 'e5m2';

/**
 * The fp32 accumulator of a @ b.T (a is [M, K], b is [N, K]) before any scale: M x N words, row-major. Any K, padded
 * with zeros; any layout. Throws ContractTypeError for a format that is not FP8, ContractValueError where the K differ.
 */
export async function accumulate(
  a: Fp8Matrix,
  b: Fp8Matrix,
  options: AccumulateOptions,
): Promise<Uint32Array> {
  if (typeof options?.useFastAccum !== 'boolean')
    throw new ContractTypeError(`useFastAccum: expected true or false, got ${String(options?.useFastAccum)}`);
  for (const [name, x] of Object.entries({ a, b }))
    if (!isFp8(x.format)) throw new ContractTypeError(`${name}: expected e4m3 or e5m2, got ${x.format}`);
  const [m, k] = a.shape;
  const [n, bk] = b.shape;
  if (k !== bk) throw new ContractValueError(`K: expected a and b of one K, got ${k} and ${bk}`);
  const profile = findProfile(options.profile);
  const preset = options.preset === undefined ? profile.preset : findPreset(options.preset);
  const split = resolveSplit(options.splitK ?? 1, () =>
    lookUpSplit(
      { m, n, k, a: a.format as Fp8, b: b.format as Fp8, out: 'fp32', fastAccum: options.useFastAccum },
      profile,
      options.splitTables ?? [],
    ),
  );
  if (preset.maturity === 'experimental')
    options.onWarning?.({ kind: 'experimental', message: `preset ${preset.name} is experimental` });
  const plan = makePlan({ preset, k, useFastAccum: options.useFastAccum, split });
  for (const warning of plan.warnings) options.onWarning?.(warning);
  return runPlan(preset, plan, a, b, options);
}

/** An explicit splitK, or what `look` finds for 'auto'. */
export function resolveSplit(splitK: SplitK, look: () => Split): Split {
  if (splitK === 'auto') return look();
  if (typeof splitK === 'number') {
    if (splitK !== 1)
      throw new ContractValueError(
        `splitK: expected 1, or S with its scheme, got ${splitK} without a scheme`,
      );
    return { count: 1, scheme: null };
  }
  return { count: splitK[0], scheme: splitK[1] };
}

type RunOptions = Pick<AccumulateOptions, 'engine' | 'vectors' | 'signal' | 'onProgress'>;

/** Runs a plan tile by tile: each chain on the engine from +0, combined in fp32. */
export async function runPlan(
  preset: Preset,
  plan: Plan,
  a: Fp8Matrix,
  b: Fp8Matrix,
  options: RunOptions,
): Promise<Uint32Array> {
  const op = preset.op(a.format as Fp8, b.format as Fp8);
  const engine = options.engine ?? referenceEngine();
  const [m] = a.shape;
  const [n] = b.shape;
  const result = new Uint32Array(new SharedArrayBuffer(m * n * 4));
  if (m === 0 || n === 0 || plan.k === 0) return result;
  const support = engine.supports(op);
  if (!support.ok)
    throw new InputError(`engine ${engine.id} does not run ${op.instruction}: ${support.reason}`);
  const vectors = options.vectors ?? (await vectorsFor(engine));
  const session = await engine.open(op, options.signal ? { signal: options.signal } : {});
  try {
    const loaded = await session.load({ m, n, k: plan.k, a: operand(a), b: transposed(b) });
    const tiles = Math.ceil(m / TILE_ROWS) * Math.ceil(n / TILE_COLUMNS);
    const buffers: Uint32Array[] = [];
    let done = 0;
    for (let m0 = 0; m0 < m; m0 += TILE_ROWS)
      for (let n0 = 0; n0 < n; n0 += TILE_COLUMNS) {
        const tile = { m0, m1: Math.min(m0 + TILE_ROWS, m), n0, n1: Math.min(n0 + TILE_COLUMNS, n) };
        await runTile(session, loaded, plan, tile, { words: result, columns: n }, vectors, buffers);
        options.onProgress?.(++done / tiles);
      }
    loaded.release();
  } finally {
    await session.close();
  }
  vectors.canonicalise(result);
  return result;
}

interface Bounds {
  readonly m0: number;
  readonly m1: number;
  readonly n0: number;
  readonly n1: number;
}

async function runTile(
  session: Session,
  loaded: Loaded,
  plan: Plan,
  bounds: Bounds,
  result: { words: Uint32Array; columns: number },
  vectors: Fp32Vectors,
  buffers: Uint32Array[],
): Promise<void> {
  const rows = bounds.m1 - bounds.m0;
  const columns = bounds.n1 - bounds.n0;
  const run = async (chain: number, words: Uint32Array, rowStride: number, offset: number) => {
    const ranges = plan.chains[chain]!;
    const d: Operand = { format: 'fp32', words, offset, rowStride, colStride: 1 };
    if (ranges.length > 0) await session.tile(loaded, { ...bounds, chain: ranges, d });
    await session.settle();
  };
  const { combination } = plan;
  if (combination.kind === 'chain') return run(combination.chain, result.words, result.columns, 0);

  // A tile of its own: element (i, j) of the result at (i - m0) * columns + (j - n0).
  const offset = -(bounds.m0 * columns + bounds.n0);
  const buffer = (depth: number): Uint32Array => {
    buffers[depth] ??= new Uint32Array(
      new SharedArrayBuffer(TILE_ROWS * Math.min(result.columns, TILE_COLUMNS) * 4),
    );
    return buffers[depth].subarray(0, rows * columns);
  };
  // Each part is computed in the buffer one level down and added before the next one takes that buffer.
  const evaluate = async (c: Combination, depth: number): Promise<Uint32Array> => {
    const into = buffer(depth);
    if (c.kind === 'chain') {
      if (plan.chains[c.chain]!.length === 0) into.fill(0);
      else await run(c.chain, into, columns, offset);
      return into;
    }
    const [first, ...rest] = c.parts;
    if (c.from === 'zero' || first === undefined) into.fill(0);
    else await evaluate(first, depth);
    for (const part of c.from === 'zero' ? c.parts : rest)
      vectors.addInto(into, await evaluate(part, depth + 1));
    return into;
  };
  const words = await evaluate(combination, 0);
  for (let i = 0; i < rows; i++)
    result.words.set(
      words.subarray(i * columns, (i + 1) * columns),
      (bounds.m0 + i) * result.columns + bounds.n0,
    );
}

const operand = (x: Fp8Matrix): Operand => ({
  format: x.format as Fp8,
  words: x.words,
  offset: x.offset ?? 0,
  rowStride: x.strides[0],
  colStride: x.strides[1],
});

const transposed = (x: Fp8Matrix): Operand => ({
  ...operand(x),
  rowStride: x.strides[1],
  colStride: x.strides[0],
});
