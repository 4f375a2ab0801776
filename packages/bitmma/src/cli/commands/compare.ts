import { basename } from 'node:path';
import { findDevice, InputError } from '@bitmma/core';
import { Command } from 'commander';
import { type Comparison, type Contender, compare } from '../../compare/compare.js';
import { heatMapSvg } from '../../compare/heat-map.js';
import { hexWord } from '../../files/hex.js';
import { writeAtomically } from '../../files/write.js';
import { writeManifest } from '../../manifest/manifest.js';
import { brief, markdownTable } from '../../table.js';
import { VERSION } from '../../version.js';
import type { Io, Register } from '../io.js';
import { listenTo } from '../listen.js';
import {
  addEngineOptions,
  addFormatOptions,
  addOperandOptions,
  gemmOperands,
  gemmOptions,
  type OperandFlags,
  type OpFlags,
  readDatapath,
} from '../options.js';

interface Flags extends OpFlags, OperandFlags {
  devices: string;
  on: string[];
  outFormat?: string;
  heatMap?: string;
  manifest?: string;
}

const collect = (value: string, list: string[]): string[] => [...list, value];

export const compareCommand: Register = (io) =>
  addEngineOptions(addOperandOptions(addFormatOptions(new Command('compare'))))
    .description('The same product on several devices: which words differ, by how much, and where first.')
    .argument('<A>', 'M x K, as for gemm')
    .argument('<B>', 'K x N, or N x K with --trans-b')
    .requiredOption('--devices <list>', 'devices parted by commas')
    .option(
      '--on <device=format>',
      'operand formats on one device, where it has others: mi300x=e4m3fnuz; or its instruction: h100=mma.sync.…',
      collect,
      [],
    )
    .option('--datapath <file>', 'a datapath of your own as one more contender')
    .option('--out-format <format>', 'converts each result once at the end, RNE')
    .option('--heat-map <file>', 'writes an SVG of where words differ')
    .option('--manifest <file>', 'writes what was run, for verify')
    .option('--json', 'as JSON')
    .action(async (a: string, b: string, flags: Flags) => {
      if (flags.heatMap !== undefined && !/\.svg$/i.test(flags.heatMap))
        throw new InputError(`--heat-map: expected a file ending in .svg, got ${flags.heatMap}`);
      const { op: _, ...options } = gemmOptions(flags);
      const console = listenTo(io);
      const operands = gemmOperands(a, b, flags);
      const out = flags.outFormat === undefined ? {} : { outFormat: flags.outFormat };
      const comparison = await compare(operands, contenders(flags), {
        ...options,
        ...out,
        signal: io.signal,
        on: console.on,
      }).finally(console.close);
      if (flags.heatMap !== undefined) {
        await writeAtomically(flags.heatMap, [heatMapSvg(comparison, `${basename(a)} x ${basename(b)}`)]);
        io.err(`note: written ${flags.heatMap}\n`);
      }
      if (flags.manifest !== undefined) {
        const { loaded } = comparison;
        const runs = comparison.results.map(({ request, result }) => ({
          kind: 'gemm' as const,
          operands,
          loaded,
          options: { ...options, ...out, ...request },
          result,
          written: null,
        }));
        await writeManifest(flags.manifest, VERSION, runs);
      }
      if (flags.json === true) io.out(`${JSON.stringify(comparisonJson(comparison), null, 2)}\n`);
      else print(io, comparison, a, b, flags);
    });

/** The device list, with what --on says of each. */
function contenders(flags: Flags): Contender[] {
  const special = new Map<string, string>();
  for (const item of flags.on) {
    const [device, what, ...more] = item.split('=');
    if (!device || !what || more.length > 0)
      throw new InputError(`--on: expected DEVICE=FORMAT, got ${item}`);
    special.set(findDevice(device).id, what);
  }
  const { aFormat, bFormat, accumulate } = flags;
  const shared = {
    ...(aFormat !== undefined && { aFormat }),
    ...(bFormat !== undefined && { bFormat }),
    ...(accumulate !== undefined && { accumulate }),
  };
  const list: Contender[] = flags.devices.split(',').map((name) => {
    const device = findDevice(name.trim()).id;
    const own = special.get(device);
    special.delete(device);
    if (own === undefined) return { label: device, device, ...shared };
    if (own.includes('.') || own.startsWith('v_')) {
      return { label: device, device, instruction: own };
    }
    return { label: device, device, ...shared, aFormat: own, bFormat: own };
  });
  const [unused] = special.keys();
  if (unused !== undefined) throw new InputError(`--on: ${unused} is not among --devices`);
  if (flags.datapath !== undefined)
    list.push({ label: basename(flags.datapath), op: readDatapath(flags.datapath) });
  const twice = list.find((x, i) => list.findIndex((y) => y.label === x.label) !== i);
  if (twice !== undefined) throw new InputError(`--devices: ${twice.label} is named twice`);
  return list;
}

function print(io: Io, comparison: Comparison, a: string, b: string, flags: Flags): void {
  const { results, pairs, cols } = comparison;
  io.out(
    markdownTable(
      ['device', 'instruction', 'operands', 'mean relative error', 'max error, ulp', 'sha256'],
      results.map(({ label, result }) => [
        label,
        result.op.instruction,
        `${result.op.a} x ${result.op.b}`,
        result.error === null ? '' : brief(result.error.meanRelative),
        result.error === null ? '' : brief(result.error.maxUlp),
        result.sha256.slice(0, 16),
      ]),
    ),
  );
  io.out('\n');
  io.out(
    markdownTable(
      ['pair', 'different words', 'largest distance', 'first difference', 'words'],
      pairs.map(({ left, right, difference: { different, words, maxUlp, nonFinite, first } }) => [
        `${left} : ${right}`,
        `${different} of ${words}`,
        different === 0 ? '' : `${maxUlp} ulp${nonFinite > 0 ? `, ${nonFinite} not finite` : ''}`,
        first === null ? 'none' : `row ${Math.floor(first / cols)}, column ${first % cols}`,
        first === null ? '' : `${wordOf(comparison, left, first)} : ${wordOf(comparison, right, first)}`,
      ]),
    ),
  );
  const pair = pairs.find(({ difference }) => difference.first !== null);
  if (pair !== undefined)
    io.out(`\nto explain the first:\n  ${explainLine(comparison, pair, a, b, flags)}\n`);
}

function wordOf({ results }: Comparison, label: string, index: number): string {
  const { words, format } = results.find((entry) => entry.label === label)!.result;
  return `0x${hexWord(words, index, format)}`;
}

/** The command that accounts for the first difference of a pair. */
function explainLine(
  comparison: Comparison,
  pair: Comparison['pairs'][number],
  a: string,
  b: string,
  flags: Flags,
): string {
  const quote = (text: string) => (/^[\w./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const of = (label: string) => comparison.results.find((entry) => entry.label === label)!.result.op;
  const [left, right] = [of(pair.left), of(pair.right)];
  const index = pair.difference.first!;
  const { shape } = comparison.results[0]!.result;
  const [m, n] = shape.slice(-2) as [number, number];
  const options: (string | undefined)[] = [
    flags.transA ? '--trans-a' : undefined,
    flags.transB ? '--trans-b' : undefined,
    ...(['c', 'scaleA', 'scaleB', 'sparseMeta', 'cast', 'saturate', 'scaleFormat'] as const).flatMap((key) =>
      flags[key] === undefined
        ? []
        : [`--${key.replace(/[A-Z]/g, (x) => `-${x.toLowerCase()}`)}`, quote(flags[key])],
    ),
    ...side(left, '--device', '--instruction', '--datapath', flags),
    ...side(right, '--versus', '--versus-instruction', '--versus-datapath', flags),
    `--row ${Math.floor(index / n) % m} --col ${index % n}`,
    shape.length > 2 ? `--batch ${Math.floor(index / (m * n))}` : undefined,
  ];
  return `bitmma explain ${quote(a)} ${quote(b)} ${options.filter((item) => item !== undefined).join(' ')}`;
}

const side = (
  op: { device: string; instruction: string },
  device: string,
  instruction: string,
  datapath: string,
  flags: Flags,
): string[] =>
  op.device === 'custom' ? [datapath, flags.datapath!] : [device, op.device, instruction, op.instruction];

function comparisonJson({ results, pairs, rows, cols }: Comparison): unknown {
  return {
    rows,
    cols,
    results: results.map(({ label, result: { words: _, ...rest } }) => ({ label, ...rest })),
    pairs: pairs.map(({ left, right, difference: { ulps: _, first, worst, ...counts } }) => {
      const place = (index: number | null) =>
        index === null ? null : { row: Math.floor(index / cols), col: index % cols };
      return { left, right, ...counts, first: place(first), worst: place(worst) };
    }),
  };
}
