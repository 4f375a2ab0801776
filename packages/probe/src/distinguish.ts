/** The shortest vectors that tell devices apart. */
import { type Engine, FORMATS, InputError, type MmaOp, type WordArray } from '@bitmma/core';
import {
  CaseRandom,
  type CaseSet,
  recordOf,
  sameWord,
  shrinkMismatch,
  sliceCases,
  streamOf,
  type VectorRecord,
} from '@bitmma/core/conformance';
import { readWord, wordToHex } from '@bitmma/core/formats';
import { runCases } from './infer/book.js';
import { marksOf } from './infer/search.js';
import { type Signature, signatureOf } from './signature.js';
import { ladder } from './vectors/ladder.js';
import { firstQuestions } from './vectors/pool.js';
import { scopeOf } from './vectors/scope.js';
import { Cases } from './vectors/spec.js';

export interface Distinction {
  /** K positions of each vector; an instruction of a smaller K is chained. */
  readonly k: number;
  readonly vectors: readonly {
    /** Words of the operands, K of them; device and instruction name the first op. */
    readonly vector: VectorRecord;
    /** Each op's answer, in the order given. */
    readonly answers: readonly string[];
  }[];
  /** Ops by index that no vector tells apart. */
  readonly classes: readonly (readonly number[])[];
  readonly tried: number;
}

const sameOperands = (x: MmaOp, y: MmaOp) =>
  x.a === y.a &&
  x.b === y.b &&
  x.c === y.c &&
  x.d === y.d &&
  x.scaling === null &&
  y.scaling === null &&
  x.sparsity === y.sparsity &&
  x.sparsity === null;

const greatestCommonDivisor = (x: number, y: number): number =>
  y === 0 ? x : greatestCommonDivisor(y, x % y);

const MOST_K = 512;

/** Splits classes by the answers to one case. */
function split(classes: readonly (readonly number[])[], key: (op: number) => string): number[][] {
  return classes.flatMap((members) => {
    const parts = new Map<string, number[]>();
    for (const op of members) parts.set(key(op), [...(parts.get(key(op)) ?? []), op]);
    return [...parts.values()];
  });
}

/**
 * Tells ops of the same operands apart with as few vectors as a greedy choice finds, each shrunk to its least terms.
 * @throws InputError where the ops' formats differ, or one is block-scaled or sparse and not the only one
 */
export async function distinguish(ops: readonly MmaOp[], engine: Engine, tries = 4000): Promise<Distinction> {
  if (ops.length < 2) throw new InputError(`distinguish: expected at least two devices, got ${ops.length}`);
  for (const op of ops)
    if (!sameOperands(op, ops[0]))
      throw new InputError(
        `distinguish: expected dense ${ops[0].a} × ${ops[0].b} + ${ops[0].c} → ${ops[0].d} of every device, got ${op.a} × ${op.b} + ${op.c} → ${op.d} of ${op.device} ${op.instruction}`,
      );
  const k = ops.reduce((all, op) => (all * op.k) / greatestCommonDivisor(all, op.k), 1);
  if (k > MOST_K)
    throw new InputError(
      `distinguish: expected instructions that chain to at most ${MOST_K} positions, got ${k}`,
    );
  const signature: Signature = { ...signatureOf(ops[0]), k };
  const sessions = await Promise.all(ops.map((op) => engine.open(op)));
  const answersTo = (set: CaseSet): Promise<WordArray[]> =>
    Promise.all(sessions.map((session, i) => runCases(session, { ...set, op: ops[i] })));
  const { d } = ops[0];
  const wordBits = FORMATS[d].wordBits;
  const hex = (words: WordArray, i: number) => wordToHex(readWord(words, i, wordBits), wordBits);

  let classes: (readonly number[])[] = [ops.map((_, i) => i)];
  const chosen: CaseSet[] = [];
  let tried = 0;
  /** Takes from a set the case that splits the most, again and again. */
  const take = async (set: CaseSet): Promise<void> => {
    tried += set.count;
    const answers = await answersTo(set);
    for (;;) {
      let best: { at: number; classes: number[][] } | null = null;
      for (let at = 0; at < set.count; at++) {
        const differs = classes.some((members) =>
          members.some((op) => !sameWord(d, answers[op], at, answers[members[0]], at)),
        );
        if (!differs) continue;
        const next = split(classes, (op) => hex(answers[op], at));
        if (best === null || next.length > best.classes.length) best = { at, classes: next };
      }
      if (best === null) return;
      classes = best.classes;
      chosen.push(sliceCases(set, best.at, 1));
    }
  };
  const op = { ...ops[0], k };
  // Numbers before NaN, Inf and signs of zero: a device that differs in arithmetic is told by arithmetic.
  const parts = firstQuestions(signature, { perCampaign: 16 });
  const isSpecial = ({ group, note }: (typeof parts)[number]) =>
    group === 'special' || /raw-bit|specials/.test(note(0));
  for (const late of [false, true])
    for (const part of parts) if (isSpecial(part) === late) await take({ ...part.set, op });
  const marks = marksOf(...ops.map(({ datapath }) => datapath));
  for (let drawn = 0; drawn < tries && classes.some((members) => members.length > 1); drawn += 500) {
    const cases = new Cases(signature);
    const scope = scopeOf(signature, cases);
    for (let i = 0; i < 500; i++)
      cases.add(ladder(scope, marks, new CaseRandom(11, streamOf('distinguish'), drawn + i)));
    if (cases.count > 0) await take(cases.build(op));
  }

  const vectors: Distinction['vectors'][number][] = [];
  let open: (readonly number[])[] = [ops.map((_, i) => i)];
  for (const set of chosen) {
    const answers = await answersTo(set);
    const before = split(open, (i) => hex(answers[i], 0));
    const pair = open.flatMap((members) => {
      const other = members.find((i) => hex(answers[i], 0) !== hex(answers[members[0]], 0));
      return other === undefined ? [] : [[members[0], other] as const];
    })[0];
    if (!pair) continue;
    // Shrunk for one pair; kept only where it still splits as many classes.
    const small = await shrunk(set, ops, sessions, pair);
    const smallAnswers = await answersTo(small);
    const after = split(open, (i) => hex(smallAnswers[i], 0));
    const [kept, words] = after.length >= before.length ? [small, smallAnswers] : [set, answers];
    open = split(open, (i) => hex(words[i], 0));
    vectors.push({ vector: recordOf(kept, 0), answers: words.map((w) => hex(w, 0)) });
  }
  for (const session of sessions) await session.close();
  return { k, vectors, classes: open, tried };
}

async function shrunk(
  set: CaseSet,
  ops: readonly MmaOp[],
  sessions: readonly Awaited<ReturnType<Engine['open']>>[],
  [x, y]: readonly [number, number],
): Promise<CaseSet> {
  const { vector } = await shrinkMismatch({ ...set, op: { ...ops[x], k: set.k } }, sessions[x], sessions[y]);
  const cases = new Cases({ ...signatureOf(ops[0]), k: set.k });
  const words = (text: string) => text.split(' ').map((word, slot) => [slot, BigInt(`0x${word}`)] as const);
  cases.add({
    group: 'mix',
    note: 'shrunk',
    terms: [],
    raw: { a: words(vector.a), b: words(vector.b), c: BigInt(`0x${vector.c}`) },
  });
  return cases.build({ ...ops[0], k: set.k });
}
