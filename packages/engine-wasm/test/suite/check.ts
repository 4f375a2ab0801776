// One process that stops at the first word that differs from the reference: what scripts/mutants.mjs runs.
import type { MmaOp } from '@bitmma/core';
import { type CaseSet, campaignsFor, generateCases, runSuite } from '@bitmma/core/conformance';
import { referenceEngine } from '@bitmma/core/reference';
import { wasmEngine } from '../../src/index.js';
import { customOp } from './custom.js';
import { edgesOf } from './edges.js';
import { distinctOps } from './ops.js';
import { panelMismatch } from './panels.js';
import { doubleTileMismatch } from './tiles.js';

const engine = await wasmEngine();
const reference = referenceEngine();

/** The first mismatch of an op on a kernel, or null. */
async function differs(op: MmaOp, sets: Iterable<CaseSet>): Promise<string | null> {
  const support = engine.supports(op);
  if (!support.ok) return null;
  const all = [...sets];
  if (all.length === 0) return null;
  for (const kernel of support.kernels) {
    const { ops } = await runSuite(all, { engine, kernel, against: reference, keep: 1 });
    const [found] = ops.flatMap((ran) => ran.mismatches);
    if (found) return `${op.device} ${op.instruction}, ${kernel}: ${found.source}`;
  }
  if (op.a === 'fp64')
    for (const set of all) {
      const found = await doubleTileMismatch(engine, set);
      if (found) return `${op.device} ${op.instruction}, tiles: ${found}`;
    }
  if (!support.kernels.includes('simd') || op.datapath.kind === 'integer') return null;
  for (const set of all) {
    const found = await panelMismatch(engine, set);
    if (found) return `${op.device} ${op.instruction}, panels: ${found}`;
  }
  return null;
}

function* edges(op: MmaOp): Generator<CaseSet> {
  yield* edgesOf(op);
}

function* campaigns(op: MmaOp): Generator<CaseSet> {
  const k = op.scaling || op.sparsity ? op.k : 2 * op.k - 1;
  for (const campaign of campaignsFor(op)) yield generateCases(op, campaign, { seed: 21, count: 12, k });
}

async function first(): Promise<string | null> {
  // Ops of every kind come early: the catalog lists one device's alike in a row.
  const ops = [...distinctOps()].sort((x, y) => (x.instruction.length % 7) - (y.instruction.length % 7));
  for (const make of [edges, campaigns])
    for (const op of ops) {
      const found = await differs(op, make(op));
      if (found) return found;
    }
  for (let seed = 1; seed <= 150; seed++) {
    const op = customOp(seed);
    const found = op && (await differs(op, campaigns(op)));
    if (found) return found;
  }
  return null;
}

const found = await first();
console.log(found ?? 'no difference');
process.exit(found ? 1 : 0);
