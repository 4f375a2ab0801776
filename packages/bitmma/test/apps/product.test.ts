import { defaultOp } from '@bitmma/core';
import { expect, it } from 'vitest';
import { compensatedDot } from '../../src/apps/compensated.js';
import { deviceProduct } from '../../src/apps/product.js';
import { Doubles } from '../../src/apps/random.js';
import { chooseEngine } from '../../src/engines.js';
import { silent } from '../../src/events.js';
import { resultOperand, sampleInputs } from '../../src/schedule/calibrate.js';
import { schedule } from '../../src/schedule/schedule.js';

it('has the words of one chain, however K is cut', async () => {
  const op = defaultOp('b200', { a: 'fp16', b: 'fp16', accumulate: 'fp32' });
  const engine = await chooseEngine(undefined, op, silent);
  const [m, n, k] = [2, 3, 2 ** 17 + 5];
  const inputs = sampleInputs(op, m, n, k);
  const turned = inputs.b.words.slice();
  for (let p = 0; p < k; p++) for (let j = 0; j < n; j++) turned[j * k + p] = inputs.b.words[p * n + j]!;
  const c = new Uint32Array(m * n).fill(0x40490fdb);
  const d = resultOperand(op, m, n);
  await schedule({ op, engine, inputs, d, c: { ...d, words: c } });
  let macs = 0;
  const cut = await deviceProduct({
    op,
    engine,
    m,
    n,
    k,
    a: { words: inputs.a.words, offset: 0, stride: k },
    b: { words: turned, offset: 0, stride: k },
    c,
    onDone: (done) => {
      macs += done;
    },
  });
  expect([...cut]).toEqual([...d.words]);
  expect(macs).toBe(m * n * k);
});

it('sums products in twice the precision', () => {
  const x = Float64Array.of(2 ** 60, 1, -(2 ** 60), 1 + 2 ** -30);
  const y = Float64Array.of(1, 1, 1, 1 - 2 ** -30);
  // 1 + (1 - 2^-60) in all: 2 after rounding; the last two terms alone leave -2^-60 behind.
  expect(compensatedDot(x, 0, y, 0, 4)).toBe(2);
  expect(compensatedDot(Float64Array.of(1 + 2 ** -30, -1), 0, Float64Array.of(1 - 2 ** -30, 1), 0, 2)).toBe(
    -(2 ** -60),
  );
});

it('draws the same numbers for the same line, with the moments of their distribution', () => {
  const draw = (line: number) => {
    const random = new Doubles(1, 'test', line);
    return Array.from({ length: 20000 }, () => random.normal());
  };
  expect(draw(3)).toEqual(draw(3));
  expect(draw(3)).not.toEqual(draw(4));
  const values = draw(5);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + value * value, 0) / values.length;
  // Six standard errors.
  expect(Math.abs(mean)).toBeLessThan(6 / Math.sqrt(values.length));
  expect(Math.abs(variance - 1)).toBeLessThan(6 * Math.sqrt(2 / values.length));
});
