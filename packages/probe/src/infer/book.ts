/** Every question asked of a black box with its answer, and how many of them a hypothesis gets wrong. */
import { type Engine, FORMATS, type MmaOp, type Session, type WordArray } from '@bitmma/core';
import {
  allocateCases,
  batchOf,
  type CaseSet,
  recordOf,
  sameWord,
  type VectorRecord,
} from '@bitmma/core/conformance';
import { readWord, wordToHex } from '@bitmma/core/formats';
import { opWith, type Signature } from '../signature.js';
import { PLACEHOLDER } from '../space/placeholder.js';
import type { Group, Reading } from '../vectors/spec.js';

/** The words of one set of cases, run by a session. */
export async function runCases(session: Session, set: CaseSet): Promise<WordArray> {
  const batch = batchOf(set);
  let d: WordArray = batch.d;
  for await (const done of session.dots([batch])) d = done.d;
  return d;
}

interface Page {
  readonly set: CaseSet;
  readonly d: WordArray;
  readonly note: (index: number) => string;
  readonly reading: ((index: number) => Reading | undefined) | undefined;
}

/** One asked vector. */
export interface Entry {
  readonly page: number;
  readonly at: number;
  readonly group: Group;
}

export interface Score {
  /** Wrong answers found, counting stopped above the limit. */
  readonly wrong: number;
  readonly firstWrong: number | null;
}

export class Book {
  readonly entries: Entry[] = [];
  readonly #pages: Page[] = [];
  readonly #killers: number[] = [];
  readonly #sessions = new Map<string, Promise<Session>>();
  /** Dots that hypotheses were computed for. */
  predicted = 0;

  /**
   * @param box answers questions; its op has the signature's operands
   * @param judge computes hypotheses
   */
  constructor(
    readonly signature: Signature,
    private readonly box: Session,
    private readonly judge: Engine,
  ) {}

  /** Questions asked. */
  get queries(): number {
    return this.entries.length;
  }

  /** Asks the cases of a set; returns the indices of their entries. */
  async ask(
    group: Group,
    set: CaseSet,
    note: (index: number) => string,
    reading?: (index: number) => Reading | undefined,
  ): Promise<number[]> {
    const d = await runCases(this.box, { ...set, op: this.box.op });
    return this.enter(group, set, d, note, reading);
  }

  /** Enters answered cases. */
  enter(
    group: Group,
    set: CaseSet,
    d: WordArray,
    note: (index: number) => string,
    reading?: (index: number) => Reading | undefined,
  ): number[] {
    const page = this.#pages.push({ set, d, note, reading }) - 1;
    const first = this.entries.length;
    for (let at = 0; at < set.count; at++) this.entries.push({ page, at, group });
    return Array.from({ length: set.count }, (_, i) => first + i);
  }

  note(index: number): string {
    const { page, at } = this.entries[index];
    return this.#pages[page].note(at);
  }

  /** Entries of a reading's series, by their place in it; those asked with a measured precision come last and count. */
  series(name: string): Map<number, number> {
    const found = new Map<number, number>();
    this.entries.forEach(({ page, at }, i) => {
      const reading = this.#pages[page].reading?.(at);
      if (reading?.[0] === name) found.set(reading[1], i);
    });
    return found;
  }

  /** An entry as a vector record without d. */
  vector(index: number): VectorRecord {
    const { page, at } = this.entries[index];
    const { d: _, ...rest } = this.#pages[page].set;
    return { ...recordOf({ ...rest, id: () => `q${index}` }, at), note: this.note(index) };
  }

  /** The box's answer in hex. */
  answer(index: number): string {
    const { page, at } = this.entries[index];
    const bits = FORMATS[this.signature.d].wordBits;
    return wordToHex(readWord(this.#pages[page].d, at, bits), bits);
  }

  /** The addend of an entry in hex. */
  addend(index: number): string {
    const { page, at } = this.entries[index];
    const bits = FORMATS[this.signature.c].wordBits;
    return wordToHex(readWord(this.#pages[page].set.c, at, bits), bits);
  }

  /** Entries packed as one set with the box's answers as d, under an op. */
  gather(indices: readonly number[], op: MmaOp): CaseSet & { readonly d: WordArray } {
    const count = indices.length;
    const words = allocateCases(op, count);
    const wide = (name: 'a' | 'b' | 'c' | 'd') => (FORMATS[op[name]].wordBits === 64 ? 2 : 1);
    const dWide = wide('d');
    const d = new (this.#pages[0].d.constructor as Uint32ArrayConstructor)(count * dWide) as WordArray;
    const copy = (
      from: WordArray | undefined,
      into: WordArray | undefined,
      at: number,
      i: number,
      each: number,
    ) => {
      if (from && into) into.set(from.subarray(at * each, (at + 1) * each), i * each);
    };
    const scales = (words.scaleA?.length ?? 0) / Math.max(1, count);
    const metadata = (words.sparse?.length ?? 0) / Math.max(1, count);
    indices.forEach((index, i) => {
      const { page, at } = this.entries[index];
      const { set, d: answers } = this.#pages[page];
      copy(set.a, words.a, at, i, op.k * wide('a'));
      copy(set.b, words.b, at, i, op.k * wide('b'));
      copy(set.c, words.c, at, i, wide('c'));
      copy(set.scaleA, words.scaleA, at, i, scales);
      copy(set.scaleB, words.scaleB, at, i, scales);
      copy(set.sparse, words.sparse, at, i, metadata);
      copy(answers, d, at, i, dWide);
    });
    return { op, source: 'asked', count, k: op.k, ...words, d, id: (i) => `asked-${indices[i]}` };
  }

  /** Words that a hypothesis gives for cases. */
  async predict(op: MmaOp, set: CaseSet): Promise<WordArray> {
    const key = JSON.stringify(op.datapath);
    let session = this.#sessions.get(key);
    if (!session) {
      if (this.#sessions.size > 64) await this.close();
      session = this.judge.open(op);
      this.#sessions.set(key, session);
    }
    this.predicted += set.count;
    return runCases(await session, { ...set, op });
  }

  /** Entries that a hypothesis gets wrong, in the order given; stops after `limit` + 1 of them. */
  async wrong(op: MmaOp, indices: readonly number[], limit = Number.POSITIVE_INFINITY): Promise<number[]> {
    const found: number[] = [];
    let size = 16;
    for (
      let start = 0;
      start < indices.length && found.length <= limit;
      start += size, size = Math.min(256, size * 2)
    ) {
      const part = indices.slice(start, start + size);
      const set = this.gather(part, op);
      const got = await this.predict(op, set);
      for (let i = 0; i < part.length; i++) if (!sameWord(op.d, got, i, set.d, i)) found.push(part[i]);
    }
    return found;
  }

  /** The first entry that refutes a hypothesis, or null: entries that refuted others come first. */
  async refute(op: MmaOp, groups: readonly Group[] = []): Promise<number | null> {
    const [killed] = await this.wrong(op, this.#killers.slice(0, 48), 0);
    if (killed !== undefined) return killed;
    const own: number[] = [];
    const other: number[] = [];
    this.entries.forEach((entry, i) => {
      (groups.includes(entry.group) ? own : other).push(i);
    });
    const [found] = await this.wrong(op, [...own, ...other], 0);
    if (found === undefined) return null;
    this.#killers.unshift(found);
    return found;
  }

  async close(): Promise<void> {
    const open = [...this.#sessions.values()];
    this.#sessions.clear();
    for (const session of open) await (await session).close();
  }
}

/** The op under which questions are packed before anything is known. */
export const blindOp = (signature: Signature): MmaOp => opWith(signature, PLACEHOLDER);
