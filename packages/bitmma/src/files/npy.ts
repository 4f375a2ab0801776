import { parseNpyHeader } from './npy-header.js';
import { type ByteSource, checkedCount, FileError, sliceSource } from './source.js';
import type { StoredTensor } from './tensor.js';

/** NumPy writes headers under 64 KiB and refuses to read longer ones than 10,000 bytes by default. */
const MAX_HEADER = 2 ** 20;
const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];

/**
 * Opens a .npy array (format versions 1.0, 2.0, 3.0). The header is parsed and its extent checked against the
 * file's size; elements are read later. FileError: not a .npy file, damaged, truncated, of objects or of an
 * unsupported element type.
 */
export async function openNpy(source: ByteSource): Promise<StoredTensor> {
  const head = new Uint8Array(Math.min(12, source.size));
  await source.read(head, 0);
  if (head.length < 10 || MAGIC.some((byte, i) => head[i] !== byte))
    throw new FileError(source.name, 'is not a .npy file (its first bytes are not \\x93NUMPY)');
  const major = head[6]!;
  if (major < 1 || major > 3)
    throw new FileError(source.name, `expected .npy version 1, 2 or 3, got ${major}`);
  const view = new DataView(head.buffer);
  if (major > 1 && head.length < 12) throw new FileError(source.name, 'its header is truncated');
  const length = major === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  const start = (major === 1 ? 10 : 12) + length;
  if (length > MAX_HEADER || start > source.size)
    throw new FileError(source.name, `its header of ${length} bytes is longer than the file`);
  const bytes = new Uint8Array(length);
  await source.read(bytes, start - length);
  const header = parseNpyHeader(source.name, new TextDecoder(major === 3 ? 'utf-8' : 'latin1').decode(bytes));
  const count = checkedCount(source.name, header.shape, header.dtype.bits);
  const size = (count * header.dtype.bits) / 8;
  if (source.size - start !== size)
    throw new FileError(
      source.name,
      `expected ${size} bytes of ${header.dtype.name} for the shape [${header.shape.join(', ')}], got ${source.size - start}`,
    );
  return { name: source.name, ...header, data: sliceSource(source, source.name, start, size) };
}
