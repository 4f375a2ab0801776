import type { ScaledWindow } from '../datapath/datapath.js';
import { cutTo } from './cut.js';
import type { BlockStep } from './family.js';
import { roundOutput, specialOutput } from './output.js';
import { findScaledSpecial, maxOf, scaledProducts } from './scaled-terms.js';
import type { Exact, TermTrace } from './trace.js';

/** mxf8f6f4, numerics section 6: q = max(R, e_c) - fraction; every scaled product and c cut to 2^q. */
export const scaledWindow: BlockStep<ScaledWindow> = ({
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
  const exponent = Math.max(maxOf(products, 'e'), c.sig === 0 ? -Infinity : c.e);
  const quantum = exponent - datapath.fraction;
  const traced: TermTrace[] = [];
  let sum = 0n;
  const take = (term: number | 'c', value: Exact, e: number) => {
    const kept = cutTo(value, quantum, 'RZ').signed;
    sum += kept;
    if (stages) {
      const exact = value.lsb >= quantum || kept << BigInt(quantum - value.lsb) === value.signed;
      traced.push({ term, value, exponent: e, quantum, kept, exact });
    }
  };
  for (const p of products) take(p.k, p.value, p.e);
  if (c.sig !== 0) take('c', { signed: BigInt(c.signed), lsb: c.lsb }, c.e);
  stages?.push({
    stage: 'window',
    name: 'terms',
    exponent,
    floorActive: false,
    quantum,
    rounding: 'RZ',
    terms: traced,
    sum: { signed: sum, lsb: quantum },
  });
  return roundOutput(datapath.output, sum, quantum, stages);
};
