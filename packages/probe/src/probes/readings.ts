/** Feature probes: what single series of vectors show by themselves, before any model is fitted. */

import type { Book } from '../infer/book.js';
import { exponentsOf } from '../signature.js';

/** One asked vector and its answer. */
export interface Evidence {
  readonly note: string;
  readonly answer: string;
  /** Entry of the book: `book.vector(entry)` is the vector. */
  readonly entry: number;
}

export interface Feature {
  readonly feature: string;
  /** What the answers show, or why these operands cannot express the probe. */
  readonly reading: string;
  readonly expressible: boolean;
  readonly evidence: readonly Evidence[];
}

const INEXPRESSIBLE = 'these operands cannot express it';

class Reader {
  constructor(readonly book: Book) {}

  evidence(entries: readonly (number | undefined)[]): Evidence[] {
    return entries
      .filter((entry) => entry !== undefined)
      .map((entry) => ({ note: this.book.note(entry), answer: this.book.answer(entry), entry }));
  }

  zero(entry: number): boolean {
    return /^[08]0*$/.test(this.book.answer(entry));
  }

  /** A feature from a series, or its absence. */
  from(
    feature: string,
    name: string,
    read: (
      series: Map<number, number>,
    ) => readonly [reading: string, entries: readonly (number | undefined)[]] | null,
  ): Feature {
    const series = this.book.series(name);
    const result = series.size === 0 ? null : read(series);
    return result === null
      ? { feature, reading: INEXPRESSIBLE, expressible: false, evidence: [] }
      : { feature, reading: result[0], expressible: true, evidence: this.evidence(result[1]) };
  }
}

const first = (series: Map<number, number>): number => [...series.values()][0];

function subnormals(r: Reader): Feature[] {
  const { signature } = r.book;
  const kept = (feature: string, name: string, emin: number) =>
    r.from(feature, name, (series) => {
      const below = [...series].filter(([e]) => e < emin);
      if (below.length === 0) return null;
      const lost = below.filter(([, entry]) => r.zero(entry));
      const shown = (lost.length > 0 ? lost : below).map(([, entry]) => entry);
      return [
        lost.length === 0
          ? 'kept'
          : lost.length === below.length
            ? 'flushed to zero'
            : `${lost.length} of ${below.length} lost`,
        shown.slice(0, 2),
      ];
    });
  const d = exponentsOf(signature.d);
  return [
    kept('subnormal a', 'small a', exponentsOf(signature.a).emin),
    kept('subnormal b', 'small b', exponentsOf(signature.b).emin),
    kept('subnormal c', 'small c', d.emin),
    r.from('subnormal result', 'small product', (series) => {
      const below = [...series].filter(([e]) => e >= d.bottom && e < d.emin);
      if (below.length === 0) return null;
      const lost = below.filter(([, entry]) => r.zero(entry));
      return [lost.length === 0 ? 'kept' : 'flushed to zero', [(lost[0] ?? below[0])[1]]];
    }),
  ];
}

/** Deepest depth at which the small term survives, and the first at which it does not. */
function survivor(r: Reader, feature: string, name: string): Feature {
  return r.from(feature, name, (series) => {
    const ordered = [...series].sort(([x], [y]) => x - y);
    const lost = ordered.find(([, entry]) => r.zero(entry));
    if (!lost) return [`every depth up to ${ordered.at(-1)![0]}`, [ordered.at(-1)![1]]];
    const before = ordered.filter(([depth]) => depth < lost[0]).at(-1);
    return [`${lost[0] - 1} fraction bits`, [before?.[1], lost[1]]];
  });
}

function specials(r: Reader): Feature[] {
  const word = (feature: string, name: string) =>
    r.from(feature, name, (series) => [r.book.answer(first(series)), [first(series)]]);
  const sign = (feature: string, name: string) =>
    r.from(feature, name, (series) => {
      const answer = r.book.answer(first(series));
      return [/^0+$/.test(answer) ? '+0' : /^80*$/.test(answer) ? '-0' : answer, [first(series)]];
    });
  return [
    word('NaN word', 'NaN c'),
    word('Inf * 0', 'Inf * 0'),
    word('Inf - Inf', 'Inf - Inf'),
    sign('1 - 1', '1 - 1'),
    sign('c = -0, no product', '-0 c'),
    sign('c = -0, products -0', '-0 everywhere'),
  ];
}

/** Output rounding from c with its last place set, and a quarter to one and a half of that place, both signs. */
function rounding(r: Reader): Feature {
  const series = { '+': r.book.series('last-place +'), '-': r.book.series('last-place -') };
  const moved = (sign: '+' | '-', quarters: number): boolean | null => {
    const entry = series[sign].get(quarters);
    return entry === undefined ? null : r.book.answer(entry) !== r.book.addend(entry);
  };
  const tests = (['+', '-'] as const).flatMap((sign) => [1, 2, 3].map((q) => moved(sign, q)));
  if (tests.some((test) => test === null))
    return { feature: 'output rounding', reading: INEXPRESSIBLE, expressible: false, evidence: [] };
  const key = tests.map((test) => (test ? '1' : '0')).join('');
  const names: Record<string, string> = {
    '000000': 'RZ, or terms are cut before the sum',
    '011011': 'RNE',
    '000111': 'RD',
    '111000': 'RU',
    '001001': 'to nearest with terms cut before',
  };
  return {
    feature: 'output rounding',
    reading: names[key] ?? `mixed (${key})`,
    expressible: true,
    evidence: r.evidence([series['+'].get(2), series['+'].get(3), series['-'].get(2), series['-'].get(3)]),
  };
}

/** Which later product no longer meets the first one's sum. */
function blockLength(r: Reader): Feature {
  return r.from('block length N', 'c - c then', (series) => {
    const ordered = [...series].sort(([x], [y]) => x - y);
    const alive = ordered.filter(([, entry]) => !r.zero(entry));
    if (alive.length === 0)
      return [`at least ${ordered.at(-1)![0] + 1}: nothing survives c - c`, [ordered.at(-1)![1]]];
    if (alive.length === ordered.length)
      return ['every product survives c - c: an exact sum, one at a time, or c last', [ordered[0][1]]];
    const from = alive[0][0];
    const whole = ordered.every(([j, entry]) => j >= from === !r.zero(entry));
    if (!whole)
      return [
        `products at ${alive.map(([j]) => j).join(' ')} survive: interleaved`,
        alive.slice(0, 2).map(([, e]) => e),
      ];
    return [String(from), [series.get(from - 1), alive[0][1]]];
  });
}

function order(r: Reader): Feature {
  return r.from('order of products', 'permuted', (series) => {
    const answers = new Set([...series.values()].map((entry) => r.book.answer(entry)));
    const entries = [...series.values()];
    const other = entries.find((entry) => r.book.answer(entry) !== r.book.answer(entries[0]));
    return answers.size === 1
      ? ['no effect: one sum', [entries[0]]]
      : [`${answers.size} different results from one set of products`, [entries[0], other]];
  });
}

function overflow(r: Reader): Feature {
  return r.from('product overflow', 'less itself', (series) => {
    const ordered = [...series].sort(([x], [y]) => x - y);
    const special = ordered.find(([, entry]) => !r.zero(entry));
    return special
      ? [`a product of 2^${special[0]} is infinite`, [special[1]]]
      : [`none up to 2^${ordered.at(-1)![0]}`, [ordered.at(-1)![1]]];
  });
}

function normalisation(r: Reader): Feature {
  const feature = 'products normalised';
  const deepest = (name: string) => {
    const alive = [...r.book.series(name)].filter(([, entry]) => !r.zero(entry)).sort(([x], [y]) => y - x);
    return alive[0];
  };
  const [left, right] = [deepest('1.5 * 1.5'), deepest('2.25 * 1')];
  if (!left || !right) return { feature, reading: INEXPRESSIBLE, expressible: false, evidence: [] };
  return {
    feature,
    reading:
      left[0] === right[0]
        ? 'no difference between 1.5 * 1.5 and 2.25 * 1'
        : `no: 1.5 * 1.5 keeps a product ${left[0]} below, 2.25 * 1 one ${right[0]} below`,
    expressible: true,
    evidence: r.evidence([left[1], right[1]]),
  };
}

/** The lowest place that the window keeps when every term lies at the bottom of the result's range. */
function lowest(r: Reader): Feature {
  const feature = 'lowest place kept at the bottom';
  const { bottom } = exponentsOf(r.book.signature.d);
  const ties = [...r.book.series('half below')]
    .filter(([, entry]) => !r.zero(entry))
    .sort(([x], [y]) => y - x)[0];
  const cuts = [...r.book.series('less below')]
    .filter(([, entry]) => r.zero(entry))
    .sort(([x], [y]) => y - x)[0];
  if (ties)
    return {
      feature,
      reading: `2^${bottom - 1 - ties[0]}`,
      expressible: true,
      evidence: r.evidence([ties[1]]),
    };
  if (cuts)
    return { feature, reading: `2^${bottom - cuts[0]}`, expressible: true, evidence: r.evidence([cuts[1]]) };
  return { feature, reading: INEXPRESSIBLE, expressible: false, evidence: [] };
}

function precision(r: Reader): Feature {
  return r.from('result fraction bits', 'c-bit', (series) => {
    const through = [...series]
      .filter(([, entry]) => r.book.answer(entry) === r.book.addend(entry))
      .map(([bit]) => bit);
    const deepest = Math.max(0, ...through);
    return [String(deepest), [series.get(deepest), series.get(deepest + 1)]];
  });
}

/** Every feature probe of a book that holds the first questions. */
export function readFeatures(book: Book): Feature[] {
  const r = new Reader(book);
  return [
    ...subnormals(r),
    precision(r),
    rounding(r),
    survivor(r, 'alignment of products', 'survivor 0 1 2'),
    survivor(r, 'alignment of products, every second', 'survivor 0 2 4'),
    survivor(r, 'alignment of products, bit 1 of k alike', 'survivor 0 1 4'),
    survivor(r, 'alignment of c', 'survivor c'),
    blockLength(r),
    order(r),
    normalisation(r),
    overflow(r),
    lowest(r),
    ...specials(r),
  ];
}
