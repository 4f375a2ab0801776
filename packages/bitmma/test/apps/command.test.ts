import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { ROOT, run } from '../cli/run.js';

const folder = mkdtempSync(join(tmpdir(), 'bitmma-app-'));
afterAll(() => rmSync(folder, { recursive: true }));

const NEAREST = join(ROOT, 'docs/apps/b200-nearest.json');

const STUDIES: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  [
    'multiword',
    ['--format', 'fp16', '--words', '1,2', '--devices', 'v100,mi100', '--n', '10,100'],
    ['multiword-fp16.csv', 'multiword-fp16.svg'],
  ],
  [
    'smd',
    ['--formats', 'bf16', '--devices', 'b200,mi300x', '--iterations', '2'],
    ['smd-condition.svg', 'smd-difference.svg', 'smd-eigenvalue.svg', 'smd-pairs.svg', 'smd.csv'],
  ],
  [
    'accumulation',
    ['--depth', '64'],
    ['accumulation-bias.svg', 'accumulation-error.svg', 'accumulation.csv'],
  ],
];

it.each(STUDIES)('app %s writes its points and figures, the same bytes twice', async (name, argv, files) => {
  const out = join(folder, name);
  const first = await run('app', name, ...argv, '--out', out);
  expect(first.code, first.err).toBe(0);
  expect(first.out).toContain('| --- |');
  expect(readdirSync(out).sort()).toEqual(files);
  const read = () => files.map((file) => readFileSync(join(out, file), 'utf8'));
  const written = read();
  for (const [i, text] of written.entries())
    if (files[i]!.endsWith('.svg')) {
      expect(text.match(/<svg[^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/g)).toHaveLength(1);
      expect(text).toMatch(/<\/g><\/svg>\n$/);
      expect(text).not.toContain('NaN');
    }
  const second = await run('app', name, ...argv, '--out', out);
  expect(second.out).toBe(first.out);
  // Hashes, so that a difference prints one line.
  const hashes = (texts: readonly string[]) =>
    texts.map((text) => createHash('sha256').update(text).digest('hex'));
  expect(hashes(read())).toEqual(hashes(written));
});

it('app multiword takes datapaths of your own beside the devices, under their own names', async () => {
  const argv = ['--format', 'fp16', '--words', '2', '--n', '1000', '--devices', 'b200,mi100'];
  const out = join(folder, 'own');
  const { code, out: text } = await run('app', 'multiword', ...argv, '--datapath', NEAREST, '--out', out);
  expect(code).toBe(0);
  expect(text).toMatch(/^\| n \| words \| b200 \| mi100 \| b200-nearest \|\n/);
  const [b200, mi100, own] = text
    .split('\n')[2]!
    .split(' | ')
    .slice(2)
    .map((cell) => Number(cell.replace('−', '-').replace(' |', '')));
  expect(own).toBeLessThan(mi100!);
  expect(b200).toBeGreaterThan(5 * mi100!);
  expect(readFileSync(join(out, 'multiword-fp16.csv'), 'utf8')).toContain('\nfp16,b200-nearest,2,1000,');
});

it.each([
  [['multiword', '--format', 'fp8'], /--format: expected fp16 or bf16 or e5m2, got fp8/],
  [['multiword', '--format', 'fp16', '--words', '0'], /--words: expected a whole number of 1 to 8, got 0/],
  [['multiword', '--format', 'bf16', '--devices', 'v100'], /v100 has no matrix instruction for bf16/],
  [['multiword', '--format', 'bf16', '--devices', 'x999'], /x999/],
  [
    ['multiword', '--format', 'bf16', '--datapath', NEAREST],
    /b200-nearest: expected a dense datapath of bf16 x bf16 -> fp32, got fp16 x fp16 -> fp32/,
  ],
  [['multiword', '--format', 'fp16', '--datapath', 'none.json'], /none\.json cannot be read/],
  [
    ['multiword', '--format', 'fp16', '--devices', 'h100,hopper'],
    /expected each device once, got h100 twice/,
  ],
  [['multiword'], /required option '--format <format>' not specified/],
  [['smd', '--mu', 'much'], /--mu: expected a number of at least 0 and below 1, got much/],
  [['smd', '--order', '3'], /order: expected an even number of at least 2, got 3/],
  [['accumulation', 'a.npy'], /expected A and B or neither, got A alone/],
  [['accumulation', '--k', '1.5'], /--k: expected a whole number of 1 to 1048576, got 1.5/],
])('app %j is one clear sentence', async (argv, message) => {
  const { code, err } = await run('app', ...argv, '--out', join(folder, 'bad'));
  expect(code).toBe(2);
  expect(err).toMatch(message);
  expect(err.trim().split('\n')).toHaveLength(1);
});

it('says where the output cannot go', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const { code, err } = await run('app', 'smd', '--out', file);
  expect([code, err]).toEqual([2, expect.stringMatching(/--out: .* cannot be made \(EEXIST\)/)]);
});
