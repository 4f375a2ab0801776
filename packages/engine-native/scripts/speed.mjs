// Multiply-adds a second of processor time, one thread, through the engine object, packing included: one line an op.
//   node scripts/speed.mjs [--n 256] [--kernel scalar] [--match TEXT] [--rounds 3]
import { parseArgs } from 'node:util';
import { catalog, FORMATS } from '@bitmma/core';
import { campaignsFor, generateCases } from '@bitmma/core/conformance';
import { nativeEngine } from '../dist/index.js';

const { values } = parseArgs({
  options: {
    n: { type: 'string', default: '256' },
    kernel: { type: 'string' },
    match: { type: 'string', default: '' },
    rounds: { type: 'string', default: '3' },
  },
});
const arrays = { 8: Uint8Array, 16: Uint16Array, 32: Uint32Array };
const allocateWords = (format, count) => {
  const { wordBits } = FORMATS[format];
  return new arrays[Math.min(32, wordBits)](count * Math.max(1, wordBits / 32));
};
const n = Number(values.n);
const engine = await nativeEngine();
const seen = new Set();
for (const op of catalog()) {
  const { a, b, c, d, k, datapath, scaling, sparsity } = op;
  const key = JSON.stringify({ a, b, c, d, k, datapath, scaling, sparsity });
  const support = engine.supports(op);
  if (seen.has(key) || scaling || sparsity || !`${op.device} ${op.instruction}`.includes(values.match))
    continue;
  seen.add(key);
  if (!support.ok || (values.kernel && !support.kernels.includes(values.kernel))) continue;
  const data = campaignsFor(op).find(({ name }) => /normal$|bit/.test(name) && !/subnormal/.test(name));
  const cases = generateCases(op, data, { seed: 1, count: n, k: n });
  const operand = (format, words) => ({ format, words, offset: 0, rowStride: n, colStride: 1 });
  const session = await engine.open(op, values.kernel ? { kernel: values.kernel } : {});
  const inputs = { m: n, n, k: n, a: operand(a, cases.a), b: operand(b, cases.b) };
  const out = operand(d, allocateWords(d, n * n));
  const times = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    const start = process.cpuUsage();
    const loaded = await session.load(inputs);
    await session.tile(loaded, { m0: 0, m1: n, n0: 0, n1: n, chain: [{ k0: 0, k1: n }], d: out });
    const { user, system } = process.cpuUsage(start);
    times.push((user + system) / 1e6);
  }
  const speed = n ** 3 / Math.min(...times) / 1e6;
  process.stdout.write(
    `${session.kernel} ${datapath.kind} ${op.device} ${op.instruction}: ${speed.toFixed(1)} M/s\n`,
  );
}
