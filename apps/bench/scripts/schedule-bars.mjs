// The scheduler's bars on two idle cores, 1024 x 1024 x 1024 FP8 of h100: one thread and two, interleaved in blocks
// of five runs. Exit 1 where a bar is missed. On a machine with other work --pin keeps the two workers on a core each
// (Linux), where the kernel would queue both on one. node scripts/schedule-bars.mjs [blocks=15] [engines=native,wasm] [--pin]
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { findOp } from '@bitmma/core';
import { ENGINES } from 'bitmma';
import { closePools, resultOperand, sampleInputs, schedule } from 'bitmma/schedule';
import { lowerQuartile, median } from '../dist/stats.js';

const [count = 15, names = 'native,wasm'] = process.argv.slice(2).filter((x) => !x.startsWith('--'));
const rounds = Number(count);
const engines = names.split(',');
const pin = process.argv.includes('--pin');
const op = findOp('h100', 'wgmma.mma_async.m64n8k32.f32.e4m3.e4m3');
const N = 1024;
/** Runs of a block, and those before it that are not counted. */
const [BLOCK, SETTLE] = [5, 2];
const ms = (seconds) => `${(seconds * 1e3).toFixed(2)} ms`;

console.log(`load of the machine before: ${loadavg()[0].toFixed(2)}; ${rounds} blocks`);
let missed = 0;
const bar = (name, value, met, wanted) => {
  if (!met) missed++;
  console.log(`  ${met ? 'met   ' : 'MISSED'} ${name}: ${value} (bar ${wanted})`);
};

/** Gives the two threads that computed most, this one aside, a core each. */
function pinWorkers() {
  const spent = (task) => Number(readFileSync(`/proc/self/task/${task}/schedstat`, 'utf8').split(' ')[0]);
  const tasks = readdirSync('/proc/self/task').filter((task) => task !== String(process.pid));
  const busiest = tasks.sort((x, y) => spent(y) - spent(x)).slice(0, 2);
  for (const [core, task] of busiest.entries()) execFileSync('taskset', ['-pc', String(core), task]);
}

for (const id of engines) {
  const engine = await ENGINES.open(id);
  const inputs = sampleInputs(op, N, N, N);
  const [d1, d2] = [resultOperand(op, N, N), resultOperand(op, N, N)];
  const runs = [];
  for (let i = -2; i < rounds; i++) {
    if (i === 0 && pin) pinWorkers();
    const some = { one: [], two: [] };
    // A core that idled through a block takes a run or two to come back; those are not counted.
    for (const [name, threads, d] of [
      ['one', 1, d1],
      ['two', 2, d2],
    ])
      for (let j = -SETTLE; j < BLOCK; j++) {
        const run = await schedule({ op, engine, inputs, d, threads });
        if (j >= 0) some[name].push(run);
      }
    if (i >= 0) for (let j = 0; j < BLOCK; j++) runs.push({ one: some.one[j], two: some.two[j] });
  }
  if (d1.words.some((word, i) => word !== d2.words[i]))
    throw new Error(`${id}: other words with two threads`);
  for (const [name, take] of [
    ['medians', median],
    ['lower quartiles, free of most other work', lowerQuartile],
  ]) {
    const of = (figure) => take(runs.map(figure));
    const kernel = of(({ two }) => two.busy / 2);
    const overhead = of(({ two }) => two.seconds - two.busy / 2);
    const ratio = of(({ one }) => one.seconds) / of(({ two }) => two.seconds);
    console.log(
      `${id}/${runs[0].one.kernel}, ${name}: one thread ${ms(of((r) => r.one.seconds))} in ${runs[0].one.tiles} tiles, two ${ms(of((r) => r.two.seconds))} in ${runs[0].two.tiles}; a worker's own time ${ms(kernel)}`,
    );
    bar('two threads to one', `x${ratio.toFixed(2)}`, ratio >= 1.8, 'x1.80');
    if (id !== 'native') continue;
    const share = (100 * overhead) / kernel;
    bar('overhead beside a worker’s half', `${ms(overhead)} = ${share.toFixed(1)} %`, share < 5, '5 %');
    const whole = of(({ one }) => one.busy);
    const part = (100 * overhead) / whole;
    bar('overhead beside one worker’s time for the whole', `${part.toFixed(1)} %`, part < 5, '5 %');
    const first = of(({ two }) => two.firstTile);
    bar('first tile on a warm pool', ms(first), first <= 0.02, '20 ms');
  }
}
await closePools();
process.exitCode = missed === 0 ? 0 : 1;
