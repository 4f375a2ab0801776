import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ROOT, run } from './run.js';

const VECTORS = join(ROOT, 'packages/core/vectors');
const PROGRAM = `'${process.execPath}' '${join(ROOT, 'packages/core/test/programs/integer.mjs')}'`;
const folder = mkdtempSync(join(tmpdir(), 'bitmma-conformance-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** One integer vector: 255 * -1 + 1. */
const vector = (d: string) => {
  const path = join(folder, `${d}.jsonl`);
  const zeros = Array(31).fill('00').join(' ');
  const instruction = 'tcgen05.mma.kind::i8.s32.u8.s8';
  writeFileSync(
    path,
    JSON.stringify({
      id: 'x',
      device: 'b200',
      instruction,
      a: `ff ${zeros}`,
      b: `ff ${zeros}`,
      c: '00000001',
      d,
    }),
  );
  return path;
};
const last = (text: string) => text.trimEnd().split('\n').at(-1);

describe('conformance', () => {
  it('runs the project’s own vectors on the reference', async () => {
    const { code, out } = await run('conformance', VECTORS, '--engine', 'reference');
    expect(last(out)).toMatch(/^\d{4,} passed, 0 failed$/);
    expect(code).toBe(0);
  });

  it('a word that differs is printed whole, and exit 1', async () => {
    const { code, out } = await run('conformance', vector('ffffff03'));
    expect(out).toContain('x: expected ffffff03, got ffffff02');
    expect(last(out)).toBe('0 passed, 1 failed');
    expect(code).toBe(1);
  });

  it('runs a foreign program', async () => {
    const good = await run('conformance', vector('ffffff02'), '--exec', PROGRAM);
    expect([good.code, last(good.out)], good.err).toEqual([0, '1 passed, 0 failed']);
    const bad = await run('conformance', vector('ffffff02'), '--exec', `${PROGRAM} word`);
    expect(bad.code).toBe(2);
    expect(bad.err).toMatch(/expected 8 hex digits of s32/);
    const none = await run('conformance', vector('ffffff02'), '--exec', '/nowhere/program');
    expect(none.code).toBe(2);
    expect(none.err).toMatch(/ended with status 127/);
  });
});
