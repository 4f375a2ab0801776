// Random GEMMs over worker threads whose workers are killed at random, some of them cancelled on the way: every word
// must be that of one thread, every cancelled job must say so, and neither memory nor handles may grow.
// node --expose-gc scripts/soak.mjs [seconds=1800] [engine=native]
import { CancelledError, catalog, FORMATS } from '@bitmma/core';
import { ENGINES } from 'bitmma';
import { closePools, resultOperand, sampleInputs, schedule, sharedPool } from 'bitmma/schedule';
import { median } from '../dist/stats.js';

const seconds = Number(process.argv[2] ?? 1800);
const engine = await ENGINES.open(process.argv[3] ?? 'native');
let state = 1;
const below = (n) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * n);
};
const ops = catalog().filter((op) => engine.supports(op).ok);
const end = Date.now() + seconds * 1000;
// A worker dies every 0.7 s, but only after a tile was finished since the last: on a busy machine workers take as long
// to start, and nothing would ever be done.
let kills = 0;
let tiles = 0;
let tilesThen = 0;
const killer = setInterval(() => {
  const { workers } = sharedPool(2);
  if (workers.length === 0 || tiles === tilesThen) return;
  tilesThen = tiles;
  kills++;
  void workers[below(workers.length)].terminate();
}, 700);

const tally = { jobs: 0, redone: 0, cancelled: 0, lost: 0 };

/** One job on one thread and on two whose workers die; now and then one is cancelled at its first tile before. */
async function job() {
  const op = ops[below(ops.length)];
  const [m, n, k] = [1 + below(300), 1 + below(300), op.k * (1 + below(4))];
  const inputs = sampleInputs(op, m, n, k);
  const [one, two] = [resultOperand(op, m, n), resultOperand(op, m, n)];
  const what = `${op.device} ${op.instruction} ${m} x ${n} x ${k} (${FORMATS[op.d].wordBits}-bit words)`;
  const shared = { op, engine, inputs, threads: 2, tileMacs: 1 + below(m * n * k), retries: 20 };
  if (below(8) === 0) {
    const { signal, abort } = withAbort();
    await schedule({ ...shared, d: two, signal, onProgress: abort }).catch((error) => {
      if (!(error instanceof CancelledError)) throw error;
      tally.cancelled++;
    });
  }
  await schedule({ op, engine, inputs, d: one });
  const onProgress = () => tiles++;
  const run = await schedule({ ...shared, d: two, onProgress });
  tally.redone += run.redone;
  if (one.words.some((word, i) => word !== two.words[i])) {
    tally.lost++;
    console.log(`DIFFERENT ${what}`);
  }
  tally.jobs++;
}

function withAbort() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

/** MiB with every worker ended and garbage collected: what would be left behind. A worker's own memory ends with it. */
async function leftBehind() {
  await closePools();
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return [rss, heapUsed + external].map((bytes) => bytes / 2 ** 20);
}

const memory = [];
let handles = 0;
while (Date.now() < end) {
  await job();
  if (tally.jobs % 250 !== 0) continue;
  const [rss, held] = await leftBehind();
  memory.push({ rss, held });
  handles = process.getActiveResourcesInfo().length;
  if (tally.jobs % 500 === 0)
    console.log(
      `${tally.jobs} jobs, ${kills} workers killed, ${tally.redone} tiles redone, ${tally.cancelled} cancelled, ${tally.lost} wrong; without workers ${rss.toFixed(0)} MiB, ${held.toFixed(1)} MiB of them JavaScript's, ${handles} handles`,
    );
}
clearInterval(killer);
await closePools();
// Medians of the second and the last fifth: the first fifth fills heaps and caches.
const fifth = Math.floor(memory.length / 5);
const growth = (of) => {
  if (fifth === 0) return { factor: 1, text: 'too few jobs to say' };
  const [early, late] = [memory.slice(fifth, 2 * fifth), memory.slice(-fifth)].map((part) =>
    median(part.map(of)),
  );
  return { factor: late / early, text: `${early.toFixed(1)} to ${late.toFixed(1)} MiB` };
};
const [rss, held] = [growth((x) => x.rss), growth((x) => x.held)];
console.log(
  `${tally.jobs} jobs, ${kills} workers killed, ${tally.redone} tiles redone after that, ${tally.cancelled} cancelled, ${tally.lost} wrong; without workers the process went from ${rss.text}, JavaScript from ${held.text}; ${handles} handles at the end`,
);
const level = rss.factor < 1.15 && held.factor < 1.1 && handles < 20;
process.exitCode = tally.lost === 0 && tally.redone > 0 && level ? 0 : 1;
