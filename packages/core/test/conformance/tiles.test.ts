import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { reportLines } from '../../src/conformance/report.js';
import { NothingRanError } from '../../src/conformance/suite.js';
import { runTiles } from '../../src/conformance/tiles.js';
import { catalog } from '../../src/datapath/catalog/index.js';
import type { Engine, Session, Tile } from '../../src/engine/engine.js';
import { referenceEngine } from '../../src/reference/index.js';

const OPS = [
  ...new Map(
    catalog().map((op) => [`${op.datapath.kind} ${op.a} ${op.d} ${op.scaling?.block} ${op.sparsity}`, op]),
  ).values(),
].filter((op) => op.c === op.d);

/** The reference under another name, its tiles changed before they run. */
const other = (change: (tile: Tile) => Tile = (tile) => tile): Engine => {
  const base = referenceEngine();
  return {
    ...base,
    id: 'other',
    lineage: 'other',
    async open(op, options) {
      const session = await base.open(op, options);
      const wrapped: Session = {
        op: session.op,
        kernel: session.kernel,
        load: (inputs) => session.load(inputs),
        attach: (token) => session.attach(token),
        tile: (loaded, tile) => session.tile(loaded, change(tile)),
        settle: () => session.settle(),
        dots: (batches) => session.dots(batches),
        report: () => session.report(),
        close: () => session.close(),
      };
      return wrapped;
    },
  };
};

describe('tiles', () => {
  test('of the reference are its dot products, for every kind of op', async () => {
    const result = await runTiles({
      engine: referenceEngine(),
      against: referenceEngine(),
      ops: OPS,
      rounds: 3,
      size: 5,
    });
    expect(result.failed, [...reportLines(result)].join('\n')).toBe(0);
    expect(result.passed).toBeGreaterThan(OPS.length * 6);
  });

  test('a tile that forgets c, or stops early, is found', async () => {
    const forget = other(({ c: _, ...tile }) => tile);
    const early = other((tile) => ({ ...tile, chain: tile.chain.slice(0, -1) }));
    for (const engine of [forget, early])
      expect(
        (await runTiles({ engine, against: referenceEngine(), ops: OPS.slice(0, 6) })).failed,
      ).toBeGreaterThan(0);
  });

  test('a tile that writes elsewhere is refused', async () => {
    const beside = other((tile) => ({ ...tile, d: { ...tile.d, offset: 0 } }));
    await expect(
      runTiles({ engine: beside, against: referenceEngine(), ops: OPS, rounds: 8 }),
    ).rejects.toThrow(/expected d alone to be written/);
  });

  test('no op that runs is a failure', async () => {
    const none: Engine = { ...other(), supports: () => ({ ok: false, reason: 'none' }) };
    await expect(runTiles({ engine: none, against: referenceEngine(), ops: OPS })).rejects.toBeInstanceOf(
      NothingRanError,
    );
    await expect(
      runTiles({ engine: other(), kernel: 'avx9', against: referenceEngine(), ops: OPS }),
    ).rejects.toBeInstanceOf(NothingRanError);
  });
});

test('conformance needs no Node module, so that a browser runs it', () => {
  const seen = new Set<string>();
  const visit = (file: string) => {
    if (seen.has(file)) return;
    seen.add(file);
    const text = readFileSync(file, 'utf8');
    for (const [, name] of text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)) {
      expect(name, file).not.toMatch(/^node:/);
      if (name.startsWith('.')) visit(join(dirname(file), name.replace(/\.js$/, '.ts')));
    }
    expect(text, file).not.toMatch(/\b(process|Buffer|__dirname)\./);
  };
  visit(fileURLToPath(new URL('../../src/conformance/index.ts', import.meta.url)));
  expect(seen.size).toBeGreaterThan(30);
});
