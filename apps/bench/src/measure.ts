import { catalogHash, type Engine, opHash } from '@bitmma/core';
import { engineBuild, resultOperand, sampleInputs } from 'bitmma/schedule';
import { Bench } from 'tinybench';
import { benchVersion } from './bench-version.js';
import { conforms } from './gate.js';
import { type BenchMachine, benchMachine } from './machine.js';
import { loadSgemm } from './openblas.js';
import { median, medianInterval } from './stats.js';
import type { Workload } from './workloads.js';

/** One contender on one workload, with everything that a later comparison must know. */
export interface BenchRecord {
  readonly version: 2;
  readonly workload: string;
  /** Hash of the workload's definition and of the measuring code: other bytes, another series. */
  readonly benchVersion: string;
  readonly engine: string;
  readonly kernel: string;
  readonly build: string;
  readonly commit: string;
  readonly catalogHash: string;
  readonly opHash: string;
  readonly machine: BenchMachine;
  readonly date: string;
  readonly macs: number;
  /** Seconds, one a round, in order. */
  readonly samples: readonly number[];
  /** Seconds of OpenBLAS sgemm in the same rounds; null where the system has none. */
  readonly sgemm: readonly number[] | null;
  readonly median: number;
  readonly interval: readonly [number, number];
  /** Multiply-adds a second at the median, in 10^9. */
  readonly gmacs: number;
  /** Median time of OpenBLAS sgemm and of the reference in the same run, over this one's; null where not run. */
  readonly ratioToSgemm: number | null;
  readonly ratioToReference: number | null;
}

export interface MeasureOptions {
  readonly engines: readonly { readonly engine: Engine; readonly kernel?: string }[];
  readonly rounds: number;
  readonly commit: string;
  readonly onSkip?: (engine: string, reason: string) => void;
}

interface Contender {
  readonly name: string;
  readonly kernel: string;
  readonly run: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/**
 * Times every engine that supports the workload and conforms on its op, single thread, packing included, and OpenBLAS
 * sgemm of the same shape, interleaved round by round. Engines that do not conform for the current catalog are never
 * timed. Returns one record an engine.
 */
export async function measure(workload: Workload, options: MeasureOptions): Promise<BenchRecord[]> {
  const contenders: Contender[] = [];
  for (const { engine, kernel } of options.engines) {
    const support = engine.supports(workload.op);
    if (!support.ok) {
      options.onSkip?.(engine.id, support.reason);
      continue;
    }
    const verdict = await conforms(engine, workload.op, kernel);
    if (verdict !== null) {
      options.onSkip?.(engine.id, verdict);
      continue;
    }
    contenders.push(await engineContender(workload, engine, kernel));
  }
  const machine = benchMachine();
  const blas = sgemmContender(workload, machine);
  if (blas) contenders.push(blas);
  const samples = await interleave(contenders, options.rounds);
  await Promise.all(contenders.map((c) => c.close()));

  const macs = workload.m * workload.n * workload.k;
  const medianOf = (name: string): number | null => {
    const times = samples.get(name);
    return times ? median(times) : null;
  };
  const ratio = (other: number | null, own: number) => (other === null ? null : other / own);
  const date = new Date().toISOString();
  return contenders
    .filter((c) => c !== blas)
    .map((c) => {
      const times = samples.get(c.name)!;
      const middle = median(times);
      const engine = c.name.split('/')[0]!;
      return {
        version: 2,
        workload: workload.id,
        benchVersion: benchVersion(workload),
        engine,
        kernel: c.kernel,
        build: engineBuild(engine),
        commit: options.commit,
        catalogHash: catalogHash(),
        opHash: opHash(workload.op),
        machine,
        date,
        macs,
        samples: times,
        sgemm: samples.get('sgemm') ?? null,
        median: middle,
        interval: medianInterval(times),
        gmacs: macs / middle / 1e9,
        ratioToSgemm: ratio(medianOf('sgemm'), middle),
        ratioToReference: ratio(medianOf('reference/bigint'), middle),
      };
    });
}

async function engineContender(
  workload: Workload,
  engine: Engine,
  kernel: string | undefined,
): Promise<Contender> {
  const { op, m, n, k } = workload;
  const inputs = sampleInputs(op, m, n, k);
  const d = resultOperand(op, m, n);
  const session = await engine.open(op, kernel === undefined ? {} : { kernel });
  return {
    name: `${engine.id}/${session.kernel}`,
    kernel: session.kernel,
    run: async () => {
      const loaded = await session.load(inputs);
      await session.tile(loaded, { m0: 0, m1: m, n0: 0, n1: n, chain: [{ k0: 0, k1: k }], d });
      await session.settle();
      loaded.release();
    },
    close: () => session.close(),
  };
}

function sgemmContender({ m, n, k }: Workload, machine: BenchMachine): Contender | null {
  const sgemm = loadSgemm(machine.avx512);
  if ('reason' in sgemm) return null;
  const [a, b, c] = [m * k, k * n, m * n].map((length) => new Float32Array(length).fill(0.5)) as [
    Float32Array,
    Float32Array,
    Float32Array,
  ];
  return {
    name: 'sgemm',
    kernel: sgemm.core,
    run: async () => sgemm.run(m, n, k, a, b, c),
    close: async () => {},
  };
}

/** One tinybench iteration of every contender a round, the order turned each round; a warm-up round is left out. */
async function interleave(contenders: readonly Contender[], rounds: number): Promise<Map<string, number[]>> {
  const samples = new Map<string, number[]>(contenders.map((c) => [c.name, []]));
  for (let round = 0; round <= rounds; round++) {
    const order = contenders.map((_, i) => contenders[(i + round) % contenders.length]!);
    for (const contender of order) {
      const bench = new Bench({ iterations: 1, time: 0, warmup: false, throws: true, retainSamples: true });
      bench.add(contender.name, contender.run);
      const [task] = await bench.run();
      const result = task!.result;
      if (!('latency' in result) || !result.latency.samples)
        throw new Error(`${contender.name}: expected a finished benchmark, got ${result.state}`);
      if (round > 0) samples.get(contender.name)!.push(...result.latency.samples.map((ms) => ms / 1000));
    }
  }
  return samples;
}
