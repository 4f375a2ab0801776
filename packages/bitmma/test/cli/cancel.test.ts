import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { writeTensor } from '../../dist/files/index.js';
import { ROOT } from './run.js';

const folder = mkdtempSync(join(tmpdir(), 'bitmma-cancel-'));
afterAll(() => rmSync(folder, { recursive: true }));

it.each(['reference', 'auto'])('Ctrl-C ends a GEMM on %s with one line and no file', async (engine) => {
  const [rows, depth] = [4096, 8192];
  const words = new Uint16Array(rows * depth).map((_, i) => 0x3800 + (i % 1999));
  await writeTensor(join(folder, 'a.npy'), { format: 'fp16', words, shape: [rows, depth] });
  const a = join(folder, 'a.npy');
  // 137 G multiply-adds of exact sums: 15 s and more on two threads of the fastest engine (5 G a second each).
  const argv = [
    'gemm',
    a,
    a,
    '--trans-b',
    '--threads',
    '2',
    '--device',
    'mi100',
    '--engine',
    engine,
    '--no-statistics',
    '--out',
    join(folder, 'd.npy'),
  ];
  const child = spawn(process.execPath, [join(ROOT, 'packages/bitmma/dist/cli/main.js'), ...argv]);
  let err = '';
  child.stderr.on('data', (text) => {
    err += text;
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  await new Promise((resolve) => setTimeout(resolve, 4000));
  expect(child.exitCode).toBeNull();
  child.kill('SIGINT');
  expect(await ended).toBe(130);
  expect(err.split('\n').filter((line) => line !== '' && !line.startsWith('note: '))).toEqual([
    'bitmma: cancelled',
  ]);
  expect(readdirSync(folder)).toEqual(['a.npy']);
});
