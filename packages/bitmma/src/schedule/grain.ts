import type { ProblemSize } from './speed.js';
import { cutTiles, type TileBounds } from './tiles.js';

/** How an engine's tiles are cut: about how long one lasts, multiply-adds where its speed is unknown, its width. */
interface Grain {
  readonly seconds: number;
  readonly macs: number;
  /** Columns to the side of a square tile of the same size. */
  readonly width: number;
}

/**
 * Threads of these kernels (5 to 30 G multiply-adds a second) share b's packed panels, and a tile packs its rows of a:
 * at 256 columns that took 18 % of the time, at 1,500 it takes 3 %. A tile of 10 ms costs nothing more, and the first
 * one is done soon.
 */
const SHARED_PANELS: Grain = { seconds: 0.01, macs: 2 ** 28, width: 8 };
/** Engines whose tiles pack their own part of a and b: the least for a square one, 3 % in 50 ms of wasm. */
const OWN_PANELS: Grain = { seconds: 0.05, macs: 2 ** 28, width: 1 };
/** The reference does some 5 M multiply-adds a second. */
const NO_PANELS: Grain = { seconds: 0.05, macs: 2 ** 18, width: 1 };

function grainOf(engine: string, kernel: string): Grain {
  if (engine === 'reference') return NO_PANELS;
  return kernel.startsWith('avx') ? SHARED_PANELS : OWN_PANELS;
}

/** The tiles of a problem on an engine's kernel: of so many multiply-adds, or of its usual time at a known speed. */
export function tilesFor(
  engine: string,
  kernel: string,
  { m, n, k }: ProblemSize,
  threads: number,
  { tileMacs, speed }: { readonly tileMacs?: number; readonly speed?: number } = {},
): readonly TileBounds[] {
  const grain = grainOf(engine, kernel);
  const macs = tileMacs ?? (speed ? speed * grain.seconds : grain.macs);
  return cutTiles(m, n, k, macs, threads, grain.width).tiles;
}
