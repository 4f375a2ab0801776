import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { catalog, findDevice, InputError, type MmaOp } from '@bitmma/core';
import {
  binaryHeader,
  campaignsFor,
  generateCases,
  writeBinaryHeader,
  writeBinaryRecords,
} from '@bitmma/core/conformance';

export interface PrepareOptions {
  /** Cases an instruction, shared by its campaigns. */
  readonly cases: number;
  /** Seed of the generators, 0 <= seed < 2^53. */
  readonly seed: number;
}

/** File name of an instruction. */
export const fileName = (instruction: string): string => instruction.replaceAll('::', '-');

/** Seeded inputs of one op: every campaign's share in order, a binary vector file without d. */
export function inputsOf(op: MmaOp, { cases, seed }: PrepareOptions): Uint8Array[] {
  const campaigns = campaignsFor(op);
  const share = Math.ceil(cases / campaigns.length);
  const sets = campaigns.map((campaign) => generateCases(op, campaign, { count: share, seed }));
  const header = binaryHeader(op, op.k, true, false, {
    source: 'generated',
    campaign: campaigns.map(({ name }, i) => `${name} ${i * share}-${(i + 1) * share - 1}`).join(', '),
    seed: String(seed),
  });
  return [writeBinaryHeader(header), ...sets.map((set) => writeBinaryRecords(set, header))];
}

/** FP8 GEMMs worth recording: chains below, at and above the 128 of slow accumulation, and shapes that split K. */
export function gemmsOf(seed: number): string[] {
  const shapes = [
    [16, 16, 64],
    [16, 32, 128],
    [64, 64, 256],
    [16, 16, 1024],
    [128, 256, 512],
    [16, 64, 5760],
    [32, 32, 16384],
  ] as const;
  const pairs = [
    ['e4m3', 'e4m3'],
    ['e4m3', 'e5m2'],
    ['e5m2', 'e4m3'],
  ] as const;
  const lines: string[] = [];
  for (const [m, n, k] of shapes)
    for (const [a, b] of pairs)
      for (const out of ['f32', 'bf16'])
        for (const fast of [true, false])
          lines.push(
            JSON.stringify({
              id: `${a}-${b}-${m}x${n}x${k}-${out}-${fast ? 'fast' : 'slow'}`,
              ...{ m, n, k, a, b, out, fast, seed: seed + lines.length },
            }),
          );
  return lines;
}

/**
 * Writes what `scripts/record-all` runs on a GPU machine without Node: `<folder>/<device>/<instruction>.bmv` for
 * every instruction of the device, and `gemms.jsonl` where cuBLAS has FP8. Resolves to the file names.
 */
export async function prepareCases(
  device: string,
  folder: string,
  options: PrepareOptions,
): Promise<string[]> {
  if (!(Number.isSafeInteger(options.cases) && options.cases > 0))
    throw new InputError(`cases: expected a whole number of 1 or more, got ${options.cases}`);
  const { id, vendor } = findDevice(device);
  const into = join(folder, id);
  await mkdir(into, { recursive: true });
  const ops = catalog().filter((op) => op.device === id);
  const files: string[] = [];
  for (const op of ops) {
    const file = join(into, `${fileName(op.instruction)}.bmv`);
    await writeFile(file, inputsOf(op, options));
    files.push(file);
  }
  if (vendor === 'nvidia' && ops.some((op) => op.a === 'e4m3')) {
    const file = join(into, 'gemms.jsonl');
    await writeFile(file, `${gemmsOf(options.seed).join('\n')}\n`);
    files.push(file);
  }
  return files;
}
