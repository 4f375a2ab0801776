import type { MmaOp } from '../datapath/op.js';
import type { WordArray } from '../engine/engine.js';
import { BitmmaError, InputError } from '../errors.js';
import { allocateCases, type CaseSet, checkSelectors } from './cases.js';
import { allocateWords, formatWords, itemsPerWord, parseWords, scaleWords, sparseWords } from './words.js';

/** Finds the op that a vector names; throws for unknown ones. The catalog's `findOp` fits. */
export type Resolve = (device: string, instruction: string) => MmaOp;

/** One line of a vector file, field by field (docs of the format: schemas/vectors.schema.json). */
export interface VectorRecord {
  readonly id: string;
  readonly device: string;
  readonly instruction: string;
  readonly a: string;
  readonly b: string;
  readonly c: string;
  readonly d?: string;
  readonly scaleA?: string;
  readonly scaleB?: string;
  readonly sparse?: readonly string[];
  readonly accept?: readonly string[];
  readonly claims?: readonly string[];
  readonly evidence?: string;
  readonly note?: string;
}

const TEXT = [
  'id',
  'device',
  'instruction',
  'a',
  'b',
  'c',
  'd',
  'scaleA',
  'scaleB',
  'evidence',
  'note',
] as const;
const LISTS = ['sparse', 'accept', 'claims'] as const;
const REQUIRED = ['id', 'device', 'instruction', 'a', 'b', 'c'] as const;
const FIELDS: readonly string[] = [...TEXT, ...LISTS];

const show = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
};

/**
 * Checks the shape of a parsed line.
 * @throws InputError naming the field, what was expected and what came.
 */
export function asRecord(value: unknown): VectorRecord {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new InputError(`expected one JSON object, got ${show(value)}`);
  const record = value as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(record))
    if (!FIELDS.includes(name))
      throw new InputError(`${name}: expected one of the fields ${FIELDS.join(', ')}`);
  for (const name of REQUIRED)
    if (record[name] === undefined) throw new InputError(`${name}: expected a string, got nothing`);
  for (const name of TEXT)
    if (record[name] !== undefined && typeof record[name] !== 'string')
      throw new InputError(`${name}: expected a string, got ${show(record[name])}`);
  for (const name of LISTS) {
    const list = record[name];
    if (list !== undefined && !(Array.isArray(list) && list.every((item) => typeof item === 'string')))
      throw new InputError(`${name}: expected an array of strings, got ${show(list)}`);
  }
  return value as VectorRecord;
}

/** Collects the vectors of one op into a case set. */
export class CaseBuilder {
  private readonly records: VectorRecord[] = [];
  private readonly words;
  private readonly d: WordArray;
  private withD = 0;
  private readonly accept = new Map<number, WordArray>();

  constructor(
    readonly op: MmaOp,
    readonly source: string,
    readonly capacity: number,
    private readonly provenance?: Readonly<Record<string, string>>,
  ) {
    this.words = allocateCases(op, capacity);
    this.d = allocateWords(op.d, capacity);
  }

  get count(): number {
    return this.records.length;
  }

  /**
   * Adds a vector.
   * @throws InputError for a word count that is not the op's K, digits that are not the container's width, a
   * scale, metadata or d that the op lacks or needs, an illegal selector.
   */
  add(record: VectorRecord): void {
    const { op, words } = this;
    const i = this.records.length;
    parseWords(op.a, record.a, op.k, 'a', words.a, i * op.k);
    parseWords(op.b, record.b, op.k, 'b', words.b, i * op.k);
    parseWords(op.c, record.c, 1, 'c', words.c, i);
    if (record.d !== undefined) {
      parseWords(op.d, record.d, 1, 'd', this.d, i);
      this.withD++;
    }
    this.addScales(record, i);
    this.addSparse(record, i);
    if (record.accept) {
      const others = allocateWords(op.d, record.accept.length);
      record.accept.forEach((word, j) => {
        parseWords(op.d, word, 1, `accept[${j}]`, others, j);
      });
      this.accept.set(i, others);
    }
    this.records.push(record);
  }

  private addScales(record: VectorRecord, i: number): void {
    const { op, words } = this;
    for (const name of ['scaleA', 'scaleB'] as const) {
      const text = record[name];
      const into = words[name];
      if (!op.scaling || !into) {
        if (text !== undefined)
          throw new InputError(`${name}: expected none, ${op.instruction} has no scales, got ${show(text)}`);
        continue;
      }
      const count = scaleWords(op, op.k);
      if (text === undefined)
        throw new InputError(`${name}: expected ${count} ${op.scaling.format} words, got nothing`);
      parseWords(op.scaling.format, text, count, name, into, i * count);
    }
  }

  private addSparse(record: VectorRecord, i: number): void {
    const { op, words } = this;
    if (!words.sparse) {
      if (record.sparse !== undefined)
        throw new InputError(`sparse: expected none, ${op.instruction} is dense, got ${show(record.sparse)}`);
      return;
    }
    const count = sparseWords(op, op.k);
    if (record.sparse?.length !== count)
      throw new InputError(
        `sparse: expected ${count} metadata word${count === 1 ? '' : 's'}, got ${record.sparse?.length ?? 'nothing'}`,
      );
    record.sparse.forEach((text, j) => {
      if (!/^[0-9a-fA-F]{8}$/.test(text))
        throw new InputError(`sparse[${j}]: expected 8 hex digits, got ${show(text)}`);
      words.sparse![i * count + j] = Number.parseInt(text, 16);
    });
    checkSelectors(op, op.k, words.sparse.subarray(i * count, (i + 1) * count));
  }

  /** The collected cases. Every vector has a d, or none has: a set that mixes both is an InputError. */
  build(): CaseSet {
    const { op, records } = this;
    const count = records.length;
    if (this.withD !== 0 && this.withD !== count) {
      const missing = records.find((record) => record.d === undefined)!;
      throw new InputError(`d: expected a word in every vector or in none, ${missing.id} has none`);
    }
    const cut = (words: WordArray, each: number) => words.subarray(0, count * each);
    const scales = scaleWords(op, op.k);
    const metadata = sparseWords(op, op.k);
    const column = <T>(field: (record: VectorRecord) => T | undefined): ReadonlyMap<number, T> => {
      const map = new Map<number, T>();
      records.forEach((record, i) => {
        const value = field(record);
        if (value !== undefined) map.set(i, value);
      });
      return map;
    };
    return {
      op,
      source: this.source,
      count,
      k: op.k,
      a: cut(this.words.a, op.k * itemsPerWord(op.a)),
      b: cut(this.words.b, op.k * itemsPerWord(op.b)),
      c: cut(this.words.c, itemsPerWord(op.c)),
      ...(this.withD > 0 ? { d: cut(this.d, itemsPerWord(op.d)) } : {}),
      ...(this.words.scaleA && this.words.scaleB
        ? {
            scaleA: this.words.scaleA.subarray(0, count * scales),
            scaleB: this.words.scaleB.subarray(0, count * scales),
          }
        : {}),
      ...(this.words.sparse ? { sparse: this.words.sparse.subarray(0, count * metadata) } : {}),
      accept: this.accept,
      claims: column((record) => record.claims),
      evidence: column((record) => record.evidence),
      notes: column((record) => record.note),
      ...(this.provenance ? { provenance: this.provenance } : {}),
      id: (index) => records[index].id,
    };
  }
}

/** Case `i` of a set as a record, its fields in canonical order; `d` overrides the expected word. */
export function recordOf(set: CaseSet, i: number, d: WordArray | undefined = set.d): VectorRecord {
  const { op, k } = set;
  const scales = scaleWords(op, k);
  const metadata = sparseWords(op, k);
  const accept = set.accept?.get(i);
  const claims = set.claims?.get(i);
  const evidence = set.evidence?.get(i);
  const note = set.notes?.get(i);
  return {
    id: set.id(i),
    device: op.device,
    instruction: op.instruction,
    a: formatWords(op.a, set.a, i * k, k),
    b: formatWords(op.b, set.b, i * k, k),
    c: formatWords(op.c, set.c, i, 1),
    ...(d ? { d: formatWords(op.d, d, i, 1) } : {}),
    ...(op.scaling && set.scaleA && set.scaleB
      ? {
          scaleA: formatWords(op.scaling.format, set.scaleA, i * scales, scales),
          scaleB: formatWords(op.scaling.format, set.scaleB, i * scales, scales),
        }
      : {}),
    ...(set.sparse
      ? {
          sparse: [...set.sparse.subarray(i * metadata, (i + 1) * metadata)].map((word) =>
            word.toString(16).padStart(8, '0'),
          ),
        }
      : {}),
    ...(accept ? { accept: formatWords(op.d, accept).split(' ') } : {}),
    ...(claims ? { claims } : {}),
    ...(evidence ? { evidence } : {}),
    ...(note ? { note } : {}),
  };
}

/** Prefixes an error of this project with where it happened; other errors pass. */
export function located(error: unknown, where: string): unknown {
  if (!(error instanceof BitmmaError)) return error;
  return new InputError(`${where}: ${error.message}`, { cause: error });
}
