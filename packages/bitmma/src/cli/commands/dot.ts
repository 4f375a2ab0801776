import { Command } from 'commander';
import { describeDatapath } from '../../describe.js';
import { dot } from '../../dot/dot.js';
import { hexWord } from '../../files/hex.js';
import { wordToDouble } from '../../numbers/value.js';
import type { Register } from '../io.js';
import { listenTo } from '../listen.js';
import { addDotArguments, type DotFlags, dotOperands, dotOptions } from '../options.js';

export const dotCommand: Register = (io) =>
  addDotArguments(new Command('dot'), 'One dot product, or one element of a GEMM, as a word.')
    .option('--json', 'as JSON')
    .action(async (a: string, b: string, flags: DotFlags) => {
      const console = listenTo(io);
      const result = await dot(dotOperands(a, b, flags), {
        ...dotOptions(flags),
        signal: io.signal,
        on: console.on,
      });
      const { op, d, format } = result;
      const word = hexWord(d, 0, format);
      const value = wordToDouble(d, 0, format);
      if (flags.json === true)
        io.out(
          `${JSON.stringify({ device: op.device, instruction: op.instruction, engine: result.engine, kernel: result.kernel, format, d: word, value: String(value) })}\n`,
        );
      else
        io.out(`0x${word}  ${value}  ${format}, ${op.device} ${op.instruction} (${describeDatapath(op)})\n`);
    });
