import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultOp, opHash, parseOp } from '@bitmma/core';
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

/** A table that a page holds between markers: rows by their first cells, then numbers by column. */
const pageTable = (page: string, name: string, keys: number): ((row: string, column: string) => number) => {
  const text = readFileSync(join(ROOT, 'docs/apps', `${page}.md`), 'utf8');
  const part = text.slice(text.indexOf(`<!-- ${name} -->`), text.indexOf(`<!-- /${name} -->`));
  const cells = part
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
  const [header, , ...rows] = cells;
  return (row, column) => {
    const found = rows.find((each) => each.slice(0, keys).join(' ') === row);
    const cell = found?.[header!.indexOf(column)];
    expect(cell, `${name}: ${row}, ${column}`).toBeTruthy();
    return Number(cell!.replace('−', '-'));
  };
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

  it.each([
    ['fp16', 2, 1.9, 2.7],
    ['fp16', 3, 1.9, 2.7],
    ['bf16', 3, 2.8, 4.4],
    ['e5m2', 6, 10.5, 16],
  ] as const)('chained: %s with %i words, B200 lies higher', (format, words, low, high) => {
    const separate = errors(`multiword-${format}`);
    const chained = errors(`multiword-${format}-chained`);
    for (const n of [316, 1000, 3162, 10000, 31622, 100000]) {
      const factor = chained.of('b200', words, n) / separate.of('b200', words, n);
      expect(factor).toBeGreaterThan(low);
      expect(factor).toBeLessThan(high);
    }
  });

  it('bf16, three words: MI300X lies close to MI100, B200 60 to 100 times above both', () => {
    const { of } = errors('multiword-bf16');
    for (const n of [100000, 316227]) {
      expect(of('mi300x', 3, n) / of('mi100', 3, n)).toBeLessThan(1.1);
      for (const device of ['mi100', 'mi300x']) {
        expect(of('b200', 3, n) / of(device, 3, n)).toBeGreaterThan(60);
        expect(of('b200', 3, n) / of(device, 3, n)).toBeLessThan(100);
      }
    }
    expect(of('mi300x', 3, 1e6) / of('mi100', 3, 1e6)).toBeCloseTo(2.8, 1);
  });

  it('the two extra bits make B200 grow: with 23 it is V100, rounding to nearest it is MI100', () => {
    const of = pageTable('multiword', 'ablation', 2);
    for (const n of ['1000 2', '10000 2', '100000 2']) {
      expect(of(n, 'b200-23-bits') / of(n, 'v100')).toBeGreaterThan(0.95);
      expect(of(n, 'b200-23-bits') / of(n, 'v100')).toBeLessThan(1.05);
      expect(of(n, 'b200-nearest') / of(n, 'mi100')).toBeGreaterThan(0.6);
      expect(of(n, 'b200-nearest') / of(n, 'mi100')).toBeLessThan(1.1);
      expect(of(n, 'b200') / of(n, 'b200-23-bits')).toBeGreaterThan(3);
    }
  });

  it('compares the ablation with the op that the catalog has for B200', () => {
    const b200 = defaultOp('b200', { a: 'fp16', b: 'fp16', accumulate: 'fp32' });
    const own = (name: string) =>
      parseOp(readFileSync(join(ROOT, 'docs/apps', `${name}.json`), 'utf8'), name);
    if (b200.datapath.kind !== 'fused-window') throw new Error('expected a fused window of b200');
    const output = { ...b200.datapath.output, rounding: 'RNE' };
    expect(own('b200-23-bits').datapath).toEqual({ ...b200.datapath, fraction: 23 });
    expect(own('b200-nearest').datapath).toEqual({ ...b200.datapath, output });
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

  it.each([2, 3])('seed %i: B200 is closest to MI100 in fp16', (seed) => {
    const of = pageTable('smd', `smd-seed-${seed}`, 1);
    for (const device of ['mi210', 'mi300x'])
      expect(of('fp16 b200', 'fp16 mi100')).toBeLessThan(of('fp16 b200', `fp16 ${device}`) / 3);
  });

  it('seed 2: MI210 stands apart in fp16; bf16 MI300X is not almost MI100', () => {
    const of = pageTable('smd', 'smd-seed-2', 1);
    for (const device of ['b200', 'mi100', 'mi300x'])
      expect(of('fp16 mi210', `fp16 ${device}`)).toBeCloseTo(0.48, 1);
    expect(of('bf16 mi100', 'bf16 mi300x')).toBeCloseTo(0.28, 2);
  });

  it('seed 3: all four stay within 0.002 in bf16, B200 nearer to MI100 than MI300X is', () => {
    const of = pageTable('smd', 'smd-seed-3', 1);
    const devices = ['b200', 'mi100', 'mi210', 'mi300x'];
    for (const left of devices)
      for (const right of devices)
        if (left !== right) expect(of(`bf16 ${left}`, `bf16 ${right}`)).toBeLessThan(0.002);
    expect(of('bf16 b200', 'bf16 mi100')).toBeLessThan(of('bf16 mi300x', 'bf16 mi100'));
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

  it('B200 and MI300X err three to six orders of magnitude less than one chain of Hopper', () => {
    const errors = rows.filter(({ contender }) => contender === 'B200 tcgen05' || contender === 'MI300X');
    expect(errors).toHaveLength(50);
    for (const { data, k, error } of errors) {
      const factor = of(data!, 'Hopper one chain', Number(k), 'error') / Number(error);
      expect(factor).toBeGreaterThan(1e3);
      expect(factor).toBeLessThan(1e6);
    }
  });

  it('B200 truncates: its bias grows with K; MI300X has no steady one', () => {
    for (let k = 128; k < 16384; k *= 2)
      expect(of(magnitudes, 'B200 tcgen05', 2 * k, 'bias')).toBeLessThan(
        2 * of(magnitudes, 'B200 tcgen05', k, 'bias'),
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
