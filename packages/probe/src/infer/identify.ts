/** From questions and answers to a datapath: the first questions, fits, the survey, a random campaign, refinement. */
import {
  type Datapath,
  type DatapathKind,
  type Engine,
  FORMATS,
  type Session,
  UnsupportedError,
} from '@bitmma/core';
import { campaignsFor, generateCases, type SmallestFailure, shrinkMismatch } from '@bitmma/core/conformance';
import { admits, exponentsOf, opWith, type Signature } from '../signature.js';
import { kindsFor, withValue } from '../space/axes.js';
import { startOf } from '../space/start.js';
import { firstQuestions, type PoolOptions } from '../vectors/pool.js';
import { Book } from './book.js';
import { mismatchBound } from './bound.js';
import { type Fit, Fitter } from './fit.js';
import { type Survey, survey } from './survey.js';

type FloatKind = Exclude<DatapathKind, 'integer'>;

export interface IdentifyOptions {
  /** Computes hypotheses. */
  readonly judge: Engine;
  readonly pool?: PoolOptions;
  /** Drawn vectors before two hypotheses count as not told apart; default 1024. */
  readonly tries?: number;
  /** Cases of the final random campaign; default 2000. */
  readonly campaign?: number;
  /** Seed of the campaign; default 1. */
  readonly seed?: number;
  /** The bound holds with certainty 1 - epsilon; default 1e-6. */
  readonly epsilon?: number;
  /** Predicted dots that the last, longest fit of a kind may take before the box counts as outside; default 600,000. */
  readonly budget?: number;
  /** Datapaths to start from where no neutral start fits. */
  readonly priors?: readonly Datapath[];
  readonly onProgress?: (message: string) => void;
}

export interface Campaign {
  readonly cases: number;
  readonly mismatches: number;
  readonly epsilon: number;
  readonly bound: number;
}

export interface Identification {
  readonly signature: Signature;
  /** The datapath that reproduces every answer, or the nearest one where nothing does. */
  readonly datapath: Datapath;
  /** False: no member of the union that was tried reproduces every answer. */
  readonly inside: boolean;
  /** The smallest case that the nearest datapath gets wrong; null inside. */
  readonly counterexample: SmallestFailure | null;
  readonly survey: Survey;
  readonly campaign: Campaign;
  /** Rounds in which new answers refuted a hypothesis. */
  readonly refinements: readonly string[];
  readonly start: 'neutral' | 'prior';
  readonly queries: number;
  readonly predicted: number;
  readonly book: Book;
}

/** The word that answers a NaN addend, in hex; null where the answer is no NaN. */
export function nanWordOf(book: Book): string | null {
  const { signature } = book;
  for (let i = 0; i < book.entries.length; i++)
    if (book.entries[i].group === 'special' && book.note(i).startsWith('c = ')) {
      const word = book.answer(i);
      const f = FORMATS[signature.d];
      if (f.kind !== 'float') return null;
      const w = BigInt(`0x${word}`);
      const ones = (1n << BigInt(f.exponentBits)) - 1n;
      const nan =
        ((w >> BigInt(f.fractionBits)) & ones) === ones && (w & ((1n << BigInt(f.fractionBits)) - 1n)) !== 0n;
      if (nan) return word;
    }
  return null;
}

/** Fraction bits of a result: the deepest single bit of c that comes through with every product zero. */
export function precisionOf(book: Book): number {
  const { fraction, bottom } = exponentsOf(book.signature.d);
  let deepest = 0;
  for (const [bit, i] of book.series('c-bit'))
    if (book.answer(i) === book.addend(i)) deepest = Math.max(deepest, bit);
  return deepest > 0 && bottom < 0 ? deepest : fraction;
}

const MOST_ROUNDS = 12;
/** Predicted dots that a kind may take before others are tried, and in the end. */
const BRIEF = 150_000;
const LONG = 600_000;
/** Wrong answers of 240 up to which a plainer kind is followed. */
const NEARLY = 6;
/** Fits that are followed to the end when none fits. */
const LAST_RESORTS = 3;

/** Orders kinds by how few answers a handful of their plain members get wrong. */
async function glance(
  book: Book,
  kinds: readonly FloatKind[],
  nan: string,
): Promise<{ kind: FloatKind; start: Datapath }[]> {
  const { signature } = book;
  const some: number[] = [];
  for (const [group, every] of [
    ['order', 12],
    ['window', 12],
    ['addend', 20],
    ['group', 20],
    ['output', 8],
    ['high', 10],
  ] as const) {
    const own = book.entries.flatMap((entry, i) => (entry.group === group ? [i] : []));
    some.push(...own.filter((_, i) => i % every === 0));
  }
  const outputs = book.entries.flatMap((entry, i) => (entry.group === 'output' ? [i] : []));
  const ranked: { kind: FloatKind; start: Datapath; wrong: number }[] = [];
  for (const kind of kinds) {
    let start = startOf(kind, signature, nan);
    let least = Number.POSITIVE_INFINITY;
    const few = outputs.filter((_, i) => i % 3 === 0);
    for (const rounding of ['RNE', 'RZ', 'RD', 'RU']) {
      const candidate = withValue(start, 'output.rounding', rounding);
      const wrong = (await book.wrong(opWith(signature, candidate), few, least)).length;
      if (wrong < least) [start, least] = [candidate, wrong];
    }
    const w = exponentsOf(signature.d).fraction;
    let best = { start, wrong: (await book.wrong(opWith(signature, start), some)).length };
    for (const block of 'block' in start ? [2, 4, 8, 16, signature.k] : [])
      for (const fraction of 'fraction' in start ? [13, w, w + 1, w + 2] : [0]) {
        if (block > signature.k) continue;
        let candidate = withValue(start, 'block', block);
        if (fraction > 0) candidate = withValue(candidate, 'fraction', fraction);
        const wrong = (await book.wrong(opWith(signature, candidate), some, best.wrong)).length;
        if (wrong < best.wrong) best = { start, wrong };
      }
    ranked.push({ kind, ...best });
  }
  return ranked.sort((x, y) => x.wrong - y.wrong);
}

/**
 * Finds the datapath of a black box.
 * @param box answers dots; only its operands' formats, K, scaling and sparsity are used
 * @throws UnsupportedError for an integer op
 */
export async function identify(
  box: Session,
  signature: Signature,
  options: IdentifyOptions,
): Promise<Identification> {
  const {
    judge,
    tries = 1024,
    campaign = 2000,
    seed = 1,
    epsilon = 1e-6,
    priors = [],
    budget = LONG,
    onProgress,
  } = options;
  if (FORMATS[signature.a].kind !== 'float')
    throw new UnsupportedError(`probe: expected a floating-point instruction, got ${signature.a} operands`);
  const book = new Book(signature, box, judge);
  for (const part of firstQuestions(signature, options.pool))
    await book.ask(part.group, part.set, part.note, part.reading);
  const precision = precisionOf(book);
  if (precision < exponentsOf(signature.d).fraction)
    for (const part of firstQuestions(signature, { ...options.pool, precision, drawn: 0, perCampaign: 0 }))
      if (part.set.count > 0) await book.ask(part.group, part.set, part.note);
  onProgress?.(`${book.queries} first questions answered`);
  const nan = nanWordOf(book) ?? '7'.padEnd(FORMATS[signature.d].wordBits / 4, 'f');

  const kinds = await glance(book, kindsFor(signature), nan);
  type Found = { datapath: Datapath; wrong: readonly number[] };
  let best: Found | null = null;
  type Start = Identification['start'];
  let start: Start = 'neutral';
  const staged: { kind: FloatKind; fit: Fit; how: Start }[] = [];
  const fits = () => best !== null && best.wrong.length === 0;
  const finish = async ({ kind, fit, how }: (typeof staged)[number], budget: number) => {
    if (fits()) return;
    const done = await new Fitter(book, kind).finish(fit.datapath, budget);
    if (best === null || done.wrong.length < best.wrong.length) [best, start] = [done, how];
    onProgress?.(
      `${kind}: ${done.wrong.length === 0 ? 'fits every answer' : `${done.wrong.length} answers differ`}`,
    );
  };
  const attempt = async (kind: FloatKind, from: Datapath, how: Start) => {
    if (fits()) return;
    const next = { kind, fit: await new Fitter(book, kind).stages(from), how };
    if (next.fit.wrong.length === 0) await finish(next, Math.min(BRIEF, budget));
    staged.push(next);
  };
  const byWrong = () => staged.sort((x, y) => x.fit.wrong.length - y.fit.wrong.length);
  for (const { kind, start: from } of kinds) await attempt(kind, from, 'neutral');
  for (const next of byWrong()) await finish(next, Math.min(BRIEF, budget));
  for (const prior of priors)
    if (prior.kind !== 'integer' && admits(signature, prior))
      await attempt(prior.kind, withValue(prior, 'output.nan', nan), 'prior');
  /** What fitted every answer until a plainer kind took its place; comes back where that one is refuted. */
  let displaced: Datapath | null = null;
  /** Where a plainer kind fits every answer too, it is the one held. */
  const simplest = async (): Promise<void> => {
    const held = (best as Found | null)?.datapath;
    if (!fits() || held === undefined) return;
    for (const kind of kindsFor(signature)) {
      if (kind === held.kind) return;
      const from = kinds.find((ranked) => ranked.kind === kind)!.start;
      const known =
        staged.find((next) => next.kind === kind)?.fit ?? (await new Fitter(book, kind).stages(from));
      if (known.wrong.length > NEARLY) continue;
      const done = await new Fitter(book, kind).finish(known.datapath, BRIEF);
      if (done.wrong.length > 0) continue;
      displaced = held;
      [best, start] = [done, 'neutral'];
      onProgress?.(`${kind}: fits every answer too, and is plainer`);
      return;
    }
  };
  // The nearest are followed further before the box counts as outside.
  for (const next of byWrong().slice(0, LAST_RESORTS)) await finish(next, budget);
  await simplest();
  let held = best!.datapath as Datapath;
  let inside = best!.wrong.length === 0;

  const refinements: string[] = [];
  const refit = async (why: string, from: Datapath): Promise<void> => {
    if (from.kind === 'integer') return;
    let fit = await new Fitter(book, from.kind).finish(from, budget);
    const back = displaced as Datapath | null;
    if (fit.wrong.length > 0 && back !== null && back.kind !== 'integer') {
      displaced = null;
      const other = await new Fitter(book, back.kind).finish(back, budget);
      if (other.wrong.length < fit.wrong.length) fit = other;
    }
    held = fit.datapath;
    inside = fit.wrong.length === 0;
    refinements.push(inside ? why : `${why}; nothing near fits`);
    onProgress?.(refinements.at(-1)!);
  };
  let found: Survey = { axes: [], openKinds: [], refutedKinds: [], moved: null };
  let result: Campaign = { cases: 0, mismatches: 0, epsilon, bound: 1 };
  for (let round = 0; inside && round < MOST_ROUNDS; round++) {
    found = await survey(book, held, { tries });
    if (found.moved !== null) {
      await refit('a question made for two hypotheses refuted the one held', found.moved.to);
      continue;
    }
    const asked = await askCampaign(book, held, campaign, seed + round);
    const wrong = await book.wrong(opWith(signature, held), asked);
    result = {
      cases: asked.length,
      mismatches: wrong.length,
      epsilon,
      bound: mismatchBound(asked.length, wrong.length, epsilon),
    };
    if (wrong.length === 0) break;
    await refit(`the campaign showed ${wrong.length} mismatches in ${asked.length} cases`, held);
  }

  const counterexample = inside ? null : await smallest(book, box, judge, held);
  const report = {
    signature,
    datapath: held,
    inside,
    counterexample,
    survey: found,
    campaign: result,
    refinements,
    start,
    queries: book.queries,
    predicted: book.predicted,
    book,
  };
  await book.close();
  return report;
}

/** Random cases of every campaign that the hypothesis can run, about `count` in all. */
async function askCampaign(book: Book, held: Datapath, count: number, seed: number): Promise<number[]> {
  const op = opWith(book.signature, held);
  const campaigns = campaignsFor(op);
  const each = Math.ceil(count / campaigns.length);
  const asked: number[] = [];
  if (count > 0)
    for (const campaign of campaigns)
      asked.push(
        ...(await book.ask(
          'mix',
          generateCases(op, campaign, { seed: seed + 1000, count: each }),
          () => campaign.name,
        )),
      );
  return asked;
}

async function smallest(
  book: Book,
  box: Session,
  judge: Engine,
  held: Datapath,
): Promise<SmallestFailure | null> {
  const op = opWith(book.signature, held);
  const [first] = await book.wrong(
    op,
    book.entries.map((_, i) => i),
    0,
  );
  if (first === undefined) return null;
  const session = await judge.open(op);
  try {
    return await shrinkMismatch(book.gather([first], box.op), box, session);
  } finally {
    await session.close();
  }
}
