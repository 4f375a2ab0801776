/** Rows m0..m1 and columns n0..n1 of a result. */
export interface TileBounds {
  readonly m0: number;
  readonly m1: number;
  readonly n0: number;
  readonly n1: number;
}

/** Tile edges are multiples of this, so that no engine's panel (64 columns at most) is cut in two. */
export const TILE_UNIT = 64;

export interface TilePlan {
  readonly rows: number;
  readonly columns: number;
  readonly tiles: readonly TileBounds[];
}

/**
 * Cuts an m x n result into tiles of about `macs` multiply-adds over k, but at least `threads` of them where the
 * result has as many units. A tile is `width` times as wide as a square one. K is never cut.
 */
export function cutTiles(
  m: number,
  n: number,
  k: number,
  macs: number,
  threads: number,
  width = 1,
): TilePlan {
  if (m === 0 || n === 0) return { rows: 0, columns: 0, tiles: [] };
  const elements = Math.max(1, Math.min(macs / Math.max(k, 1), (m * n) / threads));
  const columns = evenPart(n, Math.max(width * Math.sqrt(elements), Math.min(n, 4 * TILE_UNIT)));
  // As many tiles as all threads take in whole rounds.
  const across = Math.ceil(n / columns);
  let down = Math.max(1, Math.round(m / Math.max(elements / columns, TILE_UNIT)));
  while ((down * across) % threads !== 0 && down * TILE_UNIT < m) down++;
  const rows = evenPart(m, m / down);
  const tiles: TileBounds[] = [];
  for (let m0 = 0; m0 < m; m0 += rows)
    for (let n0 = 0; n0 < n; n0 += columns)
      tiles.push({ m0, m1: Math.min(m, m0 + rows), n0, n1: Math.min(n, n0 + columns) });
  return { rows, columns, tiles };
}

/** About `part` of a length, in whole units, so that the last part is hardly smaller than the others. */
function evenPart(length: number, part: number): number {
  const parts = Math.max(1, Math.round(length / Math.max(part, TILE_UNIT)));
  return Math.min(length, Math.ceil(length / parts / TILE_UNIT) * TILE_UNIT);
}
