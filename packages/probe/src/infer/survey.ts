/** Around a hypothesis: which other values of each axis the answers refute, which are proved equal, which stay open. */
import type { Datapath } from '@bitmma/core';
import { opWith } from '../signature.js';
import { AXES, type Axis, fieldOf, kindsFor, type Value, withValue } from '../space/axes.js';
import { normalKey, proveEqual } from '../space/normal-form.js';
import { startOf } from '../space/start.js';
import type { Book } from './book.js';
import { tellApart } from './search.js';

export interface Refuted {
  readonly value: Value;
  /** Entry of the book. */
  readonly entry: number;
}

export interface AxisReport {
  readonly axis: string;
  readonly value: Value;
  /** Values with the same words for every input, with the proof. */
  readonly equal: readonly Value[];
  readonly proof: readonly string[];
  readonly refuted: readonly Refuted[];
  /** Values that no vector tried tells from the hypothesis, and no rule proves equal. */
  readonly open: readonly Value[];
}

export interface Survey {
  readonly axes: readonly AxisReport[];
  /** Members of other kinds with the same fields that stay open. */
  readonly openKinds: readonly Datapath[];
  /** Other kinds' nearest members and the entries that refute them. */
  readonly refutedKinds: readonly { readonly datapath: Datapath; readonly entry: number }[];
  /** A neighbour that fits where the hypothesis does not, or a question that neither answers right. */
  readonly moved: { readonly to: Datapath; readonly fits: boolean } | null;
}

/** Values to test: all of a short axis; of a long one the two nearest on each side, the ends and null. */
function tested(axis: Axis, domain: readonly Value[], value: Value): Value[] {
  const others = domain.filter((v) => v !== value);
  if (others.length <= 8) return others;
  const numbers = others.filter((v): v is number => typeof v === 'number').sort((x, y) => x - y);
  const own = typeof value === 'number' ? value : null;
  const picked = new Set<Value>(others.includes(null) ? [null] : []);
  if (own !== null) {
    for (const v of numbers.filter((n) => n < own).slice(-2)) picked.add(v);
    for (const v of numbers.filter((n) => n > own).slice(0, 2)) picked.add(v);
  } else {
    // No bound at all: the bounds that would matter most often are the highest, and a few on the way.
    for (const part of [0, 0.25, 0.5, 0.75]) picked.add(numbers[Math.floor(part * numbers.length)]);
  }
  picked.add(numbers[0]);
  picked.add(numbers.at(-1)!);
  if (axis.name === 'block' || axis.name.endsWith('Group'))
    for (const v of numbers) if (own !== null && (v === own / 2 || v === own * 2)) picked.add(v);
  return [...picked];
}

/** The nearest member of another kind: the fields of the same name carried over. */
export function translate(book: Book, datapath: Datapath, kind: Parameters<typeof startOf>[0]): Datapath {
  const { signature } = book;
  const start = startOf(kind, signature, datapath.kind === 'integer' ? '7fffffff' : datapath.output.nan);
  const from = datapath as unknown as Record<string, unknown>;
  const into: Record<string, unknown> = { ...start };
  for (const key of Object.keys(into))
    if (key !== 'kind' && from[key] !== undefined && from[key] !== null) into[key] = from[key];
  if (datapath.kind === 'exact' && 'fraction' in into) into.fraction = 72;
  if (datapath.kind === 'split-window' && kind === 'late-window') into.block = signature.k;
  return into as unknown as Datapath;
}

export interface SurveyOptions {
  /** Drawn vectors before a value counts as open. */
  readonly tries: number;
}

type Verdict =
  | { readonly kind: 'refuted'; readonly entry: number }
  | { readonly kind: 'open' }
  | { readonly kind: 'moved'; readonly fits: boolean };

/** Tests one rival: by the answers so far, else by a question made for the two. */
async function judge(
  book: Book,
  held: Datapath,
  rival: Datapath,
  groups: Axis['groups'],
  tries: number,
): Promise<Verdict> {
  const { signature } = book;
  const rivalOp = opWith(signature, rival);
  const entry = await book.refute(rivalOp, groups);
  if (entry !== null) return { kind: 'refuted', entry };
  const question = await tellApart(book, held, rival, tries);
  if (question === null) return { kind: 'open' };
  const [asked] = await book.ask('mix', question, () => 'made to tell two hypotheses apart');
  const wrongHeld = await book.wrong(opWith(signature, held), [asked]);
  const wrongRival = await book.wrong(rivalOp, [asked]);
  if (wrongHeld.length === 0) return { kind: 'refuted', entry: asked };
  return { kind: 'moved', fits: wrongRival.length === 0 };
}

/** Surveys every axis; stops at the first neighbour that fits better. */
export async function survey(book: Book, held: Datapath, options: SurveyOptions): Promise<Survey> {
  const { signature } = book;
  const axes: AxisReport[] = [];
  const key = normalKey(signature, held);
  const result = {
    axes,
    openKinds: [] as Datapath[],
    refutedKinds: [] as { datapath: Datapath; entry: number }[],
  };
  if (held.kind === 'integer') return { ...result, moved: null };
  for (const axis of AXES[held.kind]) {
    const value = fieldOf(held, axis.name);
    const domain = axis.domain(signature);
    const equal: Value[] = [];
    const apart: Value[] = [];
    for (const v of domain)
      if (v !== value) (normalKey(signature, withValue(held, axis.name, v)) === key ? equal : apart).push(v);
    const refuted: Refuted[] = [];
    const open: Value[] = [];
    for (const v of tested(axis, apart, value)) {
      const rival = withValue(held, axis.name, v);
      const verdict = await judge(book, held, rival, axis.groups, options.tries);
      if (verdict.kind === 'refuted') refuted.push({ value: v, entry: verdict.entry });
      else if (verdict.kind === 'open') open.push(v);
      else return { ...result, moved: { to: rival, fits: verdict.fits } };
    }
    const proof =
      equal.length > 0 ? (proveEqual(signature, held, withValue(held, axis.name, equal[0])) ?? []) : [];
    axes.push({
      axis: axis.name,
      value,
      equal,
      proof: proof.filter((p) => p.startsWith(axis.name)),
      refuted,
      open,
    });
  }
  for (const kind of kindsFor(signature)) {
    if (kind === held.kind) continue;
    const rival = translate(book, held, kind);
    if (normalKey(signature, rival) === key) {
      result.openKinds.push(rival);
      continue;
    }
    const verdict = await judge(book, held, rival, ['order', 'window'], options.tries);
    if (verdict.kind === 'refuted') result.refutedKinds.push({ datapath: rival, entry: verdict.entry });
    else if (verdict.kind === 'open') result.openKinds.push(rival);
    else return { ...result, moved: { to: rival, fits: verdict.fits } };
  }
  return { ...result, moved: null };
}
