import { ContractValueError, SplitKUnknownError } from './errors.js';
import type { Split } from './plan.js';
import type { Fp8, SplitScheme } from './presets.js';
import type { Profile } from './profiles.js';

/** The problem that cuBLASLt's heuristic decides on. */
export interface SplitProblem {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly a: Fp8;
  readonly b: Fp8;
  readonly out: 'fp32' | 'bf16' | 'fp16' | 'e4m3' | 'e5m2';
  readonly fastAccum: boolean;
}

/** One known decision and where it was seen. */
export interface SplitEntry extends SplitProblem {
  readonly split: number;
  readonly scheme: SplitScheme | null;
  readonly evidence: string;
}

/** A profile file: the decisions recorded on one platform. */
export interface SplitTable {
  readonly format: 'bitmma-split-table-1';
  readonly profile: string;
  /** Workspace bytes of the recorded calls. */
  readonly workspace: number;
  readonly libraries: string;
  readonly entries: readonly SplitEntry[];
}

const FIELDS = ['m', 'n', 'k', 'a', 'b', 'out', 'fastAccum', 'split', 'scheme', 'evidence'];
const OUTS = ['fp32', 'bf16', 'fp16', 'e4m3', 'e5m2'];

/** The key of a problem in a table. */
export const problemKey = (p: SplitProblem): string =>
  `${p.m}x${p.n}x${p.k} ${p.a} x ${p.b} -> ${p.out}, ${p.fastAccum ? 'fast' : 'slow'} accumulation`;

/** Parses a profile file. Throws ContractValueError naming the entry and field that is wrong, or a repeated key. */
export function parseSplitTable(json: unknown, where: string): SplitTable {
  const fail = (what: string): never => {
    throw new ContractValueError(`${where}: ${what}`);
  };
  const record = (value: unknown, at: string): Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : fail(`${at}: expected an object, got ${JSON.stringify(value)}`);
  const table = record(json, 'file');
  if (table.format !== 'bitmma-split-table-1')
    fail(`format: expected bitmma-split-table-1, got ${JSON.stringify(table.format)}`);
  if (typeof table.profile !== 'string')
    fail(`profile: expected a name, got ${JSON.stringify(table.profile)}`);
  if (!Array.isArray(table.entries)) fail('entries: expected a list');
  const seen = new Set<string>();
  const entries = (table.entries as unknown[]).map((value, i) => {
    const at = `entry ${i}`;
    const e = record(value, at);
    for (const field of Object.keys(e)) if (!FIELDS.includes(field)) fail(`${at}: unknown field ${field}`);
    for (const field of ['m', 'n', 'k', 'split'])
      if (!Number.isInteger(e[field]) || (e[field] as number) < 1)
        fail(`${at}: ${field}: expected a whole number of at least 1, got ${JSON.stringify(e[field])}`);
    for (const field of ['a', 'b'])
      if (e[field] !== 'e4m3' && e[field] !== 'e5m2')
        fail(`${at}: ${field}: expected e4m3 or e5m2, got ${JSON.stringify(e[field])}`);
    if (!OUTS.includes(e.out as string))
      fail(`${at}: out: expected ${OUTS.join(', ')}, got ${JSON.stringify(e.out)}`);
    if (typeof e.fastAccum !== 'boolean') fail(`${at}: fastAccum: expected true or false`);
    if (typeof e.evidence !== 'string') fail(`${at}: evidence: expected a text`);
    const scheme = e.scheme as SplitScheme | null;
    if (e.split === 1 ? scheme !== null : !['serial', 'pairwise', 'contiguous'].includes(scheme as string))
      fail(
        `${at}: scheme: expected ${e.split === 1 ? 'null for one split' : 'serial, pairwise or contiguous'}, got ${JSON.stringify(scheme)}`,
      );
    const entry = e as unknown as SplitEntry;
    const key = problemKey(entry);
    if (seen.has(key)) fail(`${at}: the problem ${key} stands twice`);
    seen.add(key);
    return entry;
  });
  return { ...(table as unknown as SplitTable), entries };
}

/**
 * The split of a problem from the tables of a profile. Never guesses: throws SplitKUnknownError with the three ways
 * out where no table has it.
 */
export function lookUpSplit(problem: SplitProblem, profile: Profile, tables: readonly SplitTable[]): Split {
  for (const table of tables) {
    if (table.profile !== profile.name) continue;
    const entry = table.entries.find((e) => problemKey(e) === problemKey(problem));
    if (entry) return { count: entry.split, scheme: entry.scheme };
  }
  throw new SplitKUnknownError(
    `splitK 'auto': no table of profile ${profile.name} has ${problemKey(problem)}; give splitK explicitly (1, or ` +
      `S and ${profile.preset.schemes.join(' or ')}), load a split table that has this problem, or record it on the ` +
      'GPU with the hw-runner',
  );
}
