import { opHash } from '@bitmma/core';
import { chooseEngine } from '../../engines.js';
import { type Listener, silent } from '../../events.js';
import { compensatedProduct } from '../compensated.js';
import { PointFile, type Row } from '../points.js';
import { asSingles } from '../product.js';
import { contenders } from './contenders.js';
import { type Dataset, quantise } from './dataset.js';

export interface AccumulationOptions {
  readonly datasets: readonly Dataset[];
  /** Depths to measure; those beyond a data set's K are left out. Default: powers of two from 32, and K itself. */
  readonly k?: readonly number[];
  readonly engine?: string;
  /** CSV of finished points; absent: none is kept. */
  readonly points?: string;
  readonly signal?: AbortSignal;
  readonly on?: Listener;
}

/** Errors of one accumulation over the first k positions, against the fp64 product r of the same FP8 operands. */
export interface AccumulationPoint {
  readonly data: string;
  readonly contender: string;
  readonly k: number;
  /** ||d - r||_F / ||r||_F. */
  readonly error: number;
  /** Sum of d - r over the sum of |r|: below zero means toward minus infinity. */
  readonly bias: number;
  /** Sum of |d| - |r| over the sum of |r|: below zero means toward zero. */
  readonly shrinkage: number;
}

/** Points of every data set, depth and contender, in that order. */
export async function accumulation(options: AccumulationOptions): Promise<AccumulationPoint[]> {
  const { datasets, on = silent, signal } = options;
  const all = contenders();
  const file = new PointFile(
    options.points ?? null,
    ['data', 'contender', 'k', 'operands', 'op'],
    ['error', 'bias', 'shrinkage'],
  );
  const jobs = datasets.flatMap((data) => {
    const depths = options.k ?? depthsOf(data.k);
    return depths.filter((k) => k <= data.k).flatMap((k) => all.map((contender) => ({ data, k, contender })));
  });
  const total = jobs.reduce((sum, { data, k }) => sum + data.rows * data.columns * k, 0);
  const quantised = new Map<string, ReturnType<typeof quantise>>();
  const operandOf = (data: Dataset, side: 'a' | 'b', format: Parameters<typeof quantise>[1]) => {
    const key = `${data.name} ${side} ${format}`;
    const known = quantised.get(key) ?? quantise(data[side], format);
    quantised.set(key, known);
    return known;
  };
  const rows: Row[] = [];
  let done = 0;
  for (const { data, k, contender } of jobs) {
    const { op, label } = contender;
    const a = operandOf(data, 'a', op.a);
    const b = operandOf(data, 'b', op.b);
    const key = {
      data: data.name,
      contender: label,
      k,
      operands: fingerprint(a.words, b.words),
      op: opHash(op).slice(0, 8),
    };
    if (file.get(key) === undefined) {
      const shape = { m: data.rows, n: data.columns, k, stride: data.k };
      const engine = await chooseEngine(options.engine, op, on);
      const d = asSingles(await contender.run({ a: a.words, b: b.words, ...shape }, engine, signal));
      file.add({ ...key, ...errorsOf(d, a.doubles, b.doubles, shape) });
    }
    rows.push(file.get(key)!);
    done += data.rows * data.columns * k;
    on({ kind: 'progress', phase: 'accumulation', done, total });
  }
  await file.finish(rows);
  return rows.map((row) => ({
    data: String(row.data),
    contender: String(row.contender),
    k: Number(row.k),
    error: Number(row.error),
    bias: Number(row.bias),
    shrinkage: Number(row.shrinkage),
  }));
}

/** Powers of two from 32 up to k, and k. */
function depthsOf(k: number): number[] {
  const depths: number[] = [];
  for (let depth = 32; depth < k; depth *= 2) depths.push(depth);
  return [...depths, k];
}

function errorsOf(
  d: Float32Array,
  a: Float64Array,
  b: Float64Array,
  { m, n, k, stride }: { m: number; n: number; k: number; stride: number },
): Pick<AccumulationPoint, 'error' | 'bias' | 'shrinkage'> {
  const prefix = (values: Float64Array, lines: number): Float64Array => {
    const out = new Float64Array(lines * k);
    for (let line = 0; line < lines; line++)
      out.set(values.subarray(line * stride, line * stride + k), line * k);
    return out;
  };
  const r = compensatedProduct(prefix(a, m), prefix(b, n), m, n, k);
  let [squares, norm, signed, magnitude, size] = [0, 0, 0, 0, 0];
  for (const [i, exact] of r.entries()) {
    const difference = d[i]! - exact;
    squares += difference * difference;
    norm += exact * exact;
    signed += difference;
    magnitude += Math.abs(d[i]!) - Math.abs(exact);
    size += Math.abs(exact);
  }
  return { error: Math.sqrt(squares / norm), bias: signed / size, shrinkage: magnitude / size };
}

/** FNV-1a over both operands' words. */
function fingerprint(...parts: readonly Uint8Array[]): string {
  let hash = 0x811c9dc5;
  for (const part of parts) for (const byte of part) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, '0');
}
