import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { catalogHash, type FormatName, InputError, type MmaOp, opHash, type WordArray } from '@bitmma/core';
import type { OutMatrix } from '../cublas/scaled-mm.js';
import { parseFileSpec } from '../files/open.js';
import { writeAtomically } from '../files/write.js';
import { type GemmOptions, type GemmResult, hashWords } from '../gemm/gemm.js';
import type { GemmOperands, LoadedOperands } from '../gemm/prepare.js';
import { rowGroup, rowHashes } from './rows.js';
import { type GemmRun, type Manifest, type ManifestRun, manifestSchema, type ScaledMmRun } from './schema.js';

export type { GemmRun, Manifest, ManifestRun, ScaledMmRun } from './schema.js';

/** A GEMM that ran on loaded files. */
export interface GemmRecord {
  readonly kind: 'gemm';
  readonly operands: GemmOperands;
  readonly loaded: LoadedOperands;
  readonly options: GemmOptions;
  readonly result: GemmResult;
  readonly written: string | null;
}

/** A scaled_mm that ran on loaded files: the options as the manifest keeps them. */
export interface ScaledMmRecord {
  readonly kind: 'scaled-mm';
  readonly op: MmaOp;
  readonly a: { readonly source: string; readonly shape: readonly number[]; readonly words: WordArray };
  readonly b: ScaledMmRecord['a'];
  readonly options: ScaledMmRun['options'];
  readonly engine: string;
  readonly out: OutMatrix;
  readonly written: string | null;
}

export type RunRecord = GemmRecord | ScaledMmRecord;

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
    runs: runs.map((run) => (run.kind === 'gemm' ? gemmRun(path, run) : scaledMmRun(path, run))),
  };
  await writeAtomically(path, [`${JSON.stringify(manifest, null, 1)}\n`]);
}

function gemmRun(path: string, { operands, loaded, options, result, written }: GemmRecord): GemmRun {
  const roles = ['a', 'b', 'c', 'scaleA', 'scaleB', 'sparseMeta'] as const;
  const { aFormat, bFormat, outFormat, cast } = options;
  return {
    kind: 'gemm',
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
    result: resultOf(path, written, result.format, result.shape, result.words),
  };
}

function scaledMmRun(path: string, record: ScaledMmRecord): ScaledMmRun {
  const { op, options, engine, out, written } = record;
  return {
    kind: 'scaled-mm',
    op: op as unknown as Record<string, unknown>,
    opHash: opHash(op),
    inputs: (['a', 'b'] as const).map((role) => ({
      role,
      source: relocate(record[role].source, path),
      dtype: role === 'a' ? options.aFormat : options.bFormat,
      shape: [...record[role].shape],
      sha256: hashWords(record[role].words),
    })),
    options,
    engine,
    result: resultOf(path, written, out.format, out.shape, out.words),
  };
}

function resultOf(
  path: string,
  written: string | null,
  format: FormatName,
  shape: readonly number[],
  words: WordArray,
): ManifestRun['result'] {
  const rowsPerHash = rowGroup(shape);
  return {
    file: written === null ? null : relocate(written, path),
    format,
    shape: [...shape],
    sha256: hashWords(words),
    rowsPerHash,
    rowHashes: rowHashes(words, format, shape, rowsPerHash),
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
