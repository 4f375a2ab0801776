/** Finds a vector on which two hypotheses differ, without asking the box. */
import type { Datapath } from '@bitmma/core';
import { CaseRandom, type CaseSet, sameWord, sliceCases, streamOf } from '@bitmma/core/conformance';
import { opWith } from '../signature.js';
import { ladder, type Marks } from '../vectors/ladder.js';
import { scopeOf } from '../vectors/scope.js';
import { Cases } from '../vectors/spec.js';
import type { Book } from './book.js';

const DEPTHS = [
  'fraction',
  'addendFraction',
  'addendReach',
  'sumFraction',
  'normalFraction',
  'mergeFraction',
  'dominantFraction',
  'productFraction',
  'scaleFraction',
  'groupAddendFraction',
] as const;
const EXPONENTS = ['floor', 'zeroAddendExponent', 'productOverflow', 'leaveOut'] as const;

/** Depths and exponents at which members of the union look at bits. */
export function marksOf(...datapaths: readonly Datapath[]): Marks {
  const depths = new Set<number>();
  const exponents = new Set<number>();
  for (const datapath of datapaths) {
    const fields = datapath as unknown as Record<string, unknown>;
    for (const name of DEPTHS) if (typeof fields[name] === 'number') depths.add(fields[name]);
    for (const name of EXPONENTS) {
      const e = fields[name];
      if (typeof e !== 'number') continue;
      exponents.add(e);
      if (typeof fields.fraction === 'number') exponents.add(e - fields.fraction);
    }
    if (datapath.kind !== 'integer') depths.add(datapath.output.precision);
  }
  return { depths: [...depths], exponents: [...exponents] };
}

const BATCH = 128;

/** A one-case set on which the two give different words; null where `tries` drawn vectors show none. */
export async function tellApart(
  book: Book,
  x: Datapath,
  y: Datapath,
  tries: number,
  seed = 7,
): Promise<CaseSet | null> {
  const { signature } = book;
  const [opX, opY] = [opWith(signature, x), opWith(signature, y)];
  const marks = marksOf(x, y);
  const stream = streamOf('probe discriminate');
  for (let drawn = 0; drawn < tries; drawn += BATCH) {
    const cases = new Cases(signature);
    const scope = scopeOf(signature, cases);
    for (let i = 0; i < BATCH; i++) cases.add(ladder(scope, marks, new CaseRandom(seed, stream, drawn + i)));
    if (cases.count === 0) continue;
    const set = cases.build(opX);
    const dx = await book.predict(opX, set);
    const dy = await book.predict(opY, set);
    for (let i = 0; i < set.count; i++)
      if (!sameWord(signature.d, dx, i, dy, i)) return sliceCases(set, i, 1);
  }
  return null;
}
