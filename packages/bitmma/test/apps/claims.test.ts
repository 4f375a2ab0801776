import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultOp, opHash } from '@bitmma/core';
import { describe, expect, it } from 'vitest';
import { contenders } from '../../src/apps/accumulation/contenders.js';
import { ROOT } from '../cli/run.js';

/** What docs/apps says, on the points that lie there. */
const table = (name: string): Record<string, string>[] => {
  const [header, ...lines] = readFileSync(join(ROOT, 'docs/apps', `${name}.csv`), 'utf8')
    .trim()
    .split('\n');
  const columns = header!.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((cell, i) => [columns[i]!, cell])));
};

const AMD = ['mi100', 'mi250', 'mi300x'];

describe('multi-word', () => {
  const errors = (name: string) => {
    const rows = table(name);
    const of = (device: string, words: number, n: number) =>
      Number(
        rows.find((row) => row.device === device && row.words === `${words}` && row.n === `${n}`)?.error,
      );
    const sizes = [...new Set(rows.map(({ n }) => Number(n)))];
    return { of, sizes };
  };

  it.each(['fp16', 'bf16'])('%s: B200 lies above AMD and grows with n', (format) => {
    const { of, sizes } = errors(`multiword-${format}`);
    expect(sizes.at(-1)).toBe(1e6);
    for (const words of [2, 3])
      for (const n of sizes.filter((size) => size >= 10000))
        for (const device of AMD) expect(of('b200', words, n)).toBeGreaterThan(1.5 * of(device, words, n));
    for (let n = 1000; n < 1e6; n *= 10) expect(of('b200', 3, 10 * n)).toBeGreaterThan(of('b200', 3, n));
    for (const device of AMD) expect(of(device, 3, 1e6)).toBeLessThan(2e-8);
  });

  it.each(['fp16', 'bf16'])(
    '%s: AMD units stay within a factor of two of each other, of three at the end',
    (format) => {
      const { of, sizes } = errors(`multiword-${format}`);
      for (const words of [1, 2, 3])
        for (const n of sizes) {
          const own = AMD.map((device) => of(device, words, n));
          expect(Math.max(...own) / Math.min(...own)).toBeLessThan(n < 1e6 ? 2 : 3);
        }
    },
  );

  it('V100 truncates without growing', () => {
    const { of } = errors('multiword-fp16');
    expect(of('v100', 3, 1e6)).toBeLessThan(of('v100', 3, 1000));
  });

  it.each(['', '-chained'])('FP8%s: six words show the difference most', (order) => {
    const { of, sizes } = errors(`multiword-e5m2${order}`);
    const ratio = (words: number, n: number) => of('b200', words, n) / of('mi300x', words, n);
    expect(ratio(1, 1000)).toBeCloseTo(1, 2);
    for (const n of sizes.filter((size) => size >= 1000)) {
      expect(ratio(6, n)).toBeGreaterThan(4);
      expect(ratio(6, n)).toBeGreaterThan(ratio(4, n));
      expect(ratio(4, n)).toBeGreaterThan(ratio(1, n) * 0.98);
    }
  });

  it('chained: the same picture, B200 two to three times higher', () => {
    const separate = errors('multiword-fp16');
    const chained = errors('multiword-fp16-chained');
    for (const n of [1000, 10000, 100000]) {
      const factor = chained.of('b200', 3, n) / separate.of('b200', 3, n);
      expect(factor).toBeGreaterThan(1.5);
      expect(factor).toBeLessThan(3.5);
    }
  });
});

describe('SMD', () => {
  const rows = table('smd');
  const distance = (format: string, left: string, right: string) => {
    const of = (device: string) =>
      rows
        .filter((row) => row.device === device && (row.format === format || device === 'fp64'))
        .map(({ eigenvalue }) => Number(eigenvalue));
    const [x, y] = [of(left), of(right)];
    expect(x).toHaveLength(129);
    return Math.sqrt(x.reduce((sum, value, i) => sum + (value - y[i]!) ** 2, 0) / x.length);
  };

  it('bf16: MI300X is almost identical to MI100, B200 is not', () => {
    expect(distance('bf16', 'mi100', 'mi300x')).toBeLessThan(distance('bf16', 'mi100', 'b200') / 100);
    expect(distance('bf16', 'mi100', 'mi210')).toBe(0);
  });

  it('fp16 lies closer to fp64 than bf16, by a factor of four and more', () => {
    for (const device of ['b200', 'mi100', 'mi210', 'mi300x'])
      expect(distance('fp16', device, 'fp64')).toBeLessThan(distance('bf16', device, 'fp64') / 4);
  });

  it('fp16: here B200 is closest to MI300X, not to MI100', () => {
    expect(distance('fp16', 'b200', 'mi300x')).toBeLessThan(distance('fp16', 'b200', 'mi100') / 10);
  });
});

describe('accumulation', () => {
  const rows = table('accumulation');
  const of = (data: string, contender: string, k: number, column: string) =>
    Number(
      rows.find((row) => row.data === data && row.contender === contender && row.k === `${k}`)?.[column],
    );
  const magnitudes = 'magnitudes of normal';

  it('one chain of Hopper loses a fifth of a sum of one sign at K = 16384; promotion holds the error', () => {
    expect(of(magnitudes, 'Hopper one chain', 16384, 'bias')).toBeLessThan(-0.2);
    for (const data of ['normal', magnitudes])
      for (const name of ['Hopper every 128', 'Ada every 128'])
        for (const k of [512, 2048, 16384])
          expect(of(data, name, k, 'error')).toBeLessThan(1.3 * of(data, name, 128, 'error'));
  });

  it('B200 truncates: its bias grows with K; MI300X has no steady one', () => {
    for (let k = 128; k < 16384; k *= 2)
      expect(of(magnitudes, 'B200 tcgen05', 2 * k, 'bias')).toBeLessThan(
        of(magnitudes, 'B200 tcgen05', k, 'bias'),
      );
    expect(Math.abs(of(magnitudes, 'MI300X', 16384, 'bias'))).toBeLessThan(1e-7);
    expect(of(magnitudes, 'B200 tcgen05', 16384, 'bias')).toBeLessThan(-5e-6);
  });

  it('the layer behaves as N(0, 1) at its K', () => {
    expect(of('layer', 'Hopper one chain', 384, 'error')).toBeGreaterThan(
      2 * of('layer', 'Hopper every 128', 384, 'error'),
    );
  });
});

it('holds points of the arithmetic that the catalog has now', () => {
  for (const [name, format] of [
    ['fp16', 'fp16'],
    ['bf16', 'bf16'],
    ['e5m2', null],
  ] as const)
    for (const row of table(`multiword-${name}`)) {
      const own = format ?? row.format;
      const op = defaultOp(row.device!, { a: own as 'fp16', b: own as 'fp16', accumulate: 'fp32' });
      expect(row.op).toBe(opHash(op).slice(0, 8));
    }
  const hashes = contenders().map(({ label, op }) => [label, opHash(op).slice(0, 8)]);
  for (const row of table('accumulation')) expect(hashes).toContainEqual([row.contender, row.op]);
});
