// Random GEMMs over worker threads whose workers are killed at random: every word must be that of one thread, and
// memory must not grow. node scripts/soak.mjs [seconds=1800] [engine=native]
import { catalog, FORMATS } from '@bitmma/core';
import { ENGINES } from 'bitmma';
import { closePools, resultOperand, sampleInputs, schedule, sharedPool } from 'bitmma/schedule';

const seconds = Number(process.argv[2] ?? 1800);
const engine = await ENGINES.open(process.argv[3] ?? 'native');
let state = 1;
const below = (n) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * n);
};
const ops = catalog().filter((op) => engine.supports(op).ok);
const end = Date.now() + seconds * 1000;
const killer = setInterval(() => {
  const { workers } = sharedPool(2);
  if (workers.length > 0) void workers[below(workers.length)].terminate();
}, 700);
let jobs = 0;
let redone = 0;
let lost = 0;
let baseline = 0;
while (Date.now() < end) {
  const op = ops[below(ops.length)];
  const [m, n, k] = [1 + below(300), 1 + below(300), op.k * (1 + below(4))];
  const inputs = sampleInputs(op, m, n, k);
  const [one, two] = [resultOperand(op, m, n), resultOperand(op, m, n)];
  await schedule({ op, engine, inputs, d: one });
  const run = await schedule({
    op,
    engine,
    inputs,
    d: two,
    threads: 2,
    tileMacs: 1 + below(m * n * k),
    retries: 20,
  });
  redone += run.redone;
  if (one.words.some((word, i) => word !== two.words[i])) {
    lost++;
    console.log(
      `DIFFERENT ${op.device} ${op.instruction} ${m} x ${n} x ${k} (${FORMATS[op.d].wordBits}-bit words)`,
    );
  }
  jobs++;
  if (jobs % 50 === 0) {
    globalThis.gc?.();
    const rss = process.memoryUsage().rss / 2 ** 20;
    if (jobs === 200) baseline = rss;
    console.log(`${jobs} jobs, ${redone} tiles redone, ${lost} wrong, ${rss.toFixed(0)} MiB`);
  }
}
clearInterval(killer);
await closePools();
const rss = process.memoryUsage().rss / 2 ** 20;
const grown = baseline > 0 ? rss / baseline : 1;
console.log(
  `${jobs} jobs, ${redone} tiles redone after a killed worker, ${lost} wrong; memory x${grown.toFixed(2)} since job 200`,
);
process.exitCode = lost === 0 && redone > 0 && grown < 1.5 ? 0 : 1;
