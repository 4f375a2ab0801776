import { catalog, type MmaOp } from '@bitmma/core';

/** One op of the catalog for each different arithmetic: shapes and devices that share it are not repeated. */
export function distinctOps(): readonly MmaOp[] {
  const seen = new Set<string>();
  return catalog().filter(({ datapath, a, b, c, d, k, scaling, sparsity }) => {
    const key = JSON.stringify([datapath, a, b, c, d, k, scaling, sparsity]);
    return !seen.has(key) && seen.add(key);
  });
}
