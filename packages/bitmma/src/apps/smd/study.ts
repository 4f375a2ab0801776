import { defaultOp, findDevice, InputError, opHash } from '@bitmma/core';
import { chooseEngine } from '../../engines.js';
import { type Listener, silent } from '../../events.js';
import { PointFile, type Row } from '../points.js';
import { multiplyDouble, multiplyOn } from './multiply.js';
import { diagonalAt, parahermitian } from './polynomial.js';
import { smd } from './smd.js';

export interface SmdStudyOptions {
  readonly formats?: readonly ('fp16' | 'bf16')[];
  readonly devices?: readonly string[];
  readonly size?: number;
  /** Polynomial order, even: lags -order/2 to order/2. */
  readonly order?: number;
  readonly epsilon?: number;
  readonly mu?: number;
  readonly iterations?: number;
  readonly seed?: number;
  /** Frequencies from 0 to pi. */
  readonly frequencies?: number;
  readonly engine?: string;
  /** CSV of finished runs; absent: none is kept. */
  readonly points?: string;
  readonly signal?: AbortSignal;
  readonly on?: Listener;
}

/** Largest and smallest diagonal element of S at one frequency after one run. */
export interface SmdPoint {
  /** `fp64` is the double-precision run. */
  readonly device: string;
  readonly format: string;
  /** Normalised frequency, Omega / pi. */
  readonly omega: number;
  readonly eigenvalue: number;
  readonly condition: number;
}

export const SMD_DEVICES: readonly string[] = ['b200', 'mi100', 'mi210', 'mi300x'];

/** Eigenvalues over frequency by SMD in fp64 and with its products on each device, run by run. */
export async function smdStudy(options: SmdStudyOptions): Promise<SmdPoint[]> {
  const { size = 8, order = 8, epsilon = 1e-4, mu = 1e-4, iterations = 250, seed = 1 } = options;
  const {
    formats = ['fp16', 'bf16'],
    devices = SMD_DEVICES,
    frequencies = 129,
    on = silent,
    signal,
  } = options;
  if (!Number.isInteger(order / 2) || order < 2)
    throw new InputError(`order: expected an even number of at least 2, got ${order}`);
  const r = parahermitian(size, order, seed);
  const problem = [size, order, epsilon, mu, iterations, seed, frequencies].join(' ');
  const file = new PointFile(
    options.points ?? null,
    ['format', 'device', 'problem', 'op', 'omega'],
    ['eigenvalue', 'condition', 'iterations', 'offDiagonal'],
  );
  const runs = [
    { format: 'fp64', device: 'fp64', op: null },
    ...formats.flatMap((format) =>
      devices.map((name) => {
        const device = findDevice(name).id;
        return { format, device, op: defaultOp(device, { a: format, b: format, accumulate: 'fp32' }) };
      }),
    ),
  ];
  const rows: Row[] = [];
  for (const [index, { format, device, op }] of runs.entries()) {
    const keys = Array.from({ length: frequencies }, (_, i) => ({
      format,
      device,
      problem,
      op: op === null ? 'double' : opHash(op).slice(0, 8),
      omega: i / (frequencies - 1),
    }));
    if (keys.some((key) => file.get(key) === undefined)) {
      const multiply =
        op === null ? multiplyDouble : multiplyOn(op, await chooseEngine(options.engine, op, on), signal);
      const result = await smd(r, {
        epsilon,
        mu,
        iterations,
        multiply,
        signal,
        onIteration: (done) =>
          on({
            kind: 'progress',
            phase: `${device} ${format}`,
            done: index * iterations + done,
            total: runs.length * iterations,
          }),
      });
      for (const key of keys) {
        const values = diagonalAt(result.s, Math.PI * key.omega);
        const eigenvalue = Math.max(...values);
        const condition = eigenvalue / Math.min(...values);
        const { iterations: done, offDiagonal } = result;
        file.add({ ...key, eigenvalue, condition, iterations: done, offDiagonal });
      }
    }
    rows.push(...keys.map((key) => file.get(key)!));
  }
  await file.finish(rows);
  return rows.map((row) => ({
    device: String(row.device),
    format: String(row.format),
    omega: Number(row.omega),
    eigenvalue: Number(row.eigenvalue),
    condition: Number(row.condition),
  }));
}

/** |lambda - lambda of the other run| at each frequency. */
export function eigenvalueDifferences(
  points: readonly SmdPoint[],
  left: { device: string; format: string },
  right: { device: string; format: string },
): { omega: number; difference: number }[] {
  const of = ({ device, format }: { device: string; format: string }) =>
    points.filter((point) => point.device === device && point.format === format);
  const others = of(right);
  return of(left).map(({ omega, eigenvalue }, i) => ({
    omega,
    difference: Math.abs(eigenvalue - others[i]!.eigenvalue),
  }));
}
