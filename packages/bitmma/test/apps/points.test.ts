import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { multiword } from '../../src/apps/multiword/multiword.js';
import { PointFile } from '../../src/apps/points.js';

const folder = mkdtempSync(join(tmpdir(), 'bitmma-points-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('keeps finished points, drops a torn line and another header', async () => {
  const path = join(folder, 'points.csv');
  const open = () => new PointFile(path, ['device', 'n'], ['error']);
  const first = open();
  first.add({ device: 'b200', n: 10, error: 0.5 });
  first.add({ device: 'b200', n: 100, error: 0.25 });
  appendFileSync(path, 'b200,1000,0.1');
  const second = open();
  expect(second.get({ device: 'b200', n: 100 })).toEqual({ device: 'b200', n: '100', error: 0.25 });
  expect(second.get({ device: 'b200', n: 1000 })).toBeUndefined();
  second.add({ device: 'b200', n: 1000, error: 0.125 });
  expect(readFileSync(path, 'utf8')).toBe('device,n,error\nb200,10,0.5\nb200,100,0.25\nb200,1000,0.125\n');
  writeFileSync(path, 'device,k,error\nb200,10,0.5\n');
  expect(open().get({ device: 'b200', n: 10 })).toBeUndefined();
});

it('does not compute a finished point again, unless what it depends on changed', async () => {
  const points = join(folder, 'multiword.csv');
  const options = { format: 'fp16', devices: ['v100'], words: [1], n: [10], points } as const;
  const [computed] = await multiword(options);
  writeFileSync(points, readFileSync(points, 'utf8').replace(String(computed!.error), '0.75'));
  expect((await multiword(options))[0]!.error).toBe(0.75);
  expect((await multiword({ ...options, seed: 2 }))[0]!.error).not.toBe(0.75);
  expect(readFileSync(points, 'utf8').split('\n').length).toBe(3);
});
