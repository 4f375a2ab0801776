import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { catalog, type Engine, findDevice, findOp, InputError, type MmaOp } from '@bitmma/core';
import { execEngine } from '@bitmma/core/engine/exec';
import { referenceEngine } from '@bitmma/core/reference';
import {
  blockDiagram,
  featureTable,
  identify,
  probeJson,
  probeText,
  signatureOf,
  tableJson,
  tableMarkdown,
} from '@bitmma/probe';
import { Command } from 'commander';
import { ENGINES } from '../../engines.js';
import type { Register } from '../io.js';
import { readDatapath, wholeNumber } from '../options.js';

interface Flags {
  engine?: string;
  command?: string;
  device?: string;
  instruction?: string;
  datapath?: string;
  cases: string;
  seed: string;
  json?: boolean;
  table?: boolean;
  svg?: string;
}

/** Computes hypotheses: the native engine where it is built and not the one probed. */
async function judgeFor(box: string): Promise<Engine> {
  if (box === 'native') return referenceEngine();
  try {
    return await ENGINES.open('native');
  } catch {
    return referenceEngine();
  }
}

function opOf(flags: Flags): MmaOp {
  if (flags.datapath !== undefined) return readDatapath(flags.datapath);
  if (flags.device === undefined || flags.instruction === undefined)
    throw new InputError(
      'probe: expected --device and --instruction, which name the operands, or --datapath',
    );
  return findOp(flags.device, flags.instruction);
}

function boxOf(flags: Flags): Engine | Promise<Engine> {
  if (flags.command !== undefined) {
    if (flags.engine !== undefined) throw new InputError('probe: expected --engine or --command, got both');
    const [command, ...args] = flags.command.trim().split(/\s+/);
    if (!command) throw new InputError('--command: expected a program, got nothing');
    return execEngine({ command, args });
  }
  return ENGINES.open(flags.engine ?? 'reference');
}

const fileName = (op: MmaOp): string => `${op.device} ${op.instruction}`.replace(/[^A-Za-z0-9.]+/g, '-');

function writeDiagrams(folder: string, ops: readonly MmaOp[]): void {
  mkdirSync(folder, { recursive: true });
  for (const op of ops) writeFileSync(join(folder, `${fileName(op)}.svg`), blockDiagram(op));
}

export const probeCommand: Register = (io, exit) =>
  new Command('probe')
    .description('Finds out how a black box accumulates, with evidence; or prints the table of features.')
    .option('--engine <engine>', `the box: one of ${ENGINES.ids.join(' ')}`)
    .option('--command <program>', 'the box: a program that answers vectors, one JSON object a line')
    .option('--device <device>', 'device of the catalog')
    .option('--instruction <name>', 'instruction: its formats and K are all that is used of it')
    .option('--datapath <file>', 'JSON file with a datapath of your own for the box')
    .option('--cases <n>', 'cases of the last random campaign', '2000')
    .option('--seed <n>', 'seed of the campaign', '1')
    .option('--table', 'no questions: the table of features of every device, or of --device, as Markdown')
    .option('--svg <folder>', 'block diagrams: of the datapath found, or of the table')
    .option('--json', 'as JSON')
    .action(async (flags: Flags) => {
      if (flags.table === true) {
        const devices = flags.device === undefined ? [] : [findDevice(flags.device).id];
        const columns = featureTable(devices);
        io.out(flags.json === true ? tableJson(columns) : tableMarkdown(columns));
        if (flags.svg !== undefined)
          writeDiagrams(
            flags.svg,
            columns.map(
              ({ devices: [device], instructions: [instruction] }) =>
                catalog().find((op) => op.device === device && op.instruction === instruction)!,
            ),
          );
        return;
      }
      const op = opOf(flags);
      const engine = await boxOf(flags);
      const box = await engine.open(op, { signal: io.signal });
      try {
        const found = await identify(box, signatureOf(op), {
          judge: await judgeFor(engine.id),
          campaign: wholeNumber('--cases', flags.cases, 0, 10_000_000),
          seed: wholeNumber('--seed', flags.seed, 0, 2 ** 32),
          priors: [
            ...new Map(catalog().map(({ datapath }) => [JSON.stringify(datapath), datapath])).values(),
          ],
          onProgress: (message) => io.err(`${message}\n`),
        });
        io.out(flags.json === true ? probeJson(found) : probeText(found));
        if (flags.svg !== undefined) writeDiagrams(flags.svg, [{ ...op, datapath: found.datapath }]);
        if (!found.inside) exit(1);
      } finally {
        await box.close();
      }
    });
