import { EngineUnavailableError } from '@bitmma/core';
import { Command } from 'commander';
import type { Register } from '../io.js';
import { choice, wholeNumber } from '../options.js';

interface Flags {
  in: string;
  out: string;
  gpu: string;
  api?: string;
  format?: string;
  device?: string;
  faults?: string;
  report?: string;
  skipUnsupported?: boolean;
}

/** The part of @bitmma/hw-runner that this command calls; the package is optional. */
interface Runner {
  record(options: {
    in: string;
    out: string;
    gpu: number;
    api?: 'cuda' | 'hip';
    format?: 'jsonl' | 'binary';
    device?: string;
    faults?: string;
    report?: string;
    skipUnsupported?: boolean;
  }): Promise<string>;
}

export const recordCommand: Register = (io) =>
  new Command('record')
    .description("Runs a vector file on a real GPU's matrix unit and writes what came back.")
    .requiredOption('--in <file>', 'vectors, .jsonl or .bmv; - for standard input')
    .requiredOption('--out <file>', 'file to write; - for standard output')
    .option('--gpu <number>', 'device number of the driver', '0')
    .option('--api <api>', 'cuda or hip; absent: the first that has the device')
    .option('--format <form>', "jsonl or binary; absent: the input's")
    .option('--device <device>', 'catalog id of the device, where its own name does not tell')
    .option('--faults <file>', 'cases whose output elements disagreed')
    .option('--report <file>', 'JSON summary: device, opcodes, probes, counts')
    .option('--skip-unsupported', 'leaves out instructions that the device lacks')
    .action(async (flags: Flags) => {
      const api = choice('--api', flags.api, { cuda: 'cuda', hip: 'hip' } as const);
      const format = choice('--format', flags.format, { jsonl: 'jsonl', binary: 'binary' } as const);
      const gpu = wholeNumber('--gpu', flags.gpu, 0, 255);
      const { device, faults, report, skipUnsupported } = flags;
      const summary = await (await loadRunner()).record({
        in: flags.in,
        out: flags.out,
        gpu,
        ...(api !== undefined && { api }),
        ...(format !== undefined && { format }),
        ...(device !== undefined && { device }),
        ...(faults !== undefined && { faults }),
        ...(report !== undefined && { report }),
        ...(skipUnsupported === true && { skipUnsupported }),
      });
      io.err(`note: ${summary}\n`);
    });

async function loadRunner(): Promise<Runner> {
  const name = '@bitmma/hw-runner';
  try {
    return (await import(name)) as Runner;
  } catch {
    throw new EngineUnavailableError(
      'hardware',
      'its package is not built or installed',
      'build packages/hw-runner',
    );
  }
}
