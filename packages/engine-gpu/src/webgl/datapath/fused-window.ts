import type { FusedWindow, MmaOp } from '@bitmma/core';
import { CODE, floatFormat } from '../elements.js';
import { alignFunction, float, LAYOUT, type NativeFunction, roundFunction } from '../glsl.js';
import type { StepFunctions } from '../kernel.js';

/** Exponent of a product from its code sum: both codes count from their format's emin. */
export const exponentOffset = (op: MmaOp): number =>
  2 * CODE.finite - (1 - floatFormat(op.a)!.bias) - (1 - floatFormat(op.b)!.bias);

/** Fraction bits of a product of two significands. */
export const productFraction = (op: MmaOp): number =>
  floatFormat(op.a)!.fractionBits + floatFormat(op.b)!.fractionBits;

/**
 * Numerics 4.1. The window's exponent E is kept as a code sum, so that a product lies E - (code sum) below it.
 */
export function fusedWindow(op: MmaOp, datapath: FusedWindow): StepFunctions {
  const offset = exponentOffset(op);
  const own = productFraction(op);
  const { fraction } = LAYOUT[datapath.output.format as 'fp16' | 'fp32'];
  const zero =
    datapath.zeroAddendExponent === null
      ? ''
      : `if (cs == 0.0) { w = max(w, ${float(datapath.zeroAddendExponent + offset)}); }`;
  const floor = datapath.floor === null ? '' : `w = max(w, ${float(datapath.floor + offset)});`;
  const window: NativeFunction = {
    name: 'bmWindow',
    source: `float bmWindow(float p, float cs, float ce) {
  float w = p >= ${float(2 * CODE.finite)} ? p : -10000.0;
  if (cs != 0.0) { w = max(w, ce + ${float(offset)}); }
  ${zero}
  ${floor}
  return w;
}`,
  };
  const term: NativeFunction = {
    name: 'bmTerm',
    source: `vec2 bmTerm(float t, float below) { return bmAlign(t, ${float(datapath.fraction - own)} - below); }`,
  };
  const finish: NativeFunction = {
    name: 'bmFinish',
    source: `vec4 bmFinish(float high, float low, float w, float p, float cs, float ce, float kind) {
  if (kind > 0.0) { return vec4(0.0, 0.0, kind, 0.0); }
  float e = w - ${float(offset)};
  vec2 c = bmAlign(cs, ce - e + ${float(datapath.fraction - fraction)});
  vec2 s = bmNormal(vec2(high, low));
  return bmRound(s.x + c.x, s.y + c.y, e - ${float(datapath.fraction)});
}`,
  };
  return {
    helpers: [alignFunction('bmAlign', datapath.alignment), roundFunction(datapath.output)],
    functions: [window, term, finish],
    productOverflow: datapath.productOverflow,
  };
}

/**
 * Why float32 limbs do not hold its sums, or null: a term below 2^(F + 2) is an exact float of 22 bits, the low limb
 * of N terms stays below 2^24 for N up to 128, the sum below 2^40.
 */
export function fusedWindowLimit(datapath: {
  readonly fraction: number;
  readonly block: number;
}): string | null {
  const bits = datapath.fraction + 2 + Math.ceil(Math.log2(datapath.block + 1));
  if (bits > 39) return `its sums need ${bits} bits, two float32 limbs hold 39`;
  return datapath.block > 128 ? `a block of ${datapath.block} overflows the low float32 limb` : null;
}
