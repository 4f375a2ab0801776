import { findFormat, InputError, type Sparsity } from '@bitmma/core';
import { Command } from 'commander';
import { safetensorsParts, writeAtomically } from '../../files/write.js';
import { toDoubles } from '../../numbers/value.js';
import { readLines } from '../../quantize/matrix.js';
import { prune } from '../../quantize/prune.js';
import type { Register } from '../io.js';
import { choice } from '../options.js';

const PATTERNS: Readonly<Record<string, Sparsity>> = { '2:4': '2:4', '1:2': '1:2', '4:8-pairs': '4:8-pairs' };

export const pruneCommand: Register = (io) =>
  new Command('prune')
    .description('Prunes A for sparse instructions: each chunk of K keeps its largest magnitudes.')
    .argument('<A>', 'M x K: .npy, .npz:MEMBER, .safetensors:TENSOR, .hex')
    .requiredOption('--out <file>', '.safetensors with pruned (M x K), compressed (M x K/2) and meta')
    .option('--pattern <pattern>', '2:4 (16-bit, FP8), 1:2 (tf32) or 4:8-pairs (mxf4, nvfp4)', '2:4')
    .option('--format <format>', 'what the raw words of the file are')
    .action(async (file: string, flags: { out: string; pattern: string; format?: string }) => {
      if (!/\.safetensors$/i.test(flags.out))
        throw new InputError(`--out: expected a file ending in .safetensors, got ${flags.out}`);
      const pattern = choice('--pattern', flags.pattern, PATTERNS)!;
      const lines = await readLines(
        file,
        flags.format === undefined ? undefined : findFormat(flags.format),
        1,
        io.signal,
      );
      const { format, words, lines: rows, k } = lines;
      if (format === 'int64' || format === 'fp64')
        throw new InputError(`${file}: expected elements of at most 32 bits, got ${format}; cast them first`);
      const result = prune(words, toDoubles(words, format), rows, k, pattern);
      await writeAtomically(
        flags.out,
        safetensorsParts({
          pruned: { format, words: result.words, shape: [rows, k] },
          compressed: { format, words: result.compressed, shape: [rows, k / 2] },
          meta: { format: 's32', words: result.meta, shape: [rows, result.metaColumns] },
        }),
      );
      io.out(
        `${flags.out}: pruned ${rows} x ${k} of ${format}, ${pattern}; meta ${rows} x ${result.metaColumns}\n`,
      );
    });
