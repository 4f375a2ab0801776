import { BitmmaError, CancelledError } from '@bitmma/core';
import { Command, CommanderError } from 'commander';
import { VERSION } from '../version.js';
import { COMMANDS } from './commands/index.js';
import type { Io } from './io.js';

const EXAMPLES = `
Examples:
  bitmma dot 7800,3f00,f800 6000,3c00,6000 --a-format fp16 --device h100
  bitmma gemm A.npy model.safetensors:w --trans-b --device mi300x --a-format bf16 --out D.npy
  bitmma compare A.npy B.npy --devices h100,b200,mi300x --heat-map where.svg
  bitmma explain A.npy B.npy --row 3 --col 5 --device h100 --versus mi300x
`;

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
  program.addHelpText('after', EXAMPLES);
  if (argv.length === 0) {
    io.err(program.helpInformation() + EXAMPLES);
    return 2;
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
