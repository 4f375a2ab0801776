import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CancelledError } from '@bitmma/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gemm, streamGemm } from '../dist/index.js';
import { writeTensor } from '../src/files/write.js';
import { stripSize } from '../src/gemm/stream.js';
import { run } from './cli/run.js';
import { fp8Words } from './cublas/matrices.js';

const [m, n, k] = [150, 140, 96];
let folder: string;
const file = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bitmma-stream-'));
  const b = fp8Words('e4m3', k * n, 4);
  await writeTensor(file('a.npy'), { format: 'e4m3', words: fp8Words('e4m3', m * k, 3), shape: [m, k] });
  await writeTensor(file('b.npy'), { format: 'e4m3', words: b, shape: [k, n] });
  const transposed = new Uint8Array(n * k);
  for (let i = 0; i < k; i++) for (let j = 0; j < n; j++) transposed[j * k + i] = b[i * n + j]!;
  await writeTensor(file('bt.npy'), { format: 'e4m3', words: transposed, shape: [n, k] });
});
afterAll(() => rm(folder, { recursive: true }));

// Strips of 64 x 64: three of each.
const MEMORY = 64 * k * 4 + 64 * 64 * 4;
const options = {
  device: 'h100',
  aFormat: 'e4m3',
  bFormat: 'e4m3',
  engine: 'reference',
  threads: 1,
} as const;

describe('a streamed GEMM', () => {
  test.each([
    ['b.npy', false],
    ['bt.npy', true],
  ])('%s: strips give the words of the GEMM in memory', async (bFile, transB) => {
    const want = await gemm({ a: file('a.npy'), b: file(bFile), transB }, { ...options, statistics: false });
    const out = file(`d-${bFile}`);
    const got = await streamGemm(file('a.npy'), file(bFile), { ...options, out, memory: MEMORY, transB });
    expect(got.strip).toEqual([64, 64]);
    expect(got.sha256).toBe(want.sha256);
  });

  test('progress reaches the total', async () => {
    const seen: number[] = [];
    await streamGemm(file('a.npy'), file('b.npy'), {
      ...options,
      out: file('p.npy'),
      memory: MEMORY,
      on: (event) => event.kind === 'progress' && seen.push(event.done / event.total),
    });
    expect(seen.at(-1)).toBe(1);
    expect([...seen].sort((x, y) => x - y)).toEqual(seen);
  });

  test('cancelled, it leaves no file', async () => {
    const before = (await readdir(folder)).length;
    const controller = new AbortController();
    const running = streamGemm(file('a.npy'), file('b.npy'), {
      ...options,
      out: file('cancelled.npy'),
      memory: MEMORY,
      signal: controller.signal,
      on: (event) => event.kind === 'progress' && controller.abort(),
    });
    await expect(running).rejects.toThrow(CancelledError);
    expect(await readdir(folder)).toHaveLength(before);
  });

  test('a budget below one strip names the least that would do', () => {
    expect(() => stripSize(1000, 1000, 10_000, 4, 1000)).toThrow(/expected at least 656384 bytes/);
    expect(stripSize(1000, 1000, 384, 4, MEMORY)).toEqual([64, 64]);
    expect(stripSize(40, 50, 100, 4, 2 ** 30)).toEqual([40, 50]);
  });

  test.each([
    [['--memory', '1x'], /--memory: expected a size/],
    [['--memory', '10'], /expected at least/],
    [['--memory', '1G', '--c', 'c.npy'], /--c: expected none/],
    [['--memory', '1G', '--out', 'd.hex'], /expected a \.npy file/],
  ])('%j is refused', async (flags, message) => {
    const out = flags.includes('--out') ? [] : ['--out', file('no.npy')];
    const base = [
      'gemm',
      file('a.npy'),
      file('b.npy'),
      '--device',
      'h100',
      '--a-format',
      'e4m3',
      '--b-format',
      'e4m3',
    ];
    const done = await run(...base, '--engine', 'reference', ...out, ...flags);
    expect(done.code).toBe(2);
    expect(done.err).toMatch(message);
  });

  test('--memory without --out is refused', async () => {
    const done = await run(
      'gemm',
      file('a.npy'),
      file('b.npy'),
      '--device',
      'h100',
      '--a-format',
      'e4m3',
      '--memory',
      '1G',
    );
    expect(done.err).toMatch(/expected --out FILE\.npy/);
  });

  test('a truncated file fails by name', async () => {
    await writeFile(file('short.npy'), Buffer.from('\x93NUMPY\x01\x00', 'latin1'));
    await expect(
      streamGemm(file('short.npy'), file('b.npy'), { ...options, out: file('x.npy'), memory: MEMORY }),
    ).rejects.toThrow(/short\.npy/);
  });
});
