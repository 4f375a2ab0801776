// The real clock on the real comparison: one kernel measured against itself 20 times must stay quiet, and against
// itself with 10 % more work must be caught. node scripts/regression.mjs [engine=native]
import { findOp } from '@bitmma/core';
import { ENGINES } from 'bitmma';
import { compareRecords } from '../dist/history.js';
import { measure } from '../dist/measure.js';

const engine = await ENGINES.open(process.argv[2] ?? 'native');
const op = findOp('h100', 'wgmma.mma_async.m64n8k32.f32.e4m3.e4m3');
const workload = { id: 'regression', op, m: 256, n: 256, k: 2560, suite: 'quick' };

/** The engine with every tile's first tenth of K done twice. */
const slower = {
  ...engine,
  open: async (...args) => {
    const session = await engine.open(...args);
    const tile = async (loaded, t) => {
      await session.tile(loaded, { ...t, chain: [{ k0: 0, k1: 256 }] });
      await session.tile(loaded, t);
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

const rounds = 31;
const record = async (which, commit) => {
  const [r] = await measure(workload, { engines: [{ engine: which }], rounds, commit });
  return { ...r, benchVersion: 'regression' };
};
let alarms = 0;
for (let i = 0; i < 20; i++) {
  const pair = [await record(engine, 'base'), await record(engine, 'head')];
  const [c] = compareRecords(pair, 'base', 'head');
  if (c.verdict !== 'same') alarms++;
  console.log(`unchanged ${i + 1}: x${c.factor.toFixed(3)} p ${c.p.toExponential(1)} ${c.verdict}`);
}
const [c] = compareRecords([await record(engine, 'base'), await record(slower, 'head')], 'base', 'head');
console.log(`10 % more work: x${c.factor.toFixed(3)} p ${c.p.toExponential(1)} ${c.verdict}`);
console.log(
  `${alarms} alarms in 20 unchanged; the slowdown was ${c.verdict === 'slower' ? 'caught' : 'MISSED'}`,
);
process.exitCode = alarms === 0 && c.verdict === 'slower' ? 0 : 1;
