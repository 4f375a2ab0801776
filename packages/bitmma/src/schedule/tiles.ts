/** Rows m0..m1 and columns n0..n1 of a result. */
export interface TileBounds {
  readonly m0: number;
  readonly m1: number;
  readonly n0: number;
  readonly n1: number;
}

/** Tile edges are multiples of this, so that no engine's panel (64 columns at most) is cut in two. */
export const TILE_UNIT = 64;

/**
 * Columns of a tile to the side of a square one. A tile packs its rows of a once: at 256 columns that took 18 % of an
 * AVX-512 kernel's time, at 1,500 it takes 3 %.
 */
const WIDTH = 4;

export interface TilePlan {
  readonly rows: number;
  readonly columns: number;
  readonly tiles: readonly TileBounds[];
}

/**
 * Cuts an m x n result into tiles of about `macs` multiply-adds over k, but at least `threads` of them where the
 * result has as many units. Tiles are wide rather than tall: a panel of b serves a whole tile. K is never cut.
 */
export function cutTiles(m: number, n: number, k: number, macs: number, threads: number): TilePlan {
  if (m === 0 || n === 0) return { rows: 0, columns: 0, tiles: [] };
  const elements = Math.max(1, Math.min(macs / Math.max(k, 1), (m * n) / threads));
  const columns = Math.min(n, unit(Math.max(WIDTH * Math.sqrt(elements), Math.min(n, 4 * TILE_UNIT))));
  const rows = Math.min(m, unit(elements / columns));
  const tiles: TileBounds[] = [];
  for (let m0 = 0; m0 < m; m0 += rows)
    for (let n0 = 0; n0 < n; n0 += columns)
      tiles.push({ m0, m1: Math.min(m, m0 + rows), n0, n1: Math.min(n, n0 + columns) });
  return { rows, columns, tiles };
}

const unit = (length: number): number => Math.max(1, Math.round(length / TILE_UNIT)) * TILE_UNIT;
