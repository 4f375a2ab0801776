import { FORMATS, type FormatName, findFormat, InputError } from '@bitmma/core';
import { Command } from 'commander';
import { safetensorsParts, type Writable, writeAtomically } from '../../files/write.js';
import { castRule } from '../../gemm/operand.js';
import { castWords } from '../../numbers/cast.js';
import { asSingles, type Lines, readLines, restore } from '../../quantize/matrix.js';
import {
  type MxElement,
  type Quantized,
  quantizeMx,
  SCALE_RULES,
  type ScaleRule,
} from '../../quantize/mx.js';
import { quantizeNvfp4 } from '../../quantize/nvfp4.js';
import type { Register } from '../io.js';
import { choice } from '../options.js';

interface Flags {
  to: string;
  rule: string;
  block: string;
  axis: string;
  format?: string;
  out: string;
}

const MX: Readonly<Record<string, MxElement>> = {
  'mxfp8-e4m3': 'e4m3',
  'mxfp8-e5m2': 'e5m2',
  'mxfp6-e3m2': 'e3m2',
  'mxfp6-e2m3': 'e2m3',
  mxfp4: 'e2m1',
};

export const quantizeCommand: Register = (io) =>
  new Command('quantize')
    .description('Makes block-scaled (MX, NVFP4) or plain operands of a matrix.')
    .argument('<A>', 'matrix: .npy, .npz:MEMBER, .safetensors:TENSOR, .hex')
    .requiredOption('--to <kind>', `${Object.keys(MX).join(', ')}, nvfp4, or a format for a plain cast: e4m3`)
    .requiredOption(
      '--out <file>',
      '.safetensors with elements, scales (lines x ceil(K / block)), tensor_scale',
    )
    .option('--rule <rule>', `MX scale: ${SCALE_RULES.join(', ')}`, 'floor')
    .option('--block <n>', 'MX block along K: 32, or 16 (mxf4nvf4)', '32')
    .option('--axis <axis>', 'the axis of K: 1 (rows hold K: A, or a weight N x K) or 0 (B as K x N)', '1')
    .option('--format <format>', 'what the raw words of the file are')
    .action(async (file: string, flags: Flags) => {
      if (!/\.safetensors$/i.test(flags.out))
        throw new InputError(`--out: expected a file ending in .safetensors, got ${flags.out}`);
      const axis = choice('--axis', flags.axis, { '0': 0, '1': 1 } as const)!;
      const rule = choice(
        '--rule',
        flags.rule,
        Object.fromEntries(SCALE_RULES.map((name) => [name, name])) as Record<string, ScaleRule>,
      )!;
      const block = choice('--block', flags.block, { '16': 16, '32': 32 })!;
      const kind = flags.to.toLowerCase();
      const plain = kind === 'nvfp4' || Object.hasOwn(MX, kind) ? undefined : plainFormat(flags.to);
      const lines = await readLines(
        file,
        flags.format === undefined ? undefined : findFormat(flags.format),
        axis,
        io.signal,
      );
      const shape = axis === 1 ? [lines.lines, lines.k] : [lines.k, lines.lines];
      if (plain !== undefined) {
        const { words, changed, overflowed } = castWords(
          file,
          lines.words,
          lines.format,
          plain,
          castRule(plain),
        );
        const elements: Writable = { format: plain, words: restore(lines, words, lines.k), shape };
        await writeAtomically(flags.out, safetensorsParts({ elements }));
        io.out(
          `${flags.out}: elements ${shape.join(' x ')} of ${plain}; ${changed} values changed, ${overflowed} beyond its range\n`,
        );
        return;
      }
      const values = asSingles(file, lines);
      const quantized =
        kind === 'nvfp4'
          ? quantizeNvfp4(values, lines.lines, lines.k)
          : quantizeMx(values, lines.lines, lines.k, { element: MX[kind]!, rule, block });
      await writeAtomically(flags.out, safetensorsParts(tensorsOf(lines, quantized, shape)));
      const how = kind === 'nvfp4' ? 'nvfp4' : `${kind}, ${rule}`;
      io.out(
        `${flags.out}: elements ${shape.join(' x ')} of ${quantized.format}, scales ${lines.lines} x ${Math.ceil(lines.k / quantized.block)} of ${quantized.scaleFormat} (${how}, blocks of ${quantized.block} along K)\n`,
      );
    });

function plainFormat(name: string): FormatName {
  const format = findFormat(name);
  if (FORMATS[format].kind !== 'float' || format === 'ue4m3')
    throw new InputError(
      `--to: expected ${Object.keys(MX).join(', ')}, nvfp4 or a float format, got ${name}`,
    );
  return format;
}

function tensorsOf(lines: Lines, quantized: Quantized, shape: readonly number[]): Record<string, Writable> {
  const { format, elements, scaleFormat, scales, block, tensorScale } = quantized;
  return {
    elements: { format, words: restore(lines, elements, lines.k), shape },
    scales: { format: scaleFormat, words: scales, shape: [lines.lines, Math.ceil(lines.k / block)] },
    ...(tensorScale !== undefined && {
      tensor_scale: { format: 'fp32', words: new Uint32Array([tensorScale]), shape: [1] },
    }),
  };
}
