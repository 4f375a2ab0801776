import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { accumulation } from '../../src/apps/accumulation/accumulation.js';
import { type Dataset, fromFiles, gaussian, quantise } from '../../src/apps/accumulation/dataset.js';
import { compareLayer } from '../../src/apps/accumulation/layer.js';
import { writeTensor } from '../../src/files/write.js';

const folder = mkdtempSync(join(tmpdir(), 'bitmma-accumulation-'));
afterAll(() => rmSync(folder, { recursive: true }));

const shape = { rows: 6, columns: 6, k: 2048 };
const datasets = [
  gaussian('normal', shape, { seed: 1, magnitudes: false }),
  gaussian('magnitudes', shape, { seed: 1, magnitudes: true }),
];
const points = await accumulation({ datasets, k: [128, 512, 2048] });
const at = (data: string, contender: string, k: number) =>
  points.find((point) => point.data === data && point.contender === contender && point.k === k)!;

it.each(['Hopper', 'Ada'])(
  '%s loses bits over K in one chain, and not with a new chain every 128',
  (name) => {
    for (const data of ['normal', 'magnitudes']) {
      const error = (how: string, k: number) => at(data, `${name} ${how}`, k).error;
      expect(error('one chain', 128)).toBe(error('every 128', 128));
      expect(error('one chain', 2048)).toBeGreaterThan(3 * error('one chain', 128));
      expect(error('every 128', 2048)).toBeLessThan(1.5 * error('every 128', 128));
    }
  },
);

it('B200 and MI300X accumulate FP8 with fp32 accuracy', () => {
  for (const data of ['normal', 'magnitudes'])
    for (const contender of ['B200 tcgen05', 'MI300X'])
      expect(at(data, contender, 2048).error).toBeLessThan(at(data, 'Hopper one chain', 2048).error / 1000);
});

it('truncation biases toward zero, rounding to nearest hardly at all', () => {
  const bias = (contender: string, k = 2048) => at('magnitudes', contender, k).bias;
  expect(bias('Hopper one chain')).toBeLessThan(-0.01);
  expect(bias('Hopper one chain')).toBeLessThan(4 * bias('Hopper one chain', 512) * 0.75);
  expect(bias('Hopper every 128')).toBeLessThan(0);
  expect(bias('B200 tcgen05')).toBeLessThan(0);
  expect(Math.abs(bias('MI300X'))).toBeLessThan(-bias('B200 tcgen05') / 3);
  // All results are positive: both biases are one.
  expect(at('magnitudes', 'B200 tcgen05', 512).shrinkage).toBe(at('magnitudes', 'B200 tcgen05', 512).bias);
});

it('quantises a tensor to the largest magnitude of its format, nearest even', () => {
  const values = Float64Array.of(7, -3.5, 0, 1.05 * (7 / 448));
  expect([...quantise(values, 'e4m3').doubles]).toEqual([448, -224, 0, 1]);
  expect([...quantise(values, 'e4m3fnuz').doubles.slice(0, 2)]).toEqual([240, -120]);
});

it('reads B in either layout', async () => {
  const floats = (values: readonly number[]) => new Uint32Array(Float32Array.from(values).buffer);
  const write = (name: string, values: readonly number[], tensorShape: readonly number[]) =>
    writeTensor(join(folder, name), { format: 'fp32', words: floats(values), shape: tensorShape });
  await write('a.npy', [1, 2, 3, 4, 5, 6], [2, 3]);
  await write('kn.npy', [1, 2, 3, 4, 5, 6], [3, 2]);
  await write('nk.npy', [1, 3, 5, 2, 4, 6], [2, 3]);
  const read = (b: string, transB: boolean): Promise<Dataset> =>
    fromFiles('x', join(folder, 'a.npy'), join(folder, b), { transB });
  const turned = await read('kn.npy', false);
  expect(turned).toEqual(await read('nk.npy', true));
  expect([...turned.b]).toEqual([1, 3, 5, 2, 4, 6]);
  await expect(read('nk.npy', false)).rejects.toThrow(/expected one K, got 3 and 2/);
});

it('compares a layer on four devices', async () => {
  const layer = gaussian('layer', { rows: 4, columns: 4, k: 384 }, { seed: 3, magnitudes: false });
  const { results, pairs } = await compareLayer(layer, {});
  expect(results.map(({ result }) => result.op.a)).toEqual(['e4m3', 'e4m3', 'e4m3', 'e4m3fnuz']);
  const different = (left: string, right: string) =>
    pairs.find((pair) => pair.left === left && pair.right === right)!.difference.different;
  expect(different('h100', 'b200')).toBeGreaterThan(14);
  expect(results.every(({ result }) => result.casts.every(({ overflowed }) => overflowed === 0))).toBe(true);
});
