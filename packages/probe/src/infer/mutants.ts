/** Single-feature mutants of a datapath: what a discriminating questioner must tell from it. */
import { type Datapath, type DatapathKind, parseOp } from '@bitmma/core';
import { CaseRandom, streamOf } from '@bitmma/core/conformance';
import { opWith, type Signature } from '../signature.js';
import { AXES, fieldOf, type Value, withValue } from '../space/axes.js';
import { proveEqual } from '../space/normal-form.js';

export interface Mutant {
  readonly axis: string;
  readonly from: Value;
  readonly to: Value;
  readonly datapath: Datapath;
  /** Why it gives the same words for every input; null: it is not proved to. */
  readonly equal: readonly string[] | null;
}

const valid = (signature: Signature, datapath: Datapath): boolean => {
  try {
    parseOp({ ...opWith(signature, datapath) }, 'mutant');
    return true;
  } catch {
    return false;
  }
};

/** A value of an axis near the present one, or any of a short axis; null where the axis has no other. */
function other(values: readonly Value[], value: Value, random: CaseRandom): Value | undefined {
  const rest = values.filter((v) => v !== value);
  if (rest.length === 0) return undefined;
  const near = rest.filter(
    (v) => typeof v === 'number' && typeof value === 'number' && Math.abs(v - value) <= 3,
  );
  return random.pick(near.length > 0 && !random.oneIn(4) ? near : rest);
}

/**
 * `count` mutants that differ, one feature each, the axes taken in turn; proved equal ones are returned too and do not
 * count. Fewer where the axes have no more values.
 */
export function mutantsOf(signature: Signature, datapath: Datapath, count: number, seed = 1): Mutant[] {
  if (datapath.kind === 'integer') return [];
  const axes = AXES[datapath.kind as Exclude<DatapathKind, 'integer'>];
  const found: Mutant[] = [];
  const seen = new Set<string>();
  let different = 0;
  for (let turn = 0; turn < 40 * count && different < count; turn++) {
    const axis = axes[turn % axes.length];
    const from = fieldOf(datapath, axis.name);
    const to = other(
      axis.domain(signature),
      from,
      new CaseRandom(seed, streamOf(`mutant ${axis.name}`), turn),
    );
    if (to === undefined || seen.has(`${axis.name} ${to}`)) continue;
    seen.add(`${axis.name} ${to}`);
    const mutant = withValue(datapath, axis.name, to);
    if (!valid(signature, mutant)) continue;
    const equal = proveEqual(signature, datapath, mutant);
    if (equal === null) different++;
    found.push({ axis: axis.name, from, to, datapath: mutant, equal });
  }
  return found;
}
