import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { BitmmaError, FORMATS, type FormatName, InputError, type WordArray } from '@bitmma/core';
import { hexWord } from './hex.js';
import { FileError } from './source.js';

/** Words to be written: contiguous, last index fastest. */
export interface Writable {
  readonly format: FormatName;
  readonly words: WordArray;
  readonly shape: readonly number[];
}

const pending = new Set<string>();
process.once('exit', () => {
  for (const path of pending) rmSync(path, { force: true });
});

/**
 * Gives `body` a temporary file beside the target, renamed over it once body is done: a reader sees all of it or
 * nothing. Whatever body throws leaves no file behind.
 */
export async function writeThrough(path: string, body: (handle: FileHandle) => Promise<void>): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  pending.add(temporary);
  let handle: FileHandle | undefined;
  try {
    handle = await open(temporary, 'wx');
    await body(handle);
    await handle.close();
    handle = undefined;
    await rename(temporary, path);
  } catch (error) {
    await handle?.close();
    await rm(temporary, { force: true });
    if (error instanceof BitmmaError) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new FileError(
      path,
      code === 'ENOENT' ? 'its folder does not exist' : `cannot be written (${code})`,
    );
  } finally {
    pending.delete(temporary);
  }
}

/** Writes parts one after another, through a temporary file. */
export const writeAtomically = (path: string, parts: Iterable<Uint8Array | string>): Promise<void> =>
  writeThrough(path, async (handle) => {
    for (const part of parts) {
      const bytes = typeof part === 'string' ? Buffer.from(part) : part;
      for (let at = 0; at < bytes.byteLength; )
        at += (await handle.write(bytes, at, Math.min(2 ** 28, bytes.byteLength - at))).bytesWritten;
    }
  });

/** NumPy type codes to write: formats NumPy lacks go as V1 and V2, which ml_dtypes views back. */
function npyDescr(format: FormatName): string {
  const { kind, wordBits } = FORMATS[format];
  if (format === 's8') return '|i1';
  if (format === 'u8') return '|u1';
  if (format === 's32') return '<i4';
  if (format === 'bf16') return '|V2';
  if (wordBits === 8) return '|V1';
  if (kind !== 'float') throw new InputError(`expected a format that .npy can carry, got ${format}`);
  return `<f${wordBits / 8}`;
}

/** The bytes of a .npy file, version 1.0, little-endian, C order. */
export function npyParts({ format, words, shape }: Writable): Uint8Array[] {
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`;
  const dictionary = `{'descr': '${npyDescr(format)}', 'fortran_order': False, 'shape': ${tuple}, }`;
  const header = `${dictionary.padEnd(Math.ceil((dictionary.length + 11) / 64) * 64 - 11)}\n`;
  const head = Buffer.alloc(10 + header.length);
  head.write('\x93NUMPY\x01\x00', 0, 'latin1');
  head.writeUInt16LE(header.length, 8);
  head.write(header, 10, 'latin1');
  return [head, new Uint8Array(words.buffer, words.byteOffset, words.byteLength)];
}

const SAFETENSORS_NAMES: Partial<Record<FormatName, string>> = {
  fp64: 'F64',
  fp32: 'F32',
  tf32: 'F32',
  fp16: 'F16',
  bf16: 'BF16',
  e4m3: 'F8_E4M3',
  e5m2: 'F8_E5M2',
  e4m3fnuz: 'F8_E4M3FNUZ',
  e5m2fnuz: 'F8_E5M2FNUZ',
  ue8m0: 'F8_E8M0',
  e2m1: 'F4',
  ue4m3: 'F8_E4M3',
  s8: 'I8',
  u8: 'U8',
  s32: 'I32',
};

/**
 * The bytes of a .safetensors file. e2m1 is packed two to a byte; ue4m3 goes as F8_E4M3, the FP6 formats as U8. Tensors lie widest element first, so that every one is aligned.
 */
export function safetensorsParts(
  tensors: Readonly<Record<string, Writable>>,
  metadata?: Record<string, string>,
) {
  const header: Record<string, unknown> = metadata === undefined ? {} : { __metadata__: metadata };
  const parts: Uint8Array[] = [];
  let at = 0;
  const ordered = Object.entries(tensors).sort(
    ([, x], [, y]) => FORMATS[y.format].wordBits - FORMATS[x.format].wordBits,
  );
  for (const [name, { format, words, shape }] of ordered) {
    const bytes =
      format === 'e2m1'
        ? packNibbles(words as Uint8Array)
        : new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
    header[name] = {
      dtype: SAFETENSORS_NAMES[format] ?? 'U8',
      shape,
      data_offsets: [at, at + bytes.byteLength],
    };
    parts.push(bytes);
    at += bytes.byteLength;
  }
  const json = JSON.stringify(header);
  const text = Buffer.from(json.padEnd(json.length + ((8 - (Buffer.byteLength(json) % 8)) % 8)));
  const head = Buffer.alloc(8);
  head.writeBigUInt64LE(BigInt(text.length));
  return [head, text, ...parts];
}

function packNibbles(words: Uint8Array): Uint8Array {
  const packed = new Uint8Array(Math.ceil(words.length / 2));
  for (let i = 0; i < words.length; i++) packed[i >> 1]! |= (words[i]! & 15) << (4 * (i & 1));
  return packed;
}

function* hexLines({ format, words, shape }: Writable): Generator<string> {
  const columns = shape.at(-1) ?? 1;
  const rows = shape.reduce((product, extent) => product * extent, 1) / Math.max(columns, 1);
  for (let row = 0; row < rows; row++) {
    const line: string[] = [];
    for (let column = 0; column < columns; column++)
      line.push(hexWord(words, row * columns + column, format));
    yield `${line.join(' ')}\n`;
  }
}

/** Checks early that a result can be written under this name; InputError names the endings. */
export function checkOutputName(path: string): 'npy' | 'safetensors' | 'hex' {
  if (/\.npy$/i.test(path)) return 'npy';
  if (/\.safetensors$/i.test(path)) return 'safetensors';
  if (/\.hex$/i.test(path)) return 'hex';
  throw new InputError(`expected an output ending in .npy, .safetensors or .hex, got ${path}`);
}

/** Writes one matrix as its name says; in .safetensors the tensor is called D. */
export async function writeTensor(path: string, tensor: Writable): Promise<void> {
  const kind = checkOutputName(path);
  if (kind === 'npy') await writeAtomically(path, npyParts(tensor));
  else if (kind === 'hex') await writeAtomically(path, hexLines(tensor));
  else await writeAtomically(path, safetensorsParts({ D: tensor }));
}
