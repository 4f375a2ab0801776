import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { InputError } from '../errors.js';
import { catalog } from './catalog/index.js';
import type { MmaOp } from './op.js';

/** JSON with sorted keys and no white space: one text for one value. Numbers must be safe integers. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return JSON.stringify(value);
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value))
      throw new InputError(`canonical JSON: expected a safe integer, got ${value}`);
    return String(value === 0 ? 0 : value);
  }
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object') throw new InputError(`canonical JSON: expected data, got ${typeof value}`);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([x], [y]) => (x < y ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}

const hash = (value: unknown) => bytesToHex(sha256(utf8ToBytes(canonicalJson(value))));

/**
 * SHA-256 (hex) of an op's arithmetic: formats, K, datapath, scaling and sparsity. Device, instruction name, tile
 * shape and evidence do not enter, so equal hashes mean equal words.
 */
export const opHash = ({ a, b, c, d, k, datapath, scaling, sparsity }: MmaOp): string =>
  hash({ a, b, c, d, k, datapath, scaling, sparsity });

/** SHA-256 (hex) of the whole catalog, evidence included. */
export const catalogHash = (): string => hash(catalog());
