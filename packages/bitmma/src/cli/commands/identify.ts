import { readFileSync } from 'node:fs';
import { InputError } from '@bitmma/core';
import { referenceEngine } from '@bitmma/core/reference';
import { fitting, parseResults } from '@bitmma/probe';
import { Command } from 'commander';
import type { Register } from '../io.js';

interface Flags {
  json?: boolean;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new InputError(`${path}: cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

export const identifyCommand: Register = (io, exit) =>
  new Command('identify')
    .description('Which catalog devices give recorded results; exit 1 where none does.')
    .argument('<results>', 'result lines: vectors with d, all of one instruction')
    .option('--json', 'as JSON')
    .action(async (path: string, flags: Flags) => {
      const candidates = await fitting(parseResults(readText(path), path), referenceEngine());
      const fits = candidates.filter(({ mismatches }) => mismatches === 0);
      if (flags.json === true) io.out(`${JSON.stringify(candidates, null, 2)}\n`);
      else {
        for (const { ops, cases } of fits) {
          io.out(`fits all ${cases} results:\n`);
          for (const { device, instruction } of ops) io.out(`  ${device} ${instruction}\n`);
        }
        for (const { ops, mismatches, cases, first } of candidates
          .filter((c) => c.mismatches > 0)
          .slice(0, 5)) {
          const others = ops.length > 1 ? ` and ${ops.length - 1} alike` : '';
          io.out(`${mismatches} of ${cases} differ: ${ops[0]!.device} ${ops[0]!.instruction}${others}\n`);
          if (first)
            io.out(`  ${first.id}: recorded ${first.expected}, ${ops[0]!.device} gives ${first.got}\n`);
        }
      }
      if (fits.length === 0) exit(1);
    });
