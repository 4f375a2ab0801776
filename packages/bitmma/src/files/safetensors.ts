import { SAFETENSORS_DTYPES } from './dtype.js';
import { type ByteSource, checkedCount, FileError, sliceSource } from './source.js';
import type { StoredTensor } from './tensor.js';

/** The format's own limit on its header. */
const MAX_HEADER = 100_000_000;

interface Entry {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
}

/**
 * Reads a .safetensors header: eight bytes of length, JSON, then the tensors back to back. Checked: every range lies
 * inside the file, fits its shape and element type, and none overlaps another.
 */
export async function readSafetensorsHeader(
  source: ByteSource,
): Promise<{ entries: Entry[]; start: number }> {
  const head = new Uint8Array(8);
  if (source.size < 8) throw new FileError(source.name, `is not a .safetensors file (${source.size} bytes)`);
  await source.read(head, 0);
  const length = Number(new DataView(head.buffer).getBigUint64(0, true));
  if (length > MAX_HEADER || length + 8 > source.size)
    throw new FileError(source.name, `its header of ${length} bytes does not fit the file of ${source.size}`);
  const bytes = new Uint8Array(length);
  await source.read(bytes, 8);
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new FileError(source.name, 'is not a .safetensors file (its header is not JSON)');
  }
  if (typeof header !== 'object' || header === null || Array.isArray(header))
    throw new FileError(source.name, 'is not a .safetensors file (its header is not an object)');
  const start = 8 + length;
  const entries = Object.entries(header)
    .filter(([name]) => name !== '__metadata__')
    .map(([name, value]) => parseEntry(source.name, name, value, source.size - start));
  checkOverlap(source.name, entries);
  return { entries, start };
}

/** Opens one tensor of a .safetensors file; elements are read later, by range. */
export async function openSafetensor(source: ByteSource, tensor: string): Promise<StoredTensor> {
  const { entries, start } = await readSafetensorsHeader(source);
  const entry = entries.find((candidate) => candidate.name === tensor);
  if (entry === undefined) {
    const names = entries.map((candidate) => candidate.name);
    const shown = names.slice(0, 8).join(', ') + (names.length > 8 ? ` and ${names.length - 8} more` : '');
    throw new FileError(source.name, `has no tensor ${tensor}; it has ${shown || 'none'}`);
  }
  const name = `${source.name}:${tensor}`;
  const dtype = Object.hasOwn(SAFETENSORS_DTYPES, entry.dtype) ? SAFETENSORS_DTYPES[entry.dtype] : undefined;
  if (dtype === undefined)
    throw new FileError(
      name,
      `expected a dtype of ${Object.keys(SAFETENSORS_DTYPES).join(' ')}, got ${entry.dtype}`,
    );
  const size = Math.ceil((checkedCount(name, entry.shape, dtype.bits) * dtype.bits) / 8);
  if (entry.end - entry.begin !== size)
    throw new FileError(
      name,
      `expected ${size} bytes of ${entry.dtype} for the shape [${entry.shape.join(', ')}], got ${entry.end - entry.begin}`,
    );
  const data = sliceSource(source, name, start + entry.begin, size);
  return { name, dtype, shape: entry.shape, order: 'C', bigEndian: false, data };
}

function parseEntry(file: string, name: string, value: unknown, room: number): Entry {
  const { dtype, shape, data_offsets } = (value ?? {}) as Record<string, unknown>;
  const whole = (list: unknown): list is number[] =>
    Array.isArray(list) && list.every((item) => Number.isSafeInteger(item) && (item as number) >= 0);
  if (typeof dtype !== 'string' || !whole(shape) || !whole(data_offsets) || data_offsets.length !== 2)
    throw new FileError(
      file,
      `tensor ${name} needs dtype, shape and two data_offsets, got ${JSON.stringify(value)}`,
    );
  const [begin, end] = data_offsets as [number, number];
  if (begin > end || end > room)
    throw new FileError(
      file,
      `tensor ${name} lies at ${begin}..${end}, outside the ${room} bytes of data (truncated?)`,
    );
  return { name, dtype, shape, begin, end };
}

function checkOverlap(file: string, entries: readonly Entry[]): void {
  const ordered = entries.filter((entry) => entry.end > entry.begin).sort((x, y) => x.begin - y.begin);
  for (let i = 1; i < ordered.length; i++)
    if (ordered[i]!.begin < ordered[i - 1]!.end)
      throw new FileError(file, `tensors ${ordered[i - 1]!.name} and ${ordered[i]!.name} overlap`);
}
