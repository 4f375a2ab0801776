/**
 * What an engine computes, as text that is committed: a line per op with the cases run, a digest of every result
 * word, and the hard cases among them. A change of any word, op or generator changes a line.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { catalog } from '../datapath/catalog/index.js';
import type { MmaOp } from '../datapath/op.js';
import { catalogHash } from '../datapath/serialize.js';
import type { Engine, WordArray } from '../engine/engine.js';
import { batchOf, type CaseSet } from './cases.js';
import { mismatches } from './compare.js';
import { campaignsFor, generateCases } from './generate.js';
import { PREDICATES, type Predicate, predicatesOf } from './predicates.js';
import { runBatch } from './suite.js';

export interface SnapshotOptions {
  readonly engine: Engine;
  /** The project's own vectors. */
  readonly vectors?: Iterable<CaseSet> | AsyncIterable<CaseSet>;
  readonly ops?: readonly MmaOp[];
  /** Generated cases of each campaign and op. */
  readonly perCampaign?: number;
  readonly seed?: number;
  /** Count the hard cases among the generated ones, from the reference's trace. */
  readonly predicates?: boolean;
}

interface Line {
  passed: number;
  failed: number;
}

/** Little-endian bytes of words. */
function bytesOf(words: WordArray): Uint8Array {
  const size = words.BYTES_PER_ELEMENT;
  const bytes = new Uint8Array(words.length * size);
  words.forEach((word, i) => {
    for (let j = 0; j < size; j++) bytes[i * size + j] = word >>> (8 * j);
  });
  return bytes;
}

/** The snapshot of an engine, newline at its end. */
export async function conformanceSnapshot(options: SnapshotOptions): Promise<string> {
  const { engine, vectors = [], ops = catalog(), perCampaign = 4, seed = 1, predicates = false } = options;
  const targeted = new Map<MmaOp, Line>();
  for await (const set of vectors) await runVectors(engine, set, targeted);
  const lines: string[] = [];
  const totals = { ops: 0, vectors: 0, failed: 0, generated: 0 };
  const hard = new Map<Predicate, number>();
  for (const op of ops) {
    const name = `${op.device} ${op.instruction}`;
    const support = engine.supports(op);
    if (!support.ok) {
      lines.push(`${name}: not supported, ${support.reason}`);
      continue;
    }
    const { passed, failed } = targeted.get(op) ?? { passed: 0, failed: 0 };
    const sets = campaignsFor(op).map((campaign) =>
      generateCases(op, campaign, { seed, count: perCampaign }),
    );
    const generated = sets.reduce((sum, set) => sum + set.count, 0);
    lines.push(
      `${name}: vectors ${passed} passed, ${failed} failed; generated ${generated} ${await digest(engine, op, sets)}`,
    );
    if (predicates)
      for (const set of sets)
        for (let i = 0; i < set.count; i++)
          for (const predicate of predicatesOf(set, i)) hard.set(predicate, (hard.get(predicate) ?? 0) + 1);
    totals.ops++;
    totals.vectors += passed;
    totals.failed += failed;
    totals.generated += generated;
  }
  return [
    `engine ${engine.id} (${engine.lineage})`,
    `catalog ${catalogHash()}`,
    `${totals.ops} of ${ops.length} ops; vectors ${totals.vectors} passed, ${totals.failed} failed; generated ${totals.generated}, seed ${seed}`,
    ...(predicates
      ? (Object.keys(PREDICATES) as Predicate[]).map((name) => `hard case ${name}: ${hard.get(name) ?? 0}`)
      : []),
    ...lines,
    '',
  ].join('\n');
}

async function runVectors(engine: Engine, set: CaseSet, into: Map<MmaOp, Line>): Promise<void> {
  if (!engine.supports(set.op).ok || !set.d) return;
  const line = into.get(set.op) ?? { passed: 0, failed: 0 };
  into.set(set.op, line);
  const session = await engine.open(set.op);
  try {
    const failed = mismatches(set, await runBatch(session, batchOf(set)), set.d).length;
    line.failed += failed;
    line.passed += set.count - failed;
  } finally {
    await session.close();
  }
}

/** First 16 hex digits of SHA-256 over every d word, campaign by campaign, little-endian. */
async function digest(engine: Engine, op: MmaOp, sets: readonly CaseSet[]): Promise<string> {
  const hash = sha256.create();
  const session = await engine.open(op);
  try {
    for (const set of sets) hash.update(bytesOf(await runBatch(session, batchOf(set))));
  } finally {
    await session.close();
  }
  return bytesToHex(hash.digest()).slice(0, 16);
}
