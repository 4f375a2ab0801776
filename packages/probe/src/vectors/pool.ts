import type { MmaOp } from '@bitmma/core';
import { CaseRandom, type CaseSet, campaignsFor, generateCases, sliceCases, streamOf } from '@bitmma/core/conformance';
import { opWith, type Signature } from '../signature.js';
import { PLACEHOLDER } from '../space/placeholder.js';
import { addendVectors } from './addend.js';
import { highVectors } from './high.js';
import { BLIND, ladder } from './ladder.js';
import { lowVectors } from './low.js';
import { orderVectors } from './order.js';
import { outputVectors } from './output.js';
import { scaleVectors } from './scale.js';
import { scopeOf } from './scope.js';
import { specialVectors } from './special.js';
import { Cases, type Group, type Reading } from './spec.js';
import { windowVectors } from './window.js';

/** Vectors of one group, asked together. */
export interface Part {
  readonly group: Group;
  readonly set: CaseSet;
  /** What each case is about. */
  note(index: number): string;
  readonly reading?: (index: number) => Reading | undefined;
}

export interface PoolOptions {
  /** Drawn few-term vectors; default 500. */
  readonly drawn?: number;
  /** Cases of each of core's campaigns; default 24. */
  readonly perCampaign?: number;
  readonly seed?: number;
  /** Most vectors of one targeted group; every n-th is taken where there are more. Default 640. */
  readonly perGroup?: number;
  /** Fraction bits of the result where a first reading shows fewer than its format has. */
  readonly precision?: number;
}

const GROUPS: readonly Group[] = [
  'special',
  'subnormal',
  'output',
  'window',
  'even',
  'split',
  'products',
  'order',
  'addend',
  'low',
  'high',
  'scale',
  'group',
  'dominant',
  'bottom',
  'mix',
];

/** The first questions to a black box: every feature's vectors, then drawn ones. Depends on the signature alone. */
export function firstQuestions(signature: Signature, options: PoolOptions = {}): Part[] {
  const { drawn = 500, perCampaign = 24, seed = 1, perGroup = 640 } = options;
  const op = opWith(signature, PLACEHOLDER);
  const all = new Cases(signature);
  const scope = scopeOf(signature, all, options.precision);
  for (const write of [
    specialVectors,
    lowVectors,
    outputVectors,
    windowVectors,
    orderVectors,
    addendVectors,
    highVectors,
    scaleVectors,
  ])
    write(scope);
  const random = (i: number) => new CaseRandom(seed, streamOf('probe ladder'), i);
  const target = all.count + drawn;
  for (let i = 0; all.count < target && i < 4 * drawn; i++) scope.add(ladder(scope, BLIND, random(i)));

  const parts: Part[] = [];
  for (const group of GROUPS) {
    const specs = all.specs.filter((spec) => spec.group === group);
    const limit = group === 'mix' ? drawn : perGroup;
    const step = Math.max(1, specs.length / limit);
    const chosen = new Cases(signature);
    // Vectors of a reading are always asked.
    let due = 0;
    specs.forEach((spec, i) => {
      if (i >= due || spec.reading) chosen.add(spec);
      if (i >= due) due += step;
    });
    if (chosen.count > 0)
      parts.push({
        group,
        set: chosen.build(op),
        note: (i) => chosen.specs[i].note,
        reading: (i) => chosen.specs[i].reading,
      });
  }
  for (const campaign of campaignsFor(op))
    if (!['window-edge', 'floor'].includes(campaign.name))
      parts.push({
        group: 'mix',
        set: generateCases(op, campaign, { seed, count: perCampaign }),
        note: () => campaign.name,
      });
  return parts;
}

/** A set under another op of the same signature. */
export const retarget = (set: CaseSet, op: MmaOp): CaseSet => ({ ...set, op });

export const slicePart = (part: Part, start: number, count: number): CaseSet => sliceCases(part.set, start, count);
