import { type Engine, InputError } from '@bitmma/core';
import { reportLines } from '@bitmma/core/conformance';
import { runConformance } from '@bitmma/core/conformance/node';
import { execEngine } from '@bitmma/core/engine/exec';
import { referenceEngine } from '@bitmma/core/reference';
import { Command } from 'commander';
import { ENGINES } from '../../engines.js';
import type { Register } from '../io.js';

interface Flags {
  engine: string;
  exec?: string;
  kernel?: string;
  json?: boolean;
}

export const conformanceCommand: Register = (io, exit) =>
  new Command('conformance')
    .description('Runs an engine over vector files and recordings, word for word; exit 1 on a mismatch.')
    .argument('<paths...>', 'vector files (.jsonl, .bmv), recordings, folders of them')
    .option('--engine <engine>', `one of ${ENGINES.ids.join(' ')}`, 'reference')
    .option('--exec <command>', 'a program instead: vectors without d on its input, with d on its output')
    .option('--kernel <kernel>', "force one of the engine's kernels")
    .option('--json', 'as JSON')
    .action(async (paths: string[], flags: Flags) => {
      if (flags.engine === 'auto') throw new InputError('conformance: expected a named engine, got auto');
      const engine: Engine =
        flags.exec === undefined
          ? await ENGINES.open(flags.engine)
          : execEngine({ command: '/bin/sh', args: ['-c', `exec ${flags.exec}`] });
      const result = await runConformance({
        paths,
        engine,
        ...(flags.kernel !== undefined && { kernel: flags.kernel }),
        ...(engine.id !== 'reference' && { against: referenceEngine() }),
        signal: io.signal,
      });
      if (flags.json === true) io.out(`${JSON.stringify(result, null, 2)}\n`);
      else for (const line of reportLines(result)) io.out(`${line}\n`);
      if (result.failed > 0) exit(1);
    });
