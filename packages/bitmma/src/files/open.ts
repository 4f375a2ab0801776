import { type FormatName, InputError } from '@bitmma/core';
import { openHex } from './hex.js';
import { openNpy } from './npy.js';
import { npzMembers, openNpzMember } from './npz.js';
import { openSafetensor, readSafetensorsHeader } from './safetensors.js';
import { FileError, openFile } from './source.js';
import { type ReadOptions, readTensor, type StoredTensor, type Tensor } from './tensor.js';

const EXTENSIONS = '.npy, .npz:MEMBER, .safetensors:TENSOR, .hex or .txt';

/** A file argument: a path, and the member after the colon for the two archive formats. */
export interface FileSpec {
  readonly path: string;
  readonly kind: 'npy' | 'npz' | 'safetensors' | 'hex';
  readonly member: string | null;
}

/** Splits `model.safetensors:layer.0.weight`; InputError where the ending is not one of the known. */
export function parseFileSpec(text: string): FileSpec {
  const archive = /^(.+\.(npz|safetensors))(?::(.*))?$/i.exec(text);
  if (archive !== null) {
    const kind = archive[2]!.toLowerCase() as 'npz' | 'safetensors';
    return { path: archive[1]!, kind, member: archive[3] || null };
  }
  if (/\.npy$/i.test(text)) return { path: text, kind: 'npy', member: null };
  if (/\.(hex|txt)$/i.test(text)) return { path: text, kind: 'hex', member: null };
  throw new InputError(`expected a file ending in ${EXTENSIONS}, got ${text}`);
}

/**
 * Opens a tensor by its file argument; hex text needs `format`. An archive with a single member needs no name.
 * The caller closes `data`.
 */
export async function openTensor(text: string, format?: FormatName): Promise<StoredTensor> {
  const spec = parseFileSpec(text);
  if (spec.kind === 'hex' && format === undefined)
    throw new InputError(`${text}: hex text does not say its format; state one`);
  const source = await openFile(spec.path);
  try {
    if (spec.kind === 'npy') return await openNpy(source);
    if (spec.kind === 'hex') return await openHex(source, format!);
    const names =
      spec.member !== null
        ? [spec.member]
        : spec.kind === 'npz'
          ? await npzMembers(source)
          : (await readSafetensorsHeader(source)).entries.map((entry) => entry.name);
    if (names.length !== 1)
      throw new FileError(
        spec.path,
        `name one of its tensors after a colon: ${names.slice(0, 8).join(', ') || 'it has none'}`,
      );
    return spec.kind === 'npz'
      ? await openNpzMember(source, names[0]!)
      : await openSafetensor(source, names[0]!);
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** Opens, reads and closes. */
export async function loadTensor(
  text: string,
  format?: FormatName,
  options: ReadOptions = {},
): Promise<Tensor> {
  const stored = await openTensor(text, format);
  try {
    return await readTensor(stored, options);
  } finally {
    await stored.data.close();
  }
}
