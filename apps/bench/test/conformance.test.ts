import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BitmmaError, type Engine } from '@bitmma/core';
import { referenceEngine } from '@bitmma/core/reference';
import { ENGINES } from 'bitmma';
import { describe, expect, test } from 'vitest';
import { conformanceMatrix, distinctOps, engineTotals, readMatrix, writeMatrix } from '../src/conformance.js';
import { renderReport } from '../src/report.js';

const only = (op: { device: string; a: string }) => op.device === 'h100' && op.a === 'e4m3';

async function openOrReason(id: string): Promise<Engine | string> {
  try {
    return await ENGINES.open(id);
  } catch (error) {
    if (!(error instanceof BitmmaError)) throw error;
    return error.message;
  }
}

describe('the conformance matrix', async () => {
  const wasm = await openOrReason('wasm');

  test('ops of one arithmetic are one cell', () => {
    const cells = distinctOps();
    expect(cells.length).toBeLessThan(cells.reduce((sum, c) => sum + c.ops, 0));
  });

  test.skipIf(typeof wasm === 'string')(
    'counts cases, bounds the mismatch probability, and resumes',
    async () => {
      const run = { engines: [wasm as Engine], seconds: 60, seed: 7, filter: only } as const;
      const first = await conformanceMatrix({ ...run, cases: 50 });
      expect(first.cells.every((c) => c.mismatches === 0 && c.trials > 0 && c.next === 50)).toBe(true);
      const path = join(await mkdtemp(join(tmpdir(), 'matrix-')), 'state.json');
      await writeMatrix(path, first);
      const second = await conformanceMatrix({ ...run, cases: 120, resume: await readMatrix(path) });
      for (const [i, cell] of second.cells.entries()) {
        expect(cell.trials).toBeGreaterThan(first.cells[i]!.trials);
        expect(cell.bound).toBeLessThan(first.cells[i]!.bound);
      }
      expect(engineTotals(second)[0]).toMatchObject({ engine: 'wasm', mismatches: 0 });
      expect(renderReport([], second)).toContain('fused-window');
      await expect(conformanceMatrix({ ...run, seed: 8, cases: 1, resume: first })).rejects.toThrow(
        /resume: expected/,
      );
    },
  );

  test('a mismatch is counted, shrunk and written as a vector', async () => {
    const inner = referenceEngine();
    const wrong: Engine = {
      ...inner,
      id: 'wrong',
      lineage: 'wrong',
      // The op with one fraction bit less is another datapath.
      open: (op, options) =>
        inner.open(
          'fraction' in op.datapath
            ? { ...op, datapath: { ...op.datapath, fraction: op.datapath.fraction - 1 } }
            : op,
          options,
        ),
    };
    const mismatchFile = join(await mkdtemp(join(tmpdir(), 'matrix-')), 'mismatches.jsonl');
    const state = await conformanceMatrix({
      engines: [wrong],
      seconds: 60,
      cases: 20,
      seed: 1,
      filter: only,
      mismatchFile,
    });
    expect(state.cells.some((c) => c.mismatches > 0 && c.bound > 0.01)).toBe(true);
    const lines = (await readFile(mismatchFile, 'utf8')).trim().split('\n');
    expect(JSON.parse(lines[0]!)).toMatchObject({
      device: 'h100',
      note: expect.stringMatching(/^wrong gave/),
    });
  });
});
