/**
 * The binary vector form, `docs/vector-binary.md`: magic `BITMMAV1`, uint32 header length, header JSON, then
 * fixed-size records a, b, c, d, scaleA, scaleB, sparse, little-endian and tightly packed.
 */
import type { MmaOp } from '../datapath/op.js';
import type { WordArray } from '../engine/engine.js';
import { InputError } from '../errors.js';
import { FORMATS, type FormatName } from '../formats/table.js';
import { allocateCases, type CaseSet, checkSelectors } from './cases.js';
import { located, type Resolve } from './vector.js';
import { allocateWords, itemBits, itemsPerWord, scaleWords, sparseWords } from './words.js';

const MAGIC = 'BITMMAV1';
const HEADER_LIMIT = 1 << 20;

export interface BinaryHeader {
  readonly op: { readonly device: string; readonly instruction: string };
  readonly k: number;
  readonly aBits: number;
  readonly bBits: number;
  readonly cBits: number;
  readonly dBits: number;
  readonly scaleWords: number;
  readonly sparseWords: number;
  readonly hasC: boolean;
  readonly hasD: boolean;
  readonly provenance?: Readonly<Record<string, string>>;
}

/** The header that an op's cases have. */
export function binaryHeader(
  op: MmaOp,
  k: number,
  hasC: boolean,
  hasD: boolean,
  provenance?: Readonly<Record<string, string>>,
): BinaryHeader {
  return {
    op: { device: op.device, instruction: op.instruction },
    k,
    aBits: FORMATS[op.a].wordBits,
    bBits: FORMATS[op.b].wordBits,
    cBits: FORMATS[op.c].wordBits,
    dBits: FORMATS[op.d].wordBits,
    scaleWords: scaleWords(op, k),
    sparseWords: sparseWords(op, k),
    hasC,
    hasD,
    ...(provenance ? { provenance } : {}),
  };
}

/** Bytes of one record. */
export const recordBytes = (h: BinaryHeader): number =>
  (h.k * (h.aBits + h.bBits)) / 8 +
  (h.hasC ? h.cBits / 8 : 0) +
  (h.hasD ? h.dBits / 8 : 0) +
  2 * h.scaleWords +
  4 * h.sparseWords;

function putItems(
  view: DataView,
  at: number,
  bits: 8 | 16 | 32,
  words: WordArray,
  from: number,
  count: number,
) {
  for (let i = 0; i < count; i++) {
    const word = words[from + i];
    if (bits === 8) view.setUint8(at + i, word);
    else if (bits === 16) view.setUint16(at + 2 * i, word, true);
    else view.setUint32(at + 4 * i, word, true);
  }
  return at + (count * bits) / 8;
}

function getItems(
  view: DataView,
  at: number,
  bits: 8 | 16 | 32,
  words: WordArray,
  into: number,
  count: number,
) {
  for (let i = 0; i < count; i++)
    words[into + i] =
      bits === 8
        ? view.getUint8(at + i)
        : bits === 16
          ? view.getUint16(at + 2 * i, true)
          : view.getUint32(at + 4 * i, true);
  return at + (count * bits) / 8;
}

/** Calls `part` with every array of a record in file order: bits an item, array, items a case. */
function eachPart(
  op: MmaOp,
  header: BinaryHeader,
  set: {
    a: WordArray;
    b: WordArray;
    c: WordArray;
    d?: WordArray;
    scaleA?: Uint8Array;
    scaleB?: Uint8Array;
    sparse?: Uint32Array;
  },
  part: (bits: 8 | 16 | 32, words: WordArray, items: number) => void,
): void {
  const one = (format: FormatName, words: WordArray, count: number) =>
    part(itemBits(format), words, count * itemsPerWord(format));
  one(op.a, set.a, header.k);
  one(op.b, set.b, header.k);
  if (header.hasC) one(op.c, set.c, 1);
  if (header.hasD && set.d) one(op.d, set.d, 1);
  if (header.scaleWords > 0 && set.scaleA && set.scaleB) {
    part(8, set.scaleA, header.scaleWords);
    part(8, set.scaleB, header.scaleWords);
  }
  if (header.sparseWords > 0 && set.sparse) part(32, set.sparse, header.sparseWords);
}

/** The file's first bytes; padded with spaces so that the records start at a multiple of 8. */
export function writeBinaryHeader(header: BinaryHeader): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const padded = Math.ceil((12 + text.length) / 8) * 8 - 12;
  if (padded > HEADER_LIMIT)
    throw new InputError(`header: expected at most ${HEADER_LIMIT} bytes, got ${padded}`);
  const out = new Uint8Array(12 + padded).fill(0x20);
  for (let i = 0; i < 8; i++) out[i] = MAGIC.charCodeAt(i);
  new DataView(out.buffer).setUint32(8, padded, true);
  out.set(text, 12);
  return out;
}

/** The records of a set, for a file whose header is `header`. */
export function writeBinaryRecords(set: CaseSet, header: BinaryHeader): Uint8Array {
  if (header.hasD && !set.d) throw new InputError(`d: expected expected words in ${set.source}, got none`);
  const out = new Uint8Array(recordBytes(header) * set.count);
  const view = new DataView(out.buffer);
  let at = 0;
  for (let i = 0; i < set.count; i++)
    eachPart(set.op, header, set, (bits, words, items) => {
      at = putItems(view, at, bits, words, i * items, items);
    });
  return out;
}

/** A whole file of one set. */
export function writeBinary(set: CaseSet): Uint8Array {
  const header = binaryHeader(set.op, set.k, true, set.d !== undefined, set.provenance);
  const head = writeBinaryHeader(header);
  const records = writeBinaryRecords(set, header);
  const out = new Uint8Array(head.length + records.length);
  out.set(head);
  out.set(records, head.length);
  return out;
}

const FIELD_TYPES = {
  op: 'object',
  k: 'number',
  aBits: 'number',
  bBits: 'number',
  cBits: 'number',
  dBits: 'number',
  scaleWords: 'number',
  sparseWords: 'number',
  hasC: 'boolean',
  hasD: 'boolean',
} as const;

function parseHeader(bytes: Uint8Array): BinaryHeader {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new InputError(`byte 12: expected a header of UTF-8 JSON, ${(error as Error).message}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new InputError(`byte 12: expected a header object, got ${JSON.stringify(value)}`);
  const header = value as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(header))
    if (!(name in FIELD_TYPES) && name !== 'provenance')
      throw new InputError(
        `header.${name}: expected one of ${Object.keys(FIELD_TYPES).join(', ')}, provenance`,
      );
  for (const [name, type] of Object.entries(FIELD_TYPES)) {
    const field = header[name];
    if (typeof field !== type || field === null)
      throw new InputError(`header.${name}: expected a ${type}, got ${JSON.stringify(field)}`);
    if (type === 'number' && !(Number.isSafeInteger(field) && (field as number) >= 0))
      throw new InputError(`header.${name}: expected an integer of 0 or more, got ${JSON.stringify(field)}`);
  }
  const op = header.op as Readonly<Record<string, unknown>>;
  for (const name of ['device', 'instruction'])
    if (typeof op[name] !== 'string')
      throw new InputError(`header.op.${name}: expected a string, got ${JSON.stringify(op[name])}`);
  const { provenance } = header;
  if (
    provenance !== undefined &&
    (typeof provenance !== 'object' ||
      provenance === null ||
      !Object.values(provenance).every((text) => typeof text === 'string'))
  )
    throw new InputError(
      `header.provenance: expected an object of strings, got ${JSON.stringify(provenance)}`,
    );
  return value as BinaryHeader;
}

function checkHeader(header: BinaryHeader, op: MmaOp): void {
  if (header.k < 1) throw new InputError(`header.k: expected 1 or more, got ${header.k}`);
  const want = binaryHeader(op, header.k, header.hasC, header.hasD);
  for (const name of ['aBits', 'bBits', 'cBits', 'dBits', 'scaleWords', 'sparseWords'] as const)
    if (header[name] !== want[name])
      throw new InputError(
        `header.${name}: expected ${want[name]} for ${op.instruction}, got ${header[name]}`,
      );
}

function decodeRecords(
  bytes: Uint8Array,
  header: BinaryHeader,
  op: MmaOp,
  source: string,
  first: number,
): CaseSet {
  const count = bytes.length / recordBytes(header);
  const words = allocateCases(op, count, header.k);
  const d = header.hasD ? allocateWords(op.d, count) : undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  for (let i = 0; i < count; i++)
    eachPart(op, header, { ...words, ...(d ? { d } : {}) }, (bits, into, items) => {
      at = getItems(view, at, bits, into, i * items, items);
    });
  if (words.sparse) checkSelectors(op, header.k, words.sparse);
  return {
    op,
    source,
    count,
    k: header.k,
    ...words,
    ...(d ? { d } : {}),
    ...(header.provenance ? { provenance: header.provenance } : {}),
    id: (index) => String(first + index),
  };
}

/** A growing window over byte chunks. */
class ByteReader {
  private buffer: Uint8Array = new Uint8Array(0);
  private done = false;
  private readonly iterator: AsyncIterator<Uint8Array>;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.iterator = chunks[Symbol.asyncIterator]();
  }

  /** Up to `count` next bytes; fewer at the end. */
  async take(count: number): Promise<Uint8Array> {
    const parts = [this.buffer];
    let have = this.buffer.length;
    while (have < count && !this.done) {
      const next = await this.iterator.next();
      if (next.done) this.done = true;
      else {
        parts.push(next.value);
        have += next.value.length;
      }
    }
    const all = new Uint8Array(have);
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    this.buffer = all.subarray(Math.min(count, have));
    return all.subarray(0, Math.min(count, have));
  }
}

async function* whole(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

export interface BinaryReadOptions {
  readonly source: string;
  readonly resolve: Resolve;
  readonly requireD?: boolean;
  /** Cases in one set at most. */
  readonly chunk?: number;
}

/**
 * Reads a binary vector file as it arrives, in sets of at most `chunk` cases; ids are record numbers.
 * @throws InputError `source: byte or field: expected ..., got ...`; a truncated last record is one.
 */
export async function* readBinary(
  input: Uint8Array | AsyncIterable<Uint8Array>,
  options: BinaryReadOptions,
): AsyncGenerator<CaseSet> {
  const { source, resolve, requireD = true, chunk = 1024 } = options;
  const reader = new ByteReader(input instanceof Uint8Array ? whole(input) : input);
  try {
    const start = await reader.take(12);
    const magic = String.fromCharCode(...start.subarray(0, 8));
    if (magic !== MAGIC) throw new InputError(`byte 0: expected ${MAGIC}, got ${JSON.stringify(magic)}`);
    if (start.length < 12) throw new InputError(`byte 8: expected a header length, got the file's end`);
    const length = new DataView(start.buffer, start.byteOffset).getUint32(8, true);
    if (length < 1 || length > HEADER_LIMIT)
      throw new InputError(`byte 8: expected a header length of 1 to ${HEADER_LIMIT}, got ${length}`);
    const text = await reader.take(length);
    if (text.length < length)
      throw new InputError(`byte 12: expected a header of ${length} bytes, got ${text.length}`);
    const header = parseHeader(text);
    const op = resolve(header.op.device, header.op.instruction);
    checkHeader(header, op);
    if (requireD && !header.hasD) throw new InputError('header.hasD: expected true, got false');
    const size = recordBytes(header);
    for (let first = 0; ; first += chunk) {
      const bytes = await reader.take(size * chunk);
      const rest = bytes.length % size;
      if (rest !== 0)
        throw new InputError(
          `byte ${12 + length + first * size + bytes.length - rest}: expected a record of ${size} bytes, got ${rest}`,
        );
      if (bytes.length > 0) yield decodeRecords(bytes, header, op, source, first);
      if (bytes.length < size * chunk) return;
    }
  } catch (error) {
    throw located(error, source);
  }
}
