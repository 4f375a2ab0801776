import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { catalog, type MmaOp } from '@bitmma/core';

/** One op of each arithmetic: those that differ only in name and shape compute alike. */
export function arithmetics(): MmaOp[] {
  const key = ({ a, b, c, d, k, datapath, scaling, sparsity }: MmaOp) =>
    JSON.stringify({ a, b, c, d, k, datapath, scaling, sparsity });
  return [...new Map(catalog().map((op) => [key(op), op])).values()];
}

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** A folder of recorded words, or null where this machine has none. */
export function recorded(folder: 'recordings' | 'vectors'): string | null {
  const path = join(process.env.BITMMA_DATA ?? join(root, '../shared'), folder);
  return existsSync(path) ? path : null;
}
