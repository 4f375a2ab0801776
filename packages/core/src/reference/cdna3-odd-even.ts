import type { Cdna3OddEven } from '../datapath/datapath.js';
import { addCdna3Addend } from './cdna3-addend.js';
import { productWindow } from './cdna3-window.js';
import { addExact, cutTo } from './cut.js';
import type { BlockStep } from './family.js';
import { specialOutput } from './output.js';
import { findSpecial } from './terms.js';
import type { Exact } from './trace.js';

/** Numerics 4.6: two windows, over even and odd positions of the block, merged at the larger exponent; then c. */
export const cdna3OddEven: BlockStep<Cdna3OddEven> = ({
  datapath,
  terms,
  positions,
  c,
  significandBits,
  stages,
}) => {
  const special = findSpecial(terms, positions, c, datapath.productOverflow);
  if (special !== null) return specialOutput(datapath.output, special, stages);
  const half = (parity: 0 | 1) =>
    productWindow(
      datapath,
      terms,
      positions.filter((_, index) => (index & 1) === parity),
      significandBits,
      parity === 0 ? 'even' : 'odd',
      stages,
    );
  const even = half(0);
  const odd = half(1);
  if (even.exponent === null && odd.exponent === null)
    return addCdna3Addend(datapath, even.sum, null, c, stages);
  const exponent = Math.max(even.exponent ?? -Infinity, odd.exponent ?? -Infinity);
  const quantum = exponent - datapath.mergeFraction;
  const merge = (name: 'even' | 'odd', before: Exact): Exact => {
    const after = cutTo(before, quantum, datapath.mergeRounding);
    stages?.push({ stage: 'cut', name, before, after, quantum, rounding: datapath.mergeRounding });
    return after;
  };
  const sum = addExact(merge('even', even.sum), merge('odd', odd.sum));
  return addCdna3Addend(datapath, sum, exponent, c, stages);
};
