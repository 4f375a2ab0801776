import type { TileAnswer, TileTask } from './tasks.js' with { 'resolution-mode': 'import' };

// piscina loads its entry by require(). For an ES module Node does that in one uninterruptible step, and aborts the whole
// process where the worker is ended within it ("must be used on an instantiated module", Node 20.20); import() it leaves.
const loading = import('./worker.js');
// A failure is told to whoever runs a tile.
loading.catch(() => {});

/** worker.ts's function, as CommonJS. */
async function runTile(task: TileTask): Promise<TileAnswer> {
  return (await loading).default(task);
}

export = runTile;
