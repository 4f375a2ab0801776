import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '@bitmma/core';
import { Command } from 'commander';
import { ENGINE_IDS } from '../../engines.js';
import { writeAtomically } from '../../files/write.js';
import { markdownTable } from '../../table.js';
import type { Io, Register } from '../io.js';
import { type Console, listenTo } from '../listen.js';
import { choice, readDatapath, wholeNumber } from '../options.js';

interface Shared {
  out: string;
  engine?: string;
  seed: string;
}

interface MultiwordFlags extends Shared {
  format: string;
  words?: string;
  devices?: string;
  datapath?: string;
  n?: string;
  order: string;
  decades: string;
}

interface SmdFlags extends Shared {
  formats: string;
  devices?: string;
  order: string;
  iterations: string;
  epsilon: string;
  mu: string;
}

interface AccumulationFlags extends Shared {
  transB?: boolean;
  k?: string;
  depth: string;
}

/** What the algorithms of docs/apps do on the devices: points in CSV, figures in SVG. */
export const appCommand: Register = (io) => {
  const command = new Command('app').description(
    'What the differences between devices do to an algorithm: multi-word GEMM, SMD, FP8 accumulation.',
  );
  const subcommand = (name: string) => {
    const sub = command.command(name).exitOverride();
    return sub
      .configureOutput({ writeOut: io.out, writeErr: () => {} })
      .option(
        '--out <folder>',
        'where points (CSV) and figures (SVG) go; finished points there are kept',
        '.',
      )
      .option('--engine <engine>', `auto ${ENGINE_IDS.join(' ')}`)
      .option('--seed <n>', 'seed of the data', '1');
  };
  subcommand('multiword')
    .description('Multi-word products of a 10 x n and an n x 10 fp64 matrix: error against the fp64 product.')
    .requiredOption('--format <format>', 'fp16, bf16 or e5m2 (e5m2fnuz on AMD)')
    .option('--words <list>', 'numbers of words, parted by commas; default: those of the study')
    .option('--devices <list>', 'devices parted by commas; default: those of the study')
    .option(
      '--datapath <files>',
      'JSON files with datapaths of your own beside them, each named by its "device"',
    )
    .option('--n <list>', 'inner dimensions; default: half decades from 10 to 1000000')
    .option('--order <order>', 'separate products added in fp32, or one chained accumulator', 'separate')
    .option('--decades <d>', 'magnitudes are 10^x, x uniform in -d to d', '10')
    .action((flags: MultiwordFlags) => runMultiword(io, flags));
  subcommand('smd')
    .description('Eigenvalues of an 8 x 8 parahermitian matrix by SMD, its products on each device.')
    .option('--formats <list>', 'fp16,bf16', 'fp16,bf16')
    .option('--devices <list>', 'devices parted by commas; default: b200,mi100,mi210,mi300x')
    .option('--order <n>', 'polynomial order, even', '8')
    .option('--iterations <n>', 'at most', '250')
    .option('--epsilon <x>', 'stops below this largest off-diagonal column norm, of R[0]', '1e-4')
    .option('--mu <x>', 'energy share that a truncation may drop', '1e-4')
    .action((flags: SmdFlags) => runSmd(io, flags));
  subcommand('accumulation')
    .description('FP8 accumulation over K on Hopper, Ada, B200 and MI300X: error and bias.')
    .argument('[A]', 'M x K matrix to study beside the seeded ones')
    .argument('[B]', 'K x N, or N x K with --trans-b')
    .option('--trans-b', "B is stored N x K, torch's weight layout")
    .option('--k <list>', 'depths to measure; default: powers of two from 32, and K')
    .option('--depth <k>', 'K of the seeded matrices', '16384')
    .action((a: string | undefined, b: string | undefined, flags: AccumulationFlags) =>
      runAccumulation(io, a, b, flags),
    );
  return command;
};

async function runMultiword(io: Io, flags: MultiwordFlags): Promise<void> {
  // The drawing library is loaded by the commands that draw alone.
  const { multiword } = await import('../../apps/multiword/multiword.js');
  const { multiwordFigure } = await import('../../apps/multiword/figure.js');
  const format = choice('--format', flags.format, { fp16: 'fp16', bf16: 'bf16', e5m2: 'e5m2' } as const)!;
  const order = choice('--order', flags.order, { separate: 'separate', chained: 'chained' } as const)!;
  const path = prepare(flags, `multiword-${format}${order === 'chained' ? '-chained' : ''}`);
  const words = flags.words === undefined ? undefined : numbers('--words', flags.words, 8);
  const n = flags.n === undefined ? undefined : numbers('--n', flags.n, 1e7);
  const points = await watched(io, (console) =>
    multiword({
      format,
      order,
      ...(words !== undefined && { words }),
      ...(n !== undefined && { n }),
      ...(flags.devices !== undefined && { devices: names(flags.devices) }),
      ...(flags.datapath !== undefined && { ops: names(flags.datapath).map(readDatapath) }),
      decades: wholeNumber('--decades', flags.decades, 0, 15),
      ...shared(io, flags, console),
      points: `${path}.csv`,
    }),
  );
  await writeAtomically(`${path}.svg`, [multiwordFigure(points)]);
  const devices = [...new Set(points.map(({ device }) => device))];
  const keyOf = (point: (typeof points)[number]) => [String(point.n), String(point.words)];
  io.out(pivot(['n', 'words'], devices, points, keyOf, ({ error }) => error));
  io.out(`\nwritten ${path}.csv, ${path}.svg\n`);
}

async function runSmd(io: Io, flags: SmdFlags): Promise<void> {
  const { smdStudy, eigenvalueDifferences } = await import('../../apps/smd/study.js');
  const { smdFigures } = await import('../../apps/smd/figures.js');
  const formats = names(flags.formats).map(
    (name) => choice('--formats', name, { fp16: 'fp16', bf16: 'bf16' } as const)!,
  );
  const path = prepare(flags, 'smd');
  const points = await watched(io, (console) =>
    smdStudy({
      formats,
      ...(flags.devices !== undefined && { devices: names(flags.devices) }),
      order: wholeNumber('--order', flags.order, 2, 64),
      iterations: wholeNumber('--iterations', flags.iterations, 0, 100000),
      epsilon: share('--epsilon', flags.epsilon),
      mu: share('--mu', flags.mu),
      ...shared(io, flags, console),
      points: `${path}.csv`,
    }),
  );
  for (const [name, svg] of Object.entries(smdFigures(points)))
    await writeAtomically(`${path}-${name}.svg`, [svg]);
  const runs = [...new Set(points.map(({ format, device }) => `${format} ${device}`))];
  const rms = (left: string, right: string): string => {
    const of = (run: string) => ({ format: run.split(' ')[0]!, device: run.split(' ')[1]! });
    const differences = eigenvalueDifferences(points, of(left), of(right));
    return scientific(
      Math.sqrt(differences.reduce((sum, { difference }) => sum + difference ** 2, 0) / differences.length),
    );
  };
  io.out('root mean square difference of the dominant eigenvalue over frequency\n\n');
  io.out(
    markdownTable(
      ['', ...runs],
      runs.map((left) => [left, ...runs.map((right) => (left === right ? '' : rms(left, right)))]),
    ),
  );
  io.out(`\nwritten ${path}.csv, ${path}-*.svg\n`);
}

async function runAccumulation(
  io: Io,
  a: string | undefined,
  b: string | undefined,
  flags: AccumulationFlags,
): Promise<void> {
  if (a !== undefined && b === undefined) throw new InputError('expected A and B or neither, got A alone');
  const { accumulation } = await import('../../apps/accumulation/accumulation.js');
  const { fromFiles, gaussian } = await import('../../apps/accumulation/dataset.js');
  const { accumulationFigures } = await import('../../apps/accumulation/figures.js');
  const { compareLayer } = await import('../../apps/accumulation/layer.js');
  const path = prepare(flags, 'accumulation');
  const shape = { rows: 16, columns: 16, k: wholeNumber('--depth', flags.depth, 32, 2 ** 20) };
  const seed = wholeNumber('--seed', flags.seed, 0, Number.MAX_SAFE_INTEGER);
  const layer =
    a === undefined
      ? null
      : await fromFiles('layer', a, b!, { transB: flags.transB === true, signal: io.signal });
  const datasets = [
    ...(layer === null ? [] : [layer]),
    gaussian('normal', shape, { seed, magnitudes: false }),
    gaussian('magnitudes of normal', shape, { seed, magnitudes: true }),
  ];
  const points = await watched(io, (console) =>
    accumulation({
      datasets,
      ...(flags.k !== undefined && { k: numbers('--k', flags.k, 2 ** 20) }),
      ...shared(io, flags, console),
      points: `${path}.csv`,
    }),
  );
  for (const [name, svg] of Object.entries(accumulationFigures(points)))
    await writeAtomically(`${path}-${name}.svg`, [svg]);
  const names = [...new Set(points.map(({ contender }) => contender))];
  for (const [title, value] of [
    ['error: ||d - r|| / ||r||', (p: (typeof points)[number]) => p.error],
    ['bias of magnitudes: sum of |d| - |r| over the sum of |r|', (p: (typeof points)[number]) => p.shrinkage],
  ] as const)
    io.out(`${title}\n\n${pivot(['data', 'K'], names, points, ({ data, k }) => [data, String(k)], value)}\n`);
  if (layer !== null) {
    const { pairs } = await watched(io, (console) => compareLayer(layer, shared(io, flags, console)));
    const table = pairs.map(({ left, right, difference: { different, words, maxUlp } }) => ({
      left,
      right,
      different,
      words,
      maxUlp,
    }));
    await writeAtomically(`${path}-layer.csv`, [
      'left,right,different,words,maxUlp\n',
      ...table.map((row) => `${Object.values(row).join(',')}\n`),
    ]);
    io.out('the whole product, one chain each\n\n');
    io.out(
      markdownTable(
        ['pair', 'different words', 'largest distance, ulp'],
        table.map((row) => [
          `${row.left} : ${row.right}`,
          `${row.different} of ${row.words}`,
          String(row.maxUlp),
        ]),
      ),
    );
  }
  io.out(`\nwritten ${path}.csv, ${path}-*.svg\n`);
}

/** Progress and notes on stderr while a study runs. */
async function watched<T>(io: Io, work: (console: Console) => Promise<T>): Promise<T> {
  const console = listenTo(io);
  return work(console).finally(console.close);
}

const shared = (io: Io, flags: Shared, console: Console) => ({
  seed: wholeNumber('--seed', flags.seed, 0, Number.MAX_SAFE_INTEGER),
  ...(flags.engine !== undefined && { engine: flags.engine }),
  signal: io.signal,
  on: console.on,
});

function prepare({ out }: Shared, name: string): string {
  try {
    mkdirSync(out, { recursive: true });
  } catch (error) {
    throw new InputError(`--out: ${out} cannot be made (${(error as NodeJS.ErrnoException).code})`);
  }
  return join(out, name);
}

const names = (list: string): string[] => list.split(',').map((name) => name.trim());

const numbers = (flag: string, list: string, most: number): number[] =>
  names(list).map((text) => wholeNumber(flag, text, 1, most));

function share(flag: string, text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value < 1))
    throw new InputError(`${flag}: expected a number of at least 0 and below 1, got ${text}`);
  return value;
}

/** A table with one row a key and one column a name; points of a row come in the order of the columns. */
function pivot<T>(
  head: readonly string[],
  columns: readonly string[],
  points: readonly T[],
  keyOf: (point: T) => readonly string[],
  value: (point: T) => number,
): string {
  const rows = new Map<string, string[]>();
  for (const point of points) {
    const key = keyOf(point);
    const row = rows.get(key.join()) ?? [...key];
    row.push(scientific(value(point)));
    rows.set(key.join(), row);
  }
  return markdownTable([...head, ...columns], [...rows.values()]);
}

const scientific = (value: number): string =>
  value === 0 ? '0' : value.toExponential(2).replaceAll('-', '−').replace('+', '');
