/** Blind re-identification: an op whose datapath is known is asked as if it were not. */
import { catalog, type Engine, type MmaOp, opHash } from '@bitmma/core';
import { showValues } from '../report/text.js';
import { signatureOf } from '../signature.js';
import { proveEqual } from '../space/normal-form.js';
import { type IdentifyOptions, identify } from './identify.js';

export interface Reidentification {
  /** The op's datapath is in the class found: proved to give the same words as the datapath held. */
  readonly found: boolean;
  readonly queries: number;
  /** One line: found or MISSED, hash, op, kind, questions, and the class: proved equal values, values not told apart. */
  readonly line: string;
}

/** One op for each floating-point arithmetic of the catalog, in the catalog's order. */
export function floatArithmetics(): readonly MmaOp[] {
  const distinct = new Map<string, MmaOp>();
  for (const op of catalog()) {
    const hash = opHash(op);
    if (op.datapath.kind !== 'integer' && !distinct.has(hash)) distinct.set(hash, op);
  }
  return [...distinct.values()];
}

/** Identifies an op on a box and compares with what it is. Of the op, `identify` sees the operands alone. */
export async function reidentify(
  op: MmaOp,
  box: Engine,
  options: IdentifyOptions,
): Promise<Reidentification> {
  const signature = signatureOf(op);
  const session = await box.open(op);
  try {
    const { inside, datapath, survey, queries } = await identify(session, signature, options);
    const found = inside && proveEqual(signature, op.datapath, datapath) !== null;
    const line = [
      found ? 'found' : 'MISSED',
      opHash(op).slice(0, 8),
      `${op.device} ${op.instruction}`,
      datapath.kind,
      `${queries} questions`,
      ...survey.axes.flatMap(({ axis, value, equal, open }) => [
        ...(equal.length > 0 ? [`${axis} ${value} = ${showValues(equal)}`] : []),
        ...(open.length > 0 ? [`${axis} ${value} not told from ${showValues(open)}`] : []),
      ]),
      ...survey.openKinds.map(({ kind }) => `not told from ${kind}`),
      ...(found ? [] : [JSON.stringify(datapath)]),
    ].join('; ');
    return { found, queries, line };
  } finally {
    await session.close();
  }
}
