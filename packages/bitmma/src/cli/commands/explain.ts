import { InputError } from '@bitmma/core';
import { Command } from 'commander';
import { dotCase } from '../../dot/dot.js';
import { explain, explanationJson } from '../../explain/explain.js';
import { explanationHtml } from '../../explain/html.js';
import { explanationSvg } from '../../explain/svg.js';
import { explanationText } from '../../explain/text.js';
import { versusText } from '../../explain/versus.js';
import { writeAtomically } from '../../files/write.js';
import type { Register } from '../io.js';
import { listenTo } from '../listen.js';
import { addDotArguments, type DotFlags, dotOperands, dotOptions, wholeNumber } from '../options.js';

interface Flags extends DotFlags {
  block?: string;
  picture?: string;
  versus?: string;
  versusInstruction?: string;
  versusDatapath?: string;
}

export const explainCommand: Register = (io) =>
  addDotArguments(
    new Command('explain'),
    'How one element comes about: the trace of the reference, block by block.',
  )
    .option('--block <i>', 'the block of the chain to show; absent: the one that dropped most')
    .option('--picture <file>', 'writes a picture of the window: .svg (one block) or .html (the chain)')
    .option('--versus <device>', 'a second device: where its accumulator parts from the first')
    .option('--versus-instruction <name>', 'instruction of the second device')
    .option('--versus-datapath <file>', 'a datapath of your own as the second')
    .option('--json', 'the whole trace as JSON')
    .action(async (a: string, b: string, flags: Flags) => {
      if (flags.picture !== undefined && !/\.(svg|html)$/i.test(flags.picture))
        throw new InputError(`--picture: expected a file ending in .svg or .html, got ${flags.picture}`);
      const console = listenTo(io);
      const trace = async (chosen: DotFlags) =>
        explain(
          await dotCase(dotOperands(a, b, chosen), {
            ...dotOptions(chosen),
            signal: io.signal,
            on: console.on,
          }),
        );
      const explanation = await trace(flags);
      const last = explanation.blocks.length - 1;
      const block =
        flags.block === undefined ? undefined : wholeNumber('--block', flags.block, 0, Math.max(last, 0));
      if (flags.picture !== undefined) {
        const svg = /\.svg$/i.test(flags.picture);
        await writeAtomically(flags.picture, [
          svg ? explanationSvg(explanation, block) : explanationHtml(explanation),
        ]);
        io.err(`note: written ${flags.picture}\n`);
      }
      const second = versusFlags(flags);
      if (second !== null) {
        const other = await trace(second);
        if (flags.json === true)
          io.out(`${JSON.stringify([explanation, other].map(explanationJson), null, 2)}\n`);
        else io.out(versusText(explanation, other));
      } else if (flags.json === true) io.out(`${JSON.stringify(explanationJson(explanation), null, 2)}\n`);
      else io.out(explanationText(explanation, block));
    });

/** The flags of the second device: its own op, everything else as the first; null without one. */
function versusFlags(flags: Flags): DotFlags | null {
  const { versus, versusInstruction, versusDatapath } = flags;
  if (versus === undefined && versusInstruction === undefined && versusDatapath === undefined) return null;
  const { device: _, instruction: __, datapath: ___, ...rest } = flags;
  return {
    ...rest,
    ...(versus !== undefined && { device: versus }),
    ...(versusInstruction !== undefined && { instruction: versusInstruction }),
    ...(versusDatapath !== undefined && { datapath: versusDatapath }),
  };
}
