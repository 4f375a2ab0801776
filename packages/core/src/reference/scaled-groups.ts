import type { ScaledGroups } from '../datapath/datapath.js';
import type { Element } from '../formats/element.js';
import { minExponent } from '../formats/element.js';
import { bitLength } from '../formats/round.js';
import { FORMATS } from '../formats/table.js';
import { addExact, cutTo } from './cut.js';
import type { BlockStep } from './family.js';
import { roundOutput, specialOutput } from './output.js';
import type { ScaledProduct } from './scaled-terms.js';
import { findScaledSpecial, maxOf, scaledProducts } from './scaled-terms.js';
import type { Exact, Stage, TermTrace } from './trace.js';

interface Group {
  readonly first: number;
  readonly last: number;
  readonly sum: Exact;
  readonly e: number;
  readonly scaleExponent: number;
}

/** mxf4 and mxf4nvf4, numerics section 6: exact sums of groups of products, each cut to the window's quantum. */
export const scaledGroups: BlockStep<ScaledGroups> = ({
  datapath,
  op,
  terms,
  positions,
  c,
  cWord,
  stages,
}) => {
  const special = findScaledSpecial(op, terms, positions, c);
  if (special !== null) return specialOutput(datapath.output, special, stages);
  const products = scaledProducts(op, terms, positions);
  if (products.length === 0) {
    stages?.push({ stage: 'pass', word: cWord });
    return cWord;
  }
  const top = maxOf(products, 'e');
  const topScale = maxOf(products, 'scaleExponent');
  const dominant = c.sig !== 0 && c.e >= top;
  const quantum = dominant
    ? c.e - datapath.dominantFraction
    : Math.max(
        Math.max(top, c.sig === 0 ? -Infinity : c.e) - datapath.productFraction,
        topScale - datapath.scaleFraction,
      );
  const groups = groupProducts(products, dominant ? datapath.dominantGroup : datapath.group);

  const groupQuantum = (g: Group): number =>
    !dominant && datapath.groupAddendFraction !== null && c.sig !== 0 && c.e >= g.e
      ? Math.max(quantum, c.e - datapath.groupAddendFraction)
      : quantum;
  const cuts = groups.map((g) => cutTo(g.sum, groupQuantum(g), 'RZ'));
  const addend = cutTo({ signed: BigInt(c.signed), lsb: c.lsb }, quantum, 'RZ');
  const total = cuts.reduce(addExact, addend);
  stages?.push(groupStage(groups, cuts, c, addend, quantum, dominant ? c.e : top, total));

  const word = roundOutput(datapath.output, total.signed, total.lsb, stages);
  const { leaveOut } = datapath;
  if (leaveOut === null || c.sig !== 0 || quantum >= leaveOut || !isSubnormal(total, datapath)) return word;
  const kept = cuts.filter((cut, i) => groups[i].scaleExponent >= topScale || !isBelow(cut, leaveOut));
  if (kept.length === cuts.length) return word;
  const rest = kept.reduce(addExact, addend);
  stages?.push({
    stage: 'sum',
    name: `groups of at least 2^${leaveOut} or of the largest scale`,
    value: rest,
  });
  return roundOutput(datapath.output, rest.signed, rest.lsb, stages);
};

/**
 * Exact sums of aligned groups of `size` logical positions; a group without a nonzero product is absent. Instructions
 * begin at multiples of K and the sizes divide K, so that a group never spans two.
 */
function groupProducts(products: readonly ScaledProduct[], size: number): Group[] {
  const groups = new Map<number, ScaledProduct[]>();
  for (const p of products) {
    const index = Math.floor(p.k / size);
    const group = groups.get(index);
    if (group) group.push(p);
    else groups.set(index, [p]);
  }
  return [...groups].map(([index, members]) => ({
    first: index * size,
    last: (index + 1) * size - 1,
    sum: members.map((p) => p.value).reduce(addExact),
    e: maxOf(members, 'e'),
    scaleExponent: maxOf(members, 'scaleExponent'),
  }));
}

/** |cut| < 2^exponent. */
const isBelow = (cut: Exact, exponent: number): boolean => {
  const magnitude = cut.signed < 0n ? -cut.signed : cut.signed;
  return magnitude === 0n || bitLength(magnitude) - 1 + cut.lsb < exponent;
};

/** Whether the truncated result is a nonzero subnormal of the output format. */
const isSubnormal = (total: Exact, { output }: ScaledGroups): boolean => {
  const format = FORMATS[output.format];
  const smallest = minExponent(format) - format.fractionBits;
  return isBelow(total, minExponent(format)) && !isBelow(total, smallest);
};

function groupStage(
  groups: readonly Group[],
  cuts: readonly Exact[],
  c: Element,
  addend: Exact,
  quantum: number,
  exponent: number,
  sum: Exact,
): Stage {
  const traced = groups.map((g, i): TermTrace => {
    const cut = cuts[i];
    return {
      term: [g.first, g.last],
      value: g.sum,
      exponent: g.e,
      quantum: cut.lsb,
      kept: cut.signed,
      exact: addExact(g.sum, { signed: -cut.signed, lsb: cut.lsb }).signed === 0n,
    };
  });
  if (c.sig !== 0) {
    const value = { signed: BigInt(c.signed), lsb: c.lsb };
    const exact = addExact(value, { signed: -addend.signed, lsb: addend.lsb }).signed === 0n;
    traced.push({ term: 'c', value, exponent: c.e, quantum, kept: addend.signed, exact });
  }
  return {
    stage: 'window',
    name: 'groups',
    exponent,
    floorActive: false,
    quantum,
    rounding: 'RZ',
    terms: traced,
    sum,
  };
}
