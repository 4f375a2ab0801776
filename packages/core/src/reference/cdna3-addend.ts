import type { LateAddend, Output } from '../datapath/datapath.js';
import type { Element, Word } from '../formats/element.js';
import { minExponent } from '../formats/element.js';
import { bitLength } from '../formats/round.js';
import { FORMATS } from '../formats/table.js';
import { addExact, cutTo } from './cut.js';
import { roundOutput } from './output.js';
import type { Exact, Stage } from './trace.js';

/**
 * How CDNA3 adds c to the products' sum S with window exponent E (null: no nonzero product); numerics 4.5.
 * c's alignment is here: to E - addendFraction where E >= e_c, else S is cut to e_c - sumFraction and the sum,
 * normalised no lower than emin, to normalFraction below its leading bit.
 */
export function addCdna3Addend(
  rule: LateAddend & { readonly output: Output },
  sum: Exact,
  exponent: number | null,
  c: Element,
  stages?: Stage[],
): Word {
  const { output } = rule;
  const value: Exact = { signed: BigInt(c.signed), lsb: c.lsb };
  const cExponent = c.sig === 0 ? rule.zeroAddendExponent : c.e;

  if (exponent !== null && exponent >= cExponent) {
    const quantum = exponent - rule.addendFraction;
    const reached = rule.addendReach === null || exponent - cExponent <= rule.addendReach;
    const kept = reached ? cutTo(value, quantum, rule.addendRounding) : { signed: 0n, lsb: quantum };
    stages?.push({
      stage: 'cut',
      name: 'c',
      before: value,
      after: kept,
      quantum,
      rounding: rule.addendRounding,
    });
    const total = addExact(sum, kept);
    stages?.push({ stage: 'sum', name: 'products + c', value: total });
    return roundOutput(output, total.signed, total.lsb, stages);
  }

  const quantum = cExponent - rule.sumFraction;
  const cut = cutTo(sum, quantum, rule.sumRounding);
  stages?.push({
    stage: 'cut',
    name: 'products',
    before: sum,
    after: cut,
    quantum,
    rounding: rule.sumRounding,
  });
  let total = addExact(cut, value);
  stages?.push({ stage: 'sum', name: 'products + c', value: total });
  if (total.signed !== 0n && rule.normalFraction !== null) {
    const magnitude = total.signed < 0n ? -total.signed : total.signed;
    const leading = Math.max(bitLength(magnitude) - 1 + total.lsb, minExponent(FORMATS[output.format]));
    const normal = leading - rule.normalFraction;
    if (normal > total.lsb) {
      const before = total;
      total = cutTo(total, normal, rule.normalRounding);
      stages?.push({
        stage: 'cut',
        name: 'normalised',
        before,
        after: total,
        quantum: normal,
        rounding: rule.normalRounding,
      });
    }
  }
  return roundOutput(output, total.signed, total.lsb, stages);
}
