import type { Session, WordArray } from '../engine/engine.js';
import type { FormatName } from '../formats/table.js';
import { batchOf, type CaseSet, copyCases } from './cases.js';
import { recordOf, type VectorRecord } from './vector.js';
import { formatWords, scaleWords, setWord, usedBits, wordAt } from './words.js';

/** A case on which two engines differ, made as small as the steps below allow. */
export interface SmallestFailure {
  /** The case with the judge's word as d. */
  readonly vector: VectorRecord;
  readonly got: string;
  /** Steps tried. */
  readonly tried: number;
}

/** Whether two sessions differ on a case, and both words. */
type Differ = (set: CaseSet) => Promise<{ got: WordArray; want: WordArray } | null>;

const LIMIT = 20_000;

async function dot(session: Session, set: CaseSet): Promise<WordArray> {
  const batch = batchOf(set);
  for await (const done of session.dots([batch])) if (done.d !== batch.d) return done.d;
  return batch.d;
}

const differ =
  (session: Session, judge: Session): Differ =>
  async (set) => {
    const got = await dot(session, set);
    const want = await dot(judge, set);
    return got.every((word, i) => word === want[i]) ? null : { got, want };
  };

/** Simpler words to try for `word`, simplest first: zero, then without its set bits, lowest first. */
function* simpler(format: FormatName, word: bigint): Generator<bigint> {
  if (word !== 0n) yield 0n;
  const bits = usedBits(format);
  for (let bit = 0; bit < bits; bit++) {
    const flag = 1n << BigInt(bit);
    if (word & flag && word !== flag) yield word & ~flag;
  }
}

/**
 * Shrinks one case on which `session` and `judge` differ, always the same way: whole products are zeroed (halves of
 * the positions first, then singles), scales are set to one, then c, a and b lose single set bits, each step kept
 * only where the two still differ, until none helps.
 */
export async function shrinkMismatch(
  found: CaseSet,
  session: Session,
  judge: Session,
): Promise<SmallestFailure> {
  const { op, k } = found;
  const differs = differ(session, judge);
  let best = copyCases(found);
  let words = await differs(best);
  let tried = 0;
  if (!words) {
    const got = await dot(session, best);
    return { vector: recordOf(best, 0), got: formatWords(op.d, got, 0, 1), tried };
  }
  const attempt = async (change: (set: CaseSet) => void): Promise<boolean> => {
    if (tried >= LIMIT) return false;
    const next = copyCases(best);
    change(next);
    tried++;
    const result = await differs(next);
    if (!result) return false;
    best = next;
    words = result;
    return true;
  };
  const zero = (set: CaseSet, from: number, to: number) => {
    for (let i = from; i < to; i++) {
      setWord(op.a, set.a, i, 0n);
      setWord(op.b, set.b, i, 0n);
    }
  };
  const isZero = (from: number, to: number) => {
    for (let i = from; i < to; i++)
      if (wordAt(op.a, best.a, i) !== 0n || wordAt(op.b, best.b, i) !== 0n) return false;
    return true;
  };
  for (let size = k; size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = 0; from < k; from += size) {
      const to = Math.min(from + size, k);
      if (!isZero(from, to)) await attempt((set) => zero(set, from, to));
    }
  if (op.scaling) {
    const one = op.scaling.format === 'ue8m0' ? 0x7f : 0x38;
    for (const name of ['scaleA', 'scaleB'] as const)
      for (let i = 0; i < scaleWords(op, k); i++)
        await attempt((set) => {
          set[name]![i] = one;
        });
  }
  const parts: [FormatName, 'a' | 'b' | 'c', number][] = [
    [op.c, 'c', 1],
    [op.a, 'a', k],
    [op.b, 'b', k],
  ];
  for (let changed = true; changed && tried < LIMIT; ) {
    changed = false;
    for (const [format, name, count] of parts)
      for (let i = 0; i < count; i++)
        for (const word of simpler(format, wordAt(format, best[name], i)))
          if (await attempt((set) => setWord(format, set[name], i, word))) {
            changed = true;
            break;
          }
  }
  return { vector: recordOf(best, 0, words.want), got: formatWords(op.d, words.got, 0, 1), tried };
}
