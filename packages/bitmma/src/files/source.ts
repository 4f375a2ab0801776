import { type FileHandle, open } from 'node:fs/promises';
import { BitmmaError, InputError } from '@bitmma/core';

/** A file that cannot be opened, or that is not what its name says: truncated, damaged or of another kind. */
export class FileError extends BitmmaError {
  constructor(
    readonly file: string,
    problem: string,
  ) {
    super(`${file}: ${problem}`);
  }
}

/** Bytes that can be read by position. */
export interface ByteSource {
  readonly name: string;
  readonly size: number;
  /** Fills `into` from byte `position` on; FileError where the source ends before. */
  read(into: Uint8Array, position: number): Promise<void>;
  close(): Promise<void>;
}

/** One read call takes at most 2^31 - 1 bytes on every platform; 2^28 keeps cancellation prompt. */
const READ_LIMIT = 2 ** 28;

/** Opens a regular file for reading. */
export async function openFile(path: string): Promise<ByteSource> {
  let handle: FileHandle;
  try {
    handle = await open(path, 'r');
  } catch (error) {
    throw new FileError(path, openProblem(error));
  }
  const stat = await handle.stat();
  if (!stat.isFile()) {
    await handle.close();
    throw new FileError(path, stat.isDirectory() ? 'is a folder, expected a file' : 'is not a regular file');
  }
  return {
    name: path,
    size: stat.size,
    async read(into, position) {
      checkRange(path, stat.size, into.byteLength, position);
      for (let done = 0; done < into.byteLength; ) {
        const length = Math.min(READ_LIMIT, into.byteLength - done);
        const { bytesRead } = await handle.read(into, done, length, position + done);
        if (bytesRead === 0) throw new FileError(path, `ended at byte ${position + done} while being read`);
        done += bytesRead;
      }
    },
    close: () => handle.close(),
  };
}

/** A source over bytes in memory, made from `origin`, which it closes. */
export function memorySource(name: string, bytes: Uint8Array, origin?: ByteSource): ByteSource {
  return {
    name,
    size: bytes.byteLength,
    async read(into, position) {
      checkRange(name, bytes.byteLength, into.byteLength, position);
      into.set(bytes.subarray(position, position + into.byteLength));
    },
    close: async () => origin?.close(),
  };
}

/** The window [offset, offset + size) of a source, under another name. Closing it closes the source. */
export function sliceSource(source: ByteSource, name: string, offset: number, size: number): ByteSource {
  return {
    name,
    size,
    async read(into, position) {
      checkRange(name, size, into.byteLength, position);
      await source.read(into, offset + position);
    },
    close: () => source.close(),
  };
}

function checkRange(name: string, size: number, length: number, position: number): void {
  if (position + length > size)
    throw new FileError(name, `expected at least ${position + length} bytes, got ${size} (truncated?)`);
}

function openProblem(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ENOENT') return 'no such file';
  if (code === 'EACCES') return 'permission denied';
  if (code === 'EISDIR') return 'is a folder, expected a file';
  return `cannot be opened (${code || String(error)})`;
}

/** A whole number of elements that fits an ArrayBuffer of `bits`-bit words, or InputError. */
export function checkedCount(where: string, shape: readonly number[], bits: number): number {
  let count = 1;
  for (const extent of shape) {
    if (!Number.isSafeInteger(extent) || extent < 0)
      throw new InputError(`${where}: expected a shape of whole numbers, got [${shape.join(', ')}]`);
    count *= extent;
  }
  if (!Number.isSafeInteger(count * bits))
    throw new InputError(`${where}: the shape [${shape.join(', ')}] is too large`);
  return count;
}
