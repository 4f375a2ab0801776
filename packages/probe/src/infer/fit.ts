/** Finds the member of a kind that fits the answers: one axis, or two coupled ones, at a time on a working set. */
import type { Datapath, DatapathKind } from '@bitmma/core';
import { opWith, type Signature } from '../signature.js';
import { AXES, type Axis, COUPLED, fieldOf, type Value, withValue } from '../space/axes.js';
import type { Group } from '../vectors/spec.js';
import type { Book } from './book.js';

export interface Fit {
  readonly datapath: Datapath;
  /** Entries that the fit gets wrong; empty where it reproduces every answer. */
  readonly wrong: readonly number[];
}

const C_INSIDE: readonly DatapathKind[] = [
  'fused-window',
  'exact',
  'pairwise',
  'cdna3-window',
  'cdna3-odd-even',
  'sequential-fma',
  'scaled-window',
  'scaled-groups',
];
const PLAIN_WINDOWS: readonly DatapathKind[] = [
  'fused-window',
  'late-window',
  'cdna3-window',
  'scaled-window',
];

/** Axes fitted first, on the vectors made for them, in the order in which they stand free of the later ones. */
const STAGES: readonly {
  readonly axes: readonly string[];
  readonly groups: readonly Group[];
  /** Kinds that these vectors are made for; absent: every kind. */
  readonly only?: readonly DatapathKind[];
}[] = [
  // Where c is added last by itself, c-led vectors show that addition and products alone show the rest.
  { axes: ['addition'], groups: ['output'] },
  {
    axes: ['output.rounding', 'output.precision'],
    groups: ['products'],
    only: ['late-window', 'split-window'],
  },
  { axes: ['output.rounding', 'output.precision'], groups: ['output', 'products'], only: C_INSIDE },
  { axes: ['fraction', 'alignment'], groups: ['even'], only: ['cdna3-odd-even'] },
  { axes: ['fraction', 'alignment', 'selectBit'], groups: ['window', 'split'], only: ['split-window'] },
  { axes: ['fraction', 'alignment'], groups: ['window'], only: PLAIN_WINDOWS },
  { axes: ['mergeFraction', 'mergeRounding'], groups: ['window'] },
  { axes: ['block', 'mergeFraction', 'mergeRounding'], groups: ['order'] },
  { axes: ['scaleFraction', 'productFraction'], groups: ['scale'] },
  { axes: ['group', 'groupAddendFraction'], groups: ['group'] },
  { axes: ['dominantFraction', 'dominantGroup'], groups: ['dominant'] },
  { axes: ['leaveOut'], groups: ['bottom'] },
  { axes: ['flushInputs', 'flushResults', 'output.underflow'], groups: ['subnormal', 'special'] },
  // From a sum that is not cut before: what normalisation cuts shows at one place below every leading bit.
  { axes: ['normalFraction', 'normalRounding'], groups: ['addend'] },
  {
    axes: ['addendRounding', 'addendFraction', 'addendReach', 'sumFraction', 'sumRounding'],
    groups: ['addend'],
  },
  { axes: ['floor', 'zeroAddendExponent'], groups: ['low', 'subnormal'] },
  { axes: ['productOverflow'], groups: ['high'] },
];

const HALF = 70;
const QUICK = 20;
/** Predicted dots after which the stages of a kind that does not fit are cut short. */
const STAGE_BUDGET = 60_000;

/** Spreads `count` of the items over the list. */
const sample = <T>(items: readonly T[], count: number): T[] => {
  if (items.length <= count) return [...items];
  const step = items.length / count;
  return Array.from({ length: count }, (_, i) => items[Math.floor(i * step)]);
};

export class Fitter {
  readonly #axes: readonly Axis[];
  #until = Number.POSITIVE_INFINITY;

  constructor(
    private readonly book: Book,
    readonly kind: Exclude<DatapathKind, 'integer'>,
  ) {
    this.#axes = AXES[kind];
  }

  private get signature(): Signature {
    return this.book.signature;
  }

  private async wrongOn(datapath: Datapath, indices: readonly number[], limit?: number): Promise<number[]> {
    return this.book.wrong(opWith(this.signature, datapath), indices, limit);
  }

  /** Tries every value of an axis, or of a coupled pair, and keeps the best; wrong answers on the set. */
  private async improve(
    datapath: Datapath,
    set: readonly number[],
    best: number,
    names: readonly string[],
    quick: readonly number[],
  ): Promise<{ datapath: Datapath; best: number }> {
    let chosen = datapath;
    let least = best;
    const axes = names.map((name) => this.#axes.find((axis) => axis.name === name));
    if (axes.some((axis) => axis === undefined)) return { datapath, best };
    const candidates = (axis: Axis): readonly Value[] => {
      const own = fieldOf(datapath, axis.name);
      const domain = axis.domain(this.signature);
      // Among coupled axes, long numeric ones stay near: 8 on both sides of a pair, 4 of three, 2 of four.
      const near = [8, 8, 8, 4, 2][names.length];
      if (names.length > 1 && domain.length > 20 && typeof own === 'number')
        return domain.filter((v) => v === null || (typeof v === 'number' && Math.abs(v - own) <= near));
      return domain;
    };
    const visit = async (candidate: Datapath, depth: number): Promise<void> => {
      const axis = axes[depth];
      if (axis === undefined) {
        if (least === 0) return;
        if (quick.length > 0 && (await this.wrongOn(candidate, quick)).length === quick.length) return;
        const wrong = await this.wrongOn(candidate, set, least - 1);
        if (wrong.length < least) {
          least = wrong.length;
          chosen = candidate;
        }
        return;
      }
      for (const value of candidates(axis)) {
        if (names.length === 1 && value === fieldOf(datapath, axis.name)) continue;
        await visit(withValue(candidate, axis.name, value), depth + 1);
      }
    };
    await visit(datapath, 0);
    return { datapath: chosen, best: least };
  }

  private async descend(
    datapath: Datapath,
    indices: readonly number[],
    axes: readonly string[],
    rounds: number,
    coupled: boolean,
  ): Promise<{ datapath: Datapath; wrong: readonly number[] }> {
    let kept = datapath;
    let wrong: readonly number[] = await this.wrongOn(kept, indices);
    // Entries that a candidate better on the working set got wrong: what the next working set must hold too.
    const lessons = new Set<number>();
    for (let round = 0; round < rounds && wrong.length > 0 && this.book.predicted < this.#until; round++) {
      const failed = new Set(wrong);
      const right = indices.filter((i) => !failed.has(i) && !lessons.has(i));
      const set = [...sample(wrong, HALF), ...lessons, ...sample(right, HALF)];
      let current = kept;
      const start = (await this.wrongOn(current, set)).length;
      let best = start;
      // First only values that mend one of a few wrong answers; where none does, every value.
      let quick = sample(wrong, QUICK);
      const step = async (names: readonly string[]) => {
        if (best > 0 && this.book.predicted < this.#until)
          ({ datapath: current, best } = await this.improve(current, set, best, names, quick));
      };
      const pass = async () => {
        for (const name of axes) await step([name]);
        if (coupled && best > 0)
          for (const names of COUPLED) if (names.every((name) => axes.includes(name))) await step(names);
      };
      await pass();
      if (best === start) {
        quick = [];
        await pass();
      }
      if (current === kept) break;
      const next = await this.wrongOn(current, indices, wrong.length);
      if (next.length < wrong.length) [kept, wrong] = [current, next];
      else for (const i of sample(next, HALF)) lessons.add(i);
    }
    return { datapath: kept, wrong };
  }

  private indicesOf(groups: readonly Group[]): number[] {
    const found: number[] = [];
    this.book.entries.forEach((entry, i) => {
      if (groups.includes(entry.group)) found.push(i);
    });
    return found;
  }

  /** Staged fit from a start: each stage's axes on the vectors made for them. `wrong` counts those of 240 answers. */
  async stages(start: Datapath): Promise<Fit> {
    const names = this.#axes.map((axis) => axis.name);
    this.#until = this.book.predicted + STAGE_BUDGET;
    let datapath = start;
    for (const { axes, groups, only } of STAGES) {
      if (only && !only.includes(this.kind)) continue;
      const own = axes.filter((name) => names.includes(name));
      const indices = sample(this.indicesOf(groups), 240);
      if (own.length > 0) ({ datapath } = await this.descend(datapath, indices, own, 4, own.length < 3));
    }
    const all = this.book.entries.map((_, i) => i);
    return { datapath, wrong: await this.wrongOn(datapath, sample(all, 240)) };
  }

  /** Continues from a datapath on every axis and every answer, for about `budget` predicted dots. */
  async finish(datapath: Datapath, budget = Number.POSITIVE_INFINITY): Promise<Fit> {
    this.#until = this.book.predicted + budget;
    return this.descend(
      datapath,
      this.book.entries.map((_, i) => i),
      this.#axes.map((axis) => axis.name),
      6,
      true,
    );
  }
}
