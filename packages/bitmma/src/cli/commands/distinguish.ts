import { defaultOp, findFormat, findOp, type MmaOp } from '@bitmma/core';
import { referenceEngine } from '@bitmma/core/reference';
import { distinguish } from '@bitmma/probe';
import { Command } from 'commander';
import type { Register } from '../io.js';

interface Flags {
  aFormat: string;
  bFormat?: string;
  json?: boolean;
}

/** `device` with its default instruction for the formats, or `device:instruction`. */
function opOf(name: string, flags: Flags): MmaOp {
  const [device, ...instruction] = name.split(':');
  if (instruction.length > 0) return findOp(device!, instruction.join(':'));
  const a = findFormat(flags.aFormat, { device: device! });
  return defaultOp(device!, {
    a,
    b: flags.bFormat === undefined ? a : findFormat(flags.bFormat, { device: device! }),
  });
}

export const distinguishCommand: Register = (io) =>
  new Command('distinguish')
    .description('The shortest vectors that tell devices apart.')
    .argument('<devices...>', 'device, or device:instruction')
    .option('--a-format <format>', 'operand of A, where no instruction is given', 'bf16')
    .option('--b-format <format>', 'operand of B; absent: as A')
    .option('--json', 'as JSON')
    .action(async (devices: string[], flags: Flags) => {
      const ops = devices.map((name) => opOf(name, flags));
      const found = await distinguish(ops, referenceEngine());
      if (flags.json === true) {
        const names = ops.map(({ device, instruction }) => ({ device, instruction }));
        io.out(`${JSON.stringify({ ops: names, ...found }, null, 2)}\n`);
        return;
      }
      const label = (i: number) => `${ops[i]!.device} ${ops[i]!.instruction}`;
      for (const { vector, answers } of found.vectors) {
        const nonzero = (text: string) =>
          text
            .split(' ')
            .map((word, k) => (/^0+$/.test(word) ? '' : `[${k}] ${word}`))
            .filter(Boolean)
            .join(' ') || 'zero';
        io.out(`a ${nonzero(vector.a)}; b ${nonzero(vector.b)}; c ${vector.c}; ${found.k} positions\n`);
        answers.forEach((answer, i) => {
          io.out(`  ${answer}  ${label(i)}\n`);
        });
      }
      for (const members of found.classes)
        if (members.length > 1)
          io.out(`no difference in ${found.tried} vectors: ${members.map(label).join(', ')}\n`);
    });
