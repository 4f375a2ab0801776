// The real clock on the real comparison, seven runs of each side in turn: one kernel measured against itself 20 times must
// stay quiet, and against itself slowed down by a tenth must be caught. node scripts/regression.mjs [engine=native]
import { findOp } from '@bitmma/core';
import { ENGINES } from 'bitmma';
import { compareRecords } from '../dist/history.js';
import { measure } from '../dist/measure.js';

const engine = await ENGINES.open(process.argv[2] ?? 'native');
const op = findOp('h100', 'wgmma.mma_async.m64n8k32.f32.e4m3.e4m3');
const workload = { id: 'regression', op, m: 256, n: 256, k: 2560, suite: 'quick' };

/** The engine with every tile a tenth slower. */
const slower = {
  ...engine,
  open: async (...args) => {
    const session = await engine.open(...args);
    const tile = async (loaded, t) => {
      const start = performance.now();
      await session.tile(loaded, t);
      const end = start + 1.1 * (performance.now() - start);
      while (performance.now() < end);
    };
    return new Proxy(session, {
      get: (target, name) => {
        if (name === 'tile') return tile;
        const value = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  },
};

const RUNS = 7;
const rounds = 15;
const run = async (which, commit) => {
  const [r] = await measure(workload, { engines: [{ engine: which }], rounds, commit });
  return { ...r, benchVersion: 'regression' };
};
/** Runs of base and head in turn, as the workflow does. */
async function compareInTurn(head) {
  const records = [];
  for (let i = 0; i < RUNS; i++) records.push(await run(engine, 'base'), await run(head, 'head'));
  return compareRecords(records, 'base', 'head')[0];
}
const say = (name, c) =>
  console.log(`${name}: x${c.factor.toFixed(3)} p ${c.p.toExponential(1)} ${c.verdict}`);

let alarms = 0;
for (let i = 0; i < 20; i++) {
  const c = await compareInTurn(engine);
  if (c.verdict !== 'same') alarms++;
  say(`unchanged ${i + 1}`, c);
}
const c = await compareInTurn(slower);
say('a tenth slower', c);
console.log(
  `${alarms} alarms in 20 unchanged; the slowdown was ${c.verdict === 'slower' ? 'caught' : 'MISSED'}`,
);
process.exitCode = alarms === 0 && c.verdict === 'slower' ? 0 : 1;
