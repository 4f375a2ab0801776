import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { type Entry, fromRandomAccessReader, RandomAccessReader, type ZipFile } from 'yauzl';
import { openNpy } from './npy.js';
import { type ByteSource, FileError, memorySource, sliceSource } from './source.js';
import type { StoredTensor } from './tensor.js';

const STORED = 0;
const DEFLATED = 8;
/** DEFLATE stores at most 1032 bytes a byte (258 of a match in 2 bits). */
const MAX_RATIO = 1032;

/** The member names of an .npz archive, without `.npy`. */
export async function npzMembers(source: ByteSource): Promise<string[]> {
  const entries = await listEntries(await openZip(source), source.name);
  return entries.map(memberName);
}

/**
 * Opens one array of an .npz archive (stored or deflated; ZIP64 too). A stored member is read by range from the
 * archive; a deflated one is inflated once, its size and CRC-32 checked.
 */
export async function openNpzMember(source: ByteSource, member: string): Promise<StoredTensor> {
  const zip = await openZip(source);
  const entries = await listEntries(zip, source.name);
  const entry = entries.find((candidate) => memberName(candidate) === member);
  if (entry === undefined)
    throw new FileError(
      source.name,
      `has no member ${member}; it has ${entries.map(memberName).join(', ') || 'none'}`,
    );
  const name = `${source.name}:${member}`;
  if (entry.isEncrypted()) throw new FileError(name, 'is encrypted');
  if (entry.compressionMethod === STORED) {
    const start = await dataStart(zip, entry, name);
    return openNpy(sliceSource(source, name, start, entry.uncompressedSize));
  }
  if (entry.compressionMethod !== DEFLATED)
    throw new FileError(
      name,
      `expected a stored or deflated member, got ZIP method ${entry.compressionMethod}`,
    );
  return openNpy(memorySource(name, await inflate(zip, entry, name), source));
}

const memberName = (entry: Entry): string => entry.fileName.replace(/\.npy$/, '');

/** yauzl reads through this adapter, so that an archive is never held whole. */
class SourceReader extends RandomAccessReader {
  constructor(private readonly source: ByteSource) {
    super();
  }

  override _readStreamForRange(start: number, end: number): Readable {
    const { source } = this;
    const chunk = 2 ** 20;
    async function* parts() {
      for (let at = start; at < end; at += chunk) {
        const part = new Uint8Array(Math.min(chunk, end - at));
        await source.read(part, at);
        yield part;
      }
    }
    return Readable.from(parts(), { objectMode: false });
  }
}

function openZip(source: ByteSource): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    const options = { lazyEntries: true, autoClose: false, validateEntrySize: true };
    fromRandomAccessReader(new SourceReader(source), source.size, options, (error, zip) => {
      if (error) reject(new FileError(source.name, `is not a readable .npz archive (${error.message})`));
      else resolve(zip);
    });
  });
}

function listEntries(zip: ZipFile, name: string): Promise<Entry[]> {
  return new Promise((resolve, reject) => {
    const entries: Entry[] = [];
    zip.on('entry', (entry: Entry) => {
      entries.push(entry);
      zip.readEntry();
    });
    zip.once('end', () => resolve(entries));
    zip.once('error', (error: Error) =>
      reject(new FileError(name, `its ZIP directory is damaged (${error.message})`)),
    );
    zip.readEntry();
  });
}

function dataStart(zip: ZipFile, entry: Entry, name: string): Promise<number> {
  return new Promise((resolve, reject) => {
    zip.readLocalFileHeader(entry, { minimal: true }, (error, header) => {
      if (error) reject(new FileError(name, `its ZIP header is damaged (${error.message})`));
      else resolve(header.fileDataStart);
    });
  });
}

async function inflate(zip: ZipFile, entry: Entry, name: string): Promise<Uint8Array> {
  const damaged = (why: string) => new FileError(name, `cannot be inflated (${why})`);
  if (entry.uncompressedSize > entry.compressedSize * MAX_RATIO)
    throw damaged(`${entry.compressedSize} bytes cannot hold ${entry.uncompressedSize}`);
  const bytes = new Uint8Array(entry.uncompressedSize);
  const stream = await new Promise<Readable>((resolve, reject) => {
    zip.openReadStream(entry, (error, opened) => (error ? reject(damaged(error.message)) : resolve(opened)));
  });
  // The loop below hears of errors while it reads; one that comes after it has no one else to hear it.
  stream.on('error', () => {});
  let at = 0;
  let crc = 0;
  try {
    for await (const part of stream as AsyncIterable<Buffer>) {
      bytes.set(part, at);
      crc = crc32(part, crc);
      at += part.length;
    }
  } catch (error) {
    throw damaged(error instanceof Error ? error.message : String(error));
  }
  if (at !== bytes.length || crc !== entry.crc32)
    throw damaged('its size or checksum differs from the directory');
  return bytes;
}
