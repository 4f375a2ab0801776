// Differential fuzz against the reference: random dots over every family and campaign, one line a mismatch.
//   node scripts/fuzz.mjs [--cases 10000000] [--seed 1] [--kernel NAME] [--match TEXT] [--seconds N] [--chain N]
// Cases are spread evenly over (op, kernel, campaign); exit code 1 on any mismatch.
import { parseArgs } from 'node:util';
import { catalog } from '@bitmma/core';
import {
  batchOf,
  campaignsFor,
  generateCases,
  mismatches,
  runBatch,
  shrinkMismatch,
  sliceCases,
} from '@bitmma/core/conformance';
import { referenceEngine } from '@bitmma/core/reference';
import { nativeEngine } from '../dist/index.js';

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '10000000' },
    seed: { type: 'string', default: '1' },
    kernel: { type: 'string' },
    match: { type: 'string', default: '' },
    seconds: { type: 'string', default: 'Infinity' },
    chain: { type: 'string', default: '1' },
  },
});

const engine = await nativeEngine();
const reference = referenceEngine();

/** Ops that differ only in name and shape compute alike: one of each arithmetic. */
const arithmetic = ({ a, b, c, d, k, datapath, scaling, sparsity }) =>
  JSON.stringify({ a, b, c, d, k, datapath, scaling, sparsity });
const ops = [...new Map(catalog().map((op) => [arithmetic(op), op])).values()].filter((op) =>
  `${op.device} ${op.instruction} ${op.datapath.kind}`.includes(values.match),
);

const jobs = [];
for (const op of ops) {
  const support = engine.supports(op);
  if (!support.ok) throw new Error(`${op.device} ${op.instruction}: ${support.reason}`);
  for (const kernel of support.kernels)
    if (values.kernel === undefined || values.kernel === kernel)
      for (const campaign of campaignsFor(op)) jobs.push({ op, kernel, campaign });
}
if (jobs.length === 0) throw new Error('nothing to run: no op matches, or none has the kernel');

const BATCH = 512;
const total = Number(values.cases);
const end = Date.now() + Number(values.seconds) * 1000;
const done = new Map();
const rare = new Map();
let count = 0;
let failed = 0;

for (let start = 0; count < total && Date.now() < end; start += BATCH)
  for (const { op, kernel, campaign } of jobs) {
    if (count >= total || Date.now() >= end) break;
    const set = generateCases(op, campaign, {
      seed: Number(values.seed),
      start,
      count: Math.min(BATCH, total - count),
      k: op.k * Number(values.chain),
    });
    const session = await engine.open(op, { kernel });
    const judge = await reference.open(op);
    const got = await runBatch(session, batchOf(set));
    const expected = await runBatch(judge, batchOf(set));
    const wrong = mismatches(set, got, expected);
    for (const i of wrong.slice(0, 1)) {
      const smallest = await shrinkMismatch(sliceCases(set, i, 1), session, judge);
      process.stdout.write(
        `MISMATCH ${op.device} ${op.instruction} ${kernel} ${campaign.name} case ${start + i}: ${JSON.stringify(smallest)}\n`,
      );
    }
    failed += wrong.length;
    count += set.count;
    const key = `${op.datapath.kind} ${kernel}`;
    done.set(key, (done.get(key) ?? 0) + set.count);
    for (const [path, n] of Object.entries(session.report().rarePaths))
      rare.set(`${kernel} ${path}`, (rare.get(`${kernel} ${path}`) ?? 0) + n);
  }

for (const [key, n] of [...done].sort()) process.stdout.write(`${key}: ${n} dots\n`);
for (const [key, n] of [...rare].sort()) process.stdout.write(`  ${key}: ${n}\n`);
process.stdout.write(`${count} dots, ${failed} mismatches\n`);
process.exitCode = failed === 0 ? 0 : 1;
