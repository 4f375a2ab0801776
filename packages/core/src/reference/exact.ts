import type { Exact } from '../datapath/datapath.js';
import { addExact } from './cut.js';
import type { BlockStep } from './family.js';
import { roundOutput, specialOutput } from './output.js';
import { findSpecial } from './terms.js';

/** Numerics 4.3: d = round(sum of products and c), the sum exact whatever its width. */
export const exact: BlockStep<Exact> = ({ datapath, terms, positions, c, stages }) => {
  const special = findSpecial(terms, positions, c);
  if (special !== null) return specialOutput(datapath.output, special, stages);
  let sum = { signed: BigInt(c.signed), lsb: c.lsb };
  for (const k of positions) {
    const x = terms.a[k];
    const y = terms.b[k];
    if (x.sig !== 0 && y.sig !== 0)
      sum = addExact(sum, { signed: BigInt(x.signed) * BigInt(y.signed), lsb: x.lsb + y.lsb });
  }
  stages?.push({ stage: 'sum', name: 'products and c', value: sum });
  return roundOutput(datapath.output, sum.signed, sum.lsb, stages);
};
