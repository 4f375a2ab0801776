import { InputError } from '@bitmma/core';
import { Command } from 'commander';
import { verify } from '../../manifest/verify.js';
import type { Register } from '../io.js';
import { listenTo } from '../listen.js';
import { addEngineOptions, type OpFlags, wholeNumber } from '../options.js';

interface Flags extends OpFlags {
  rows?: string;
}

export const verifyCommand: Register = (io, exit) =>
  addEngineOptions(new Command('verify'))
    .description('Re-executes the runs of a manifest: accepted (exit 0), rejected (1) or indeterminate (2).')
    .argument('<manifest>', 'a file that gemm, compare or scaled-mm wrote with --manifest')
    .option('--rows <list>', 'result rows to re-execute: 0,5,10-19; absent: all')
    .option('--json', 'as JSON')
    .action(async (path: string, flags: Flags) => {
      const console = listenTo(io);
      const verdicts = await verify(path, {
        ...(flags.rows !== undefined && { rows: rowList(flags.rows) }),
        ...(flags.engine !== undefined && { engine: flags.engine }),
        ...(flags.kernel !== undefined && { kernel: flags.kernel }),
        signal: io.signal,
        on: console.on,
      }).finally(console.close);
      if (flags.json === true) io.out(`${JSON.stringify(verdicts, null, 2)}\n`);
      else
        for (const { verdict, device, instruction, reason, engine } of verdicts)
          io.out(
            `${verdict}: ${device} ${instruction}: ${reason}${engine === null ? '' : ` (engine ${engine})`}\n`,
          );
      if (verdicts.some(({ verdict }) => verdict === 'rejected')) exit(1);
      else if (verdicts.some(({ verdict }) => verdict === 'indeterminate')) exit(2);
    });

/** `0,5,10-19`; a range is inclusive. */
function rowList(text: string): number[] {
  return text.split(',').flatMap((part) => {
    const [first, last, ...more] = part.split('-');
    if (first === undefined || more.length > 0)
      throw new InputError(`--rows: expected rows as 0,5,10-19, got ${text}`);
    const low = wholeNumber('--rows', first, 0, 2 ** 31);
    const high = last === undefined ? low : wholeNumber('--rows', last, low, low + 2 ** 20);
    return Array.from({ length: high - low + 1 }, (_, i) => low + i);
  });
}
