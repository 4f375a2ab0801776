/** Which catalog devices fit recorded results. */
import { catalog, type Engine, FORMATS, findOp, InputError, type MmaOp, opHash } from '@bitmma/core';
import {
  asRecord,
  CaseBuilder,
  type CaseSet,
  describeCase,
  sameWord,
  type VectorRecord,
} from '@bitmma/core/conformance';
import { readWord, wordToHex } from '@bitmma/core/formats';
import { runCases } from './infer/book.js';

export interface Candidate {
  /** Ops of one arithmetic. */
  readonly ops: readonly { readonly device: string; readonly instruction: string }[];
  readonly cases: number;
  readonly mismatches: number;
  /** The first case that differs. */
  readonly first: {
    readonly id: string;
    readonly expected: string;
    readonly got: string;
    readonly inputs: string;
  } | null;
}

export interface Results {
  readonly records: readonly VectorRecord[];
  /** Operands of the records' instruction. */
  readonly like: MmaOp;
}

/** Reads result lines: vectors with d, all of one instruction, whose name fixes the operands' formats. */
export function parseResults(text: string, source: string): Results {
  const records: VectorRecord[] = [];
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      throw new InputError(
        `${source}:${i + 1}: expected a JSON object a line, got ${JSON.stringify(line.slice(0, 60))}`,
      );
    }
    if (typeof value === 'object' && value !== null && !('id' in value)) continue;
    const record = recordAt(value, `${source}:${i + 1}`);
    if (record.d === undefined)
      throw new InputError(`${source}:${i + 1}: d: expected the recorded word, got nothing`);
    records.push(record);
  }
  if (records.length === 0) throw new InputError(`${source}: expected result lines, got none`);
  const [{ device, instruction }] = records;
  const other = records.find((record) => record.instruction !== instruction || record.device !== device);
  if (other)
    throw new InputError(
      `${source}: expected one device and instruction, got ${instruction} of ${device} and ${other.instruction} of ${other.device}`,
    );
  const named = catalog().find((op) => op.device === device && op.instruction === instruction);
  return { records, like: named ?? findByInstruction(device, instruction) };
}

function recordAt(value: unknown, place: string): VectorRecord {
  try {
    return asRecord(value);
  } catch (error) {
    if (error instanceof InputError) throw new InputError(`${place}: ${error.message}`, { cause: error });
    throw error;
  }
}

/** Where the device is not of the catalog, its instruction may be: the operands are the same. */
function findByInstruction(device: string, instruction: string): MmaOp {
  const op = catalog().find((candidate) => candidate.instruction === instruction);
  return op ?? findOp(device, instruction);
}

/** Ranks every arithmetic of the catalog with the same operands by how many recorded words it gets wrong. */
export async function fitting({ records, like }: Results, engine: Engine): Promise<Candidate[]> {
  const byHash = new Map<string, MmaOp[]>();
  for (const op of catalog()) {
    const alike =
      op.a === like.a &&
      op.b === like.b &&
      op.c === like.c &&
      op.d === like.d &&
      op.sparsity === like.sparsity &&
      op.scaling?.format === like.scaling?.format &&
      op.scaling?.block === like.scaling?.block &&
      like.k % op.k === 0;
    if (alike && (op.k === like.k || (op.sparsity === null && op.scaling === null)))
      byHash.set(opHash(op), [...(byHash.get(opHash(op)) ?? []), op]);
  }
  const builder = new CaseBuilder(like, 'results', records.length);
  for (const record of records) builder.add(record);
  const set: CaseSet = builder.build();
  const d = set.d!;
  const bits = FORMATS[like.d].wordBits;
  const found: Candidate[] = [];
  for (const ops of byHash.values()) {
    const session = await engine.open(ops[0]);
    const got = await runCases(session, { ...set, op: ops[0] });
    await session.close();
    const wrong = Array.from({ length: set.count }, (_, i) => i).filter(
      (i) => !sameWord(like.d, got, i, d, i),
    );
    const [at] = wrong;
    const word = (words: typeof got) => wordToHex(readWord(words, at, bits), bits);
    found.push({
      ops: ops.map(({ device, instruction }) => ({ device, instruction })),
      cases: set.count,
      mismatches: wrong.length,
      first:
        at === undefined
          ? null
          : { id: set.id(at), expected: word(d), got: word(got), inputs: describeCase(set, at) },
    });
  }
  return found.sort((x, y) => x.mismatches - y.mismatches);
}
