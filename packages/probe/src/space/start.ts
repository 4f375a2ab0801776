import type { Datapath, DatapathKind, Output } from '@bitmma/core';
import { exponentsOf, type Signature } from '../signature.js';

/** The neutral member of a kind, before any answer: everything in one block, nothing cut that shows. */
export function startOf(kind: Exclude<DatapathKind, 'integer'>, signature: Signature, nan: string): Datapath {
  const { k, d } = signature;
  const w = exponentsOf(d).fraction;
  const output: Output = {
    format: d as Output['format'],
    rounding: 'RNE',
    precision: w,
    underflow: 'signed',
    nan,
  };
  const window = { block: k, fraction: 40, floor: null, alignment: 'RZ' } as const;
  const addend = {
    zeroAddendExponent: exponentsOf(d).emin,
    productOverflow: null,
    addendFraction: w + 1,
    addendRounding: 'RD',
    addendReach: null,
    sumFraction: 72,
    sumRounding: 'RD',
    normalFraction: null,
    normalRounding: 'RD',
  } as const;
  switch (kind) {
    case 'fused-window':
      return { kind, ...window, zeroAddendExponent: null, productOverflow: null, output };
    case 'late-window':
      return { kind, ...window, output, addition: 'RNE' };
    case 'split-window':
      return { kind, ...window, block: Math.ceil(k / 2), selectBit: 0, output, addition: 'RNE' };
    case 'exact':
      return { kind, block: k, output };
    case 'pairwise':
      return { kind, block: 2 ** Math.floor(Math.log2(k)), flushInputs: false, flushResults: false, output };
    case 'cdna3-window':
      return { kind, ...window, ...addend, output };
    case 'cdna3-odd-even':
      return {
        kind,
        ...window,
        block: k - (k % 2),
        mergeFraction: w + 1,
        mergeRounding: 'RD',
        ...addend,
        output,
      };
    case 'sequential-fma':
      return { kind, flushInputs: false, flushResults: false, output };
    case 'scaled-window':
      return { kind, fraction: w + 1, output };
    case 'scaled-groups':
      return {
        kind,
        group: signature.scaling?.block ?? k,
        dominantGroup: signature.scaling?.block ?? k,
        dominantFraction: w + 9,
        productFraction: 72,
        scaleFraction: w + 9,
        groupAddendFraction: null,
        leaveOut: null,
        output,
      };
  }
}
