import type { IntegerSum } from '../datapath/datapath.js';
import type { BlockStep } from './family.js';

const MIN = -(2 ** 31);
const MAX = 2 ** 31 - 1;

/** Numerics 4.8: exact sum of a whole instruction (K * 2^16 + 2^31 < 2^53), then wrapped or clamped to s32. */
export const integer: BlockStep<IntegerSum> = ({ datapath, terms, positions, c, stages }) => {
  let sum = c.signed;
  for (const k of positions) sum += terms.a[k].signed * terms.b[k].signed;
  stages?.push({ stage: 'sum', name: 'products and c', value: { signed: BigInt(sum), lsb: 0 } });
  const result = datapath.overflow === 'saturate' ? Math.min(MAX, Math.max(MIN, sum)) : sum;
  return Number(BigInt.asUintN(32, BigInt(result)));
};
