import { InputError } from '@bitmma/core';
import type { StreamResult } from '../gemm/stream.js';

const UNITS: Readonly<Record<string, number>> = { K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };

/** Bytes of `512M`, `4G`, or a plain number. */
export function parseSize(text: string): number {
  const match = /^(\d{1,12})([KMGT]?)$/i.exec(text);
  if (!match) throw new InputError(`--memory: expected a size such as 512M or 4G, got ${text}`);
  return Number(match[1]) * (UNITS[match[2]!.toUpperCase()] ?? 1);
}

/** What a streamed GEMM takes from the flags; the flags that it has no use for are refused. */
export function streamOptions(flags: {
  memory?: string;
  out?: string;
  c?: string;
  transA?: boolean;
  transB?: boolean;
  scaleA?: string;
  scaleB?: string;
  sparseMeta?: string;
  manifest?: string;
}): { out: string; memory: number; transB: boolean } {
  if (flags.out === undefined) throw new InputError('--memory: expected --out FILE.npy beside it, got none');
  for (const [name, value] of Object.entries({
    '--c': flags.c,
    '--trans-a': flags.transA,
    '--scale-a': flags.scaleA,
    '--scale-b': flags.scaleB,
    '--sparse-meta': flags.sparseMeta,
    '--manifest': flags.manifest,
  }))
    if (value !== undefined)
      throw new InputError(`${name}: expected none with --memory, which streams dense A and B`);
  return { out: flags.out, memory: parseSize(flags.memory!), transB: flags.transB === true };
}

export const streamJson = ({ op, ...result }: StreamResult) => ({
  device: op.device,
  instruction: op.instruction,
  format: op.d,
  ...result,
});

export const streamText = (r: StreamResult): string =>
  `D = A x B on ${r.op.device}: ${r.shape.join(' x ')} of ${r.op.d}, K = ${r.k}, streamed in strips of ${r.strip.join(' x ')}\n` +
  `  instruction  ${r.op.instruction}\n` +
  `  engine       ${r.engine}, ${r.seconds.toPrecision(3)} s, ${(r.macs / 1e6).toPrecision(3)} M multiply-adds, ${(r.macs / r.seconds / 1e6).toPrecision(3)} M/s\n` +
  `  sha256       ${r.sha256}\n`;
