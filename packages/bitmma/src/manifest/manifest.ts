import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { catalogHash, InputError } from '@bitmma/core';
import { z } from 'zod';
import { parseFileSpec } from '../files/open.js';
import { writeAtomically } from '../files/write.js';
import { type GemmOptions, type GemmResult, hashWords } from '../gemm/gemm.js';
import type { GemmOperands, LoadedOperands } from '../gemm/prepare.js';
import { rowGroup, rowHashes } from './rows.js';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().nonnegative();

const runSchema = z.strictObject({
  /** The op itself, so that a later catalog cannot change what the run claims. */
  op: z.record(z.string(), z.unknown()),
  opHash: sha256,
  inputs: z.array(
    z.strictObject({
      role: z.enum(['a', 'b', 'c', 'scaleA', 'scaleB', 'sparseMeta']),
      /** File argument, its path relative to the manifest. */
      source: z.string(),
      dtype: z.string(),
      shape: z.array(count),
      sha256,
    }),
  ),
  options: z.strictObject({
    transA: z.boolean(),
    transB: z.boolean(),
    aFormat: z.string().optional(),
    bFormat: z.string().optional(),
    outFormat: z.string().optional(),
    rounding: z.enum(['RNE', 'RZ']).optional(),
    saturate: z.boolean().optional(),
  }),
  engine: z.string(),
  kernel: z.string(),
  result: z.strictObject({
    /** Where the words were written, relative to the manifest; null: nowhere. */
    file: z.string().nullable(),
    format: z.string(),
    shape: z.array(count),
    sha256,
    /** Result rows (batch included) of one hash. */
    rowsPerHash: z.int().positive(),
    /** First 32 hex digits of each group's SHA-256. */
    rowHashes: z.array(z.string().regex(/^[0-9a-f]{32}$/)),
  }),
});

const manifestSchema = z.strictObject({
  bitmmaManifest: z.literal(1),
  version: z.string(),
  node: z.string(),
  catalogHash: sha256,
  runs: z.array(runSchema).min(1),
});

export type ManifestRun = z.infer<typeof runSchema>;
export type Manifest = z.infer<typeof manifestSchema>;

export interface RunRecord {
  readonly operands: GemmOperands;
  readonly loaded: LoadedOperands;
  readonly options: GemmOptions;
  readonly result: GemmResult;
  readonly written: string | null;
}

/** Writes a manifest of runs: what went in, what was computed, by what, and hashes of the result by rows. */
export async function writeManifest(
  path: string,
  version: string,
  runs: readonly RunRecord[],
): Promise<void> {
  const manifest: Manifest = {
    bitmmaManifest: 1,
    version,
    node: process.version,
    catalogHash: catalogHash(),
    runs: runs.map((run) => manifestRun(path, run)),
  };
  await writeAtomically(path, [`${JSON.stringify(manifest, null, 1)}\n`]);
}

function manifestRun(path: string, { operands, loaded, options, result, written }: RunRecord): ManifestRun {
  const roles = ['a', 'b', 'c', 'scaleA', 'scaleB', 'sparseMeta'] as const;
  const { aFormat, bFormat, outFormat, cast } = options;
  return {
    op: result.op as unknown as Record<string, unknown>,
    opHash: result.opHash,
    inputs: roles.flatMap((role) => {
      const tensor = loaded[role];
      const source = operands[role];
      if (tensor === null || source === undefined) return [];
      if (typeof source !== 'string')
        throw new InputError(`a manifest needs operands in files, got words in memory for ${role}`);
      return [
        {
          role,
          source: relocate(source, path),
          dtype: tensor.dtype.name,
          shape: [...tensor.shape],
          sha256: hashWords(tensor.words),
        },
      ];
    }),
    options: {
      transA: loaded.transA,
      transB: loaded.transB,
      ...(aFormat !== undefined && { aFormat }),
      ...(bFormat !== undefined && { bFormat }),
      ...(outFormat !== undefined && { outFormat }),
      ...(cast?.rounding !== undefined && { rounding: cast.rounding }),
      ...(cast?.saturate !== undefined && { saturate: cast.saturate }),
    },
    engine: result.engine,
    kernel: result.kernel,
    result: {
      file: written === null ? null : relocate(written, path),
      format: result.format,
      shape: [...result.shape],
      sha256: result.sha256,
      rowsPerHash: rowGroup(result.shape),
      rowHashes: rowHashes(result.words, result.format, result.shape, rowGroup(result.shape)),
    },
  };
}

/** A file argument as seen from the manifest's folder. */
function relocate(source: string, manifest: string): string {
  const { path, member } = parseFileSpec(source);
  const moved = isAbsolute(path)
    ? path
    : relative(dirname(resolve(manifest)), resolve(path)).replaceAll('\\', '/');
  return member === null ? moved : `${moved}:${member}`;
}

/** A manifest's file argument as seen from here. */
export function locate(source: string, manifest: string): string {
  const { path, member } = parseFileSpec(source);
  const moved = isAbsolute(path) ? path : resolve(dirname(resolve(manifest)), path);
  return member === null ? moved : `${moved}:${member}`;
}

/** Reads and checks a manifest; InputError names the field that does not fit. */
export async function readManifest(path: string): Promise<Manifest> {
  let json: unknown;
  try {
    json = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw new InputError(
      code === undefined
        ? `${path}: expected a manifest in JSON, got other text`
        : `${path}: cannot be read (${code})`,
    );
  }
  const parsed = manifestSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new InputError(`${path}: ${issue!.path.join('.') || 'manifest'}: ${issue!.message}`);
}
