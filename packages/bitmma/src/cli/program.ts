import { BitmmaError, CancelledError } from '@bitmma/core';
import { Command, CommanderError } from 'commander';
import { VERSION } from '../version.js';
import { COMMANDS } from './commands/index.js';
import type { Io } from './io.js';

/**
 * Runs one command line (without node and script). Exit codes: 0 done, 1 the answer is no (a mismatch, a rejected
 * manifest), 2 bad input or a missing part, 130 cancelled. Bad input is one line on stderr, never a stack trace.
 */
export async function runCli(argv: readonly string[], io: Io): Promise<number> {
  let code = 0;
  const program = new Command('bitmma')
    .description("What a GPU's matrix unit computes, bit for bit, without the GPU.")
    .version(VERSION)
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({ writeOut: io.out, writeErr: () => {} });
  for (const register of COMMANDS) {
    const command = register(io, (status) => {
      code = status;
    });
    command.exitOverride().configureOutput({ writeOut: io.out, writeErr: () => {} });
    program.addCommand(command);
  }
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      io.err(`bitmma: ${error.message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ')}\n`);
      return 2;
    }
    if (error instanceof CancelledError) {
      io.err('bitmma: cancelled\n');
      return 130;
    }
    if (error instanceof BitmmaError) {
      io.err(`bitmma: ${error.message}\n`);
      return 2;
    }
    throw error;
  }
}
