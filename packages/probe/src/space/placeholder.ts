import type { Exact } from '@bitmma/core';

/** Stands in an op whose datapath is not known: an engine outside this process does not look at it. */
export const PLACEHOLDER: Exact = {
  kind: 'exact',
  block: 1,
  output: { format: 'fp32', rounding: 'RNE', precision: 23, underflow: 'signed', nan: '7fffffff' },
};
