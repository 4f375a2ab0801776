/** Conformance over files and folders. Node only; everything else of conformance runs in a browser too. */
import { createReadStream, createWriteStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { findOp } from '../datapath/aliases/op.js';
import type { Engine } from '../engine/engine.js';
import { InputError } from '../errors.js';
import { readBinary, writeBinary } from './binary.js';
import type { CaseSet } from './cases.js';
import { readVectors, writeVectors } from './jsonl.js';
import { unprovedClaims } from './predicates.js';
import { readRecording, recordingFiles, recordingSetOf } from './recordings.js';
import { runSuite, type SuiteResult } from './suite.js';
import { located, type Resolve } from './vector.js';

const kindOf = (path: string): 'jsonl' | 'binary' | 'recording' | null => {
  if (extname(path) === '.jsonl') return 'jsonl';
  if (extname(path) === '.bmv') return 'binary';
  return recordingSetOf(path.replaceAll('\\', '/')) ? 'recording' : null;
};

/** The vector files and recorded sets (by their d files) under files and folders, folders in name order. */
export async function findVectorFiles(paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const visit = async (path: string, named: boolean): Promise<number> => {
    const info = await stat(path).catch((error: NodeJS.ErrnoException) => {
      throw new InputError(`${path}: expected a file or folder, ${error.code ?? error.message}`);
    });
    if (!info.isDirectory()) {
      if (kindOf(path)) return found.push(path);
      if (named)
        throw new InputError(
          `${path}: expected a .jsonl or .bmv file, or GPU/FORMAT/d_GPU_fp32.txt of a recording`,
        );
      return 0;
    }
    let count = 0;
    for (const name of (await readdir(path)).sort()) count += await visit(join(path, name), false);
    if (named && count === 0)
      throw new InputError(`${path}: expected vector files or recordings in it, got none`);
    return count;
  };
  for (const path of paths) await visit(path, true);
  return [...new Set(found)];
}

export interface FileOptions {
  /** Finds the op that a vector names; default the catalog's findOp. */
  readonly resolve?: Resolve;
  /** Refuse cases without d; default true. */
  readonly requireD?: boolean;
}

/** The case sets of one file, as it is read. */
export async function* readVectorFile(path: string, options: FileOptions = {}): AsyncGenerator<CaseSet> {
  const { resolve = findOp, requireD = true } = options;
  const read = { source: path, resolve, requireD };
  switch (kindOf(path)) {
    case 'jsonl':
      yield* readVectors(createReadStream(path, { encoding: 'utf8' }) as AsyncIterable<string>, read);
      return;
    case 'binary':
      yield* readBinary(
        createReadStream(path, { highWaterMark: 1 << 20 }) as AsyncIterable<Uint8Array>,
        read,
      );
      return;
    case 'recording': {
      const set = recordingSetOf(path.replaceAll('\\', '/'))!;
      const names = recordingFiles(set);
      const [a, b, c, d] = await Promise.all(
        [names.a, names.b, names.c, names.d].map((name) => readFile(join(dirname(path), name), 'utf8')),
      );
      try {
        yield readRecording(set, { a, b, c, d }, resolve, path);
      } catch (error) {
        throw located(error, dirname(path));
      }
      return;
    }
    case null:
      throw new InputError(
        `${path}: expected a .jsonl or .bmv file, or GPU/FORMAT/d_GPU_fp32.txt of a recording`,
      );
  }
}

/** Writes sets as JSON Lines, or one set as binary where the path ends in `.bmv`. */
export async function writeVectorFile(path: string, sets: readonly CaseSet[]): Promise<void> {
  if (extname(path) === '.bmv') {
    if (sets.length !== 1)
      throw new InputError(`${path}: expected the cases of one op, got ${sets.length} sets`);
    await pipeline(Readable.from([writeBinary(sets[0])]), createWriteStream(path));
    return;
  }
  function* lines() {
    for (const [i, set] of sets.entries())
      for (const line of writeVectors(set, { header: i === 0 && set.provenance !== undefined }))
        yield `${line}\n`;
  }
  await pipeline(Readable.from(lines()), createWriteStream(path));
}

export interface ConformanceOptions {
  /** Vector files, recorded d files, and folders of them. */
  readonly paths: readonly string[];
  readonly engine: Engine;
  readonly kernel?: string;
  /** Finds the op that a vector names; default the catalog's findOp. */
  readonly resolve?: Resolve;
  /** Shrinks mismatches against this engine. */
  readonly against?: Engine;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: { readonly source: string; readonly done: number }) => void;
}

/**
 * Runs an engine over every vector in files and folders.
 * @throws InputError for a path without vectors, a bad line or a claim that does not hold; NothingRanError where the engine or kernel ran nothing.
 */
export async function runConformance(options: ConformanceOptions): Promise<SuiteResult> {
  const { paths, resolve, ...suite } = options;
  const files = await findVectorFiles(paths);
  async function* sets() {
    for (const file of files)
      for await (const set of readVectorFile(file, resolve ? { resolve } : {})) {
        const [unproved] = unprovedClaims(set);
        if (unproved !== undefined) throw new InputError(unproved);
        yield set;
      }
  }
  return runSuite(sets(), suite);
}
