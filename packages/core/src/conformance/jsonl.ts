import { InputError } from '../errors.js';
import type { CaseSet } from './cases.js';
import { asRecord, CaseBuilder, located, type Resolve, recordOf } from './vector.js';

/**
 * The first line of a vector file may be a header instead of a vector:
 * `{"bitmmaVectors":1,"provenance":{...}}`, provenance holding strings (source, device, driver, toolkit, date).
 */
export interface VectorHeader {
  readonly bitmmaVectors: 1;
  readonly provenance?: Readonly<Record<string, string>>;
}

export interface ReadOptions {
  /** Named in every error and in each set. */
  readonly source: string;
  readonly resolve: Resolve;
  /** Refuse a vector without d. */
  readonly requireD?: boolean;
  /** Cases in one set at most. */
  readonly chunk?: number;
}

type Text = Iterable<string> | AsyncIterable<string>;

/** Cuts chunks of text into lines; a final line needs no newline, CR before LF is dropped. */
export async function* linesOf(chunks: Text): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of chunks) {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop()!;
    for (const part of parts) yield part.endsWith('\r') ? part.slice(0, -1) : part;
  }
  if (rest !== '') yield rest;
}

function asHeader(value: unknown): VectorHeader | null {
  if (typeof value !== 'object' || value === null || !('bitmmaVectors' in value)) return null;
  const header = value as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(header))
    if (name !== 'bitmmaVectors' && name !== 'provenance')
      throw new InputError(`${name}: expected bitmmaVectors and provenance alone in a header`);
  if (header.bitmmaVectors !== 1)
    throw new InputError(`bitmmaVectors: expected version 1, got ${JSON.stringify(header.bitmmaVectors)}`);
  const { provenance } = header;
  if (provenance !== undefined) {
    if (typeof provenance !== 'object' || provenance === null || Array.isArray(provenance))
      throw new InputError(`provenance: expected an object of strings, got ${JSON.stringify(provenance)}`);
    for (const [name, text] of Object.entries(provenance))
      if (typeof text !== 'string')
        throw new InputError(`provenance.${name}: expected a string, got ${JSON.stringify(text)}`);
  }
  return value as VectorHeader;
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new InputError(`expected one JSON object, ${(error as Error).message}`);
  }
}

/**
 * Reads vectors from text as it arrives, grouped by op into sets of at most `chunk` cases; within an op the order
 * of the file is kept.
 * @throws InputError `source:line: field: expected ..., got ...`.
 */
export async function* readVectors(chunks: Text, options: ReadOptions): AsyncGenerator<CaseSet> {
  const { source, resolve, requireD = true, chunk = 1024 } = options;
  const builders = new Map<string, CaseBuilder>();
  const ids = new Set<string>();
  let provenance: Readonly<Record<string, string>> | undefined;
  let number = 0;
  let first = true;
  for await (const line of linesOf(chunks)) {
    number++;
    if (line.trim() === '') continue;
    let full: CaseBuilder | null = null;
    try {
      const value = parseJson(line);
      const header = first ? asHeader(value) : null;
      first = false;
      if (header) {
        provenance = header.provenance;
        continue;
      }
      const record = asRecord(value);
      if (ids.has(record.id))
        throw new InputError(`id: expected one unique in its file, got ${record.id} again`);
      ids.add(record.id);
      if (requireD && record.d === undefined) throw new InputError('d: expected a string, got nothing');
      const key = `${record.device}\n${record.instruction}`;
      let builder = builders.get(key);
      if (!builder) {
        builder = new CaseBuilder(resolve(record.device, record.instruction), source, chunk, provenance);
        builders.set(key, builder);
      }
      builder.add(record);
      if (builder.count === chunk) {
        full = builder;
        builders.delete(key);
      }
    } catch (error) {
      throw located(error, `${source}:${number}`);
    }
    if (full) yield built(full);
  }
  for (const builder of builders.values()) yield built(builder);
}

function built(builder: CaseBuilder): CaseSet {
  try {
    return builder.build();
  } catch (error) {
    throw located(error, builder.source);
  }
}

/** Lines of a set in canonical form, without newlines: no spaces, fields in the order of the schema. */
export function* writeVectors(set: CaseSet, options: { header?: boolean } = {}): Generator<string> {
  if (options.header) {
    const header: VectorHeader = {
      bitmmaVectors: 1,
      ...(set.provenance ? { provenance: set.provenance } : {}),
    };
    yield JSON.stringify(header);
  }
  for (let i = 0; i < set.count; i++) yield JSON.stringify(recordOf(set, i));
}
