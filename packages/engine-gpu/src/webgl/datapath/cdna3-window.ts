import type { Cdna3Window, MmaOp } from '@bitmma/core';
import { CODE } from '../elements.js';
import { alignFunction, float, LAYOUT, type NativeFunction, roundFunction, shiftOf } from '../glsl.js';
import type { StepFunctions } from '../kernel.js';
import { exponentOffset, productFraction } from './fused-window.js';

/** Numerics 4.5: a window of the products alone, then c by CDNA3's rule. */
export function cdna3Window(op: MmaOp, datapath: Cdna3Window): StepFunctions {
  const offset = exponentOffset(op);
  const { fraction, emin } = LAYOUT[datapath.output.format as 'fp16' | 'fp32'];
  const floor = datapath.floor === null ? '-10000.0' : float(datapath.floor + offset);
  const reach =
    datapath.addendReach === null
      ? ''
      : `if (e - ec > ${float(datapath.addendReach)}) { c = vec2(0.0, 0.0); }`;
  const normal =
    datapath.normalFraction === null
      ? ''
      : `vec2 m = s.x < 0.0 ? bmNormal(-s) : s;
    float lead = m.x > 0.0 ? 16.0 + bmLead(m.x) : bmLead(m.y);
    float excess = max(lead + q, ${float(emin)}) - ${float(datapath.normalFraction)} - q;
    if (excess > 0.0) { s = ${shiftOf(datapath.normalRounding as 'RZ' | 'RD')}(s, -excess); q = q + excess; }`;
  const window: NativeFunction = {
    name: 'bmWindow',
    source: `float bmWindow(float p, float cs, float ce) { return max(p, ${floor}); }`,
  };
  const term: NativeFunction = {
    name: 'bmTerm',
    source: `vec2 bmTerm(float t, float below) { return bmAlign(t, ${float(datapath.fraction - productFraction(op))} - below); }`,
  };
  const finish: NativeFunction = {
    name: 'bmFinish',
    source: `vec4 bmFinish(float high, float low, float w, float p, float cs, float ce, float kind) {
  if (kind > 0.0) { return vec4(0.0, 0.0, kind, 0.0); }
  bool products = p >= ${float(2 * CODE.finite)};
  float e = w - ${float(offset)};
  float ec = cs == 0.0 ? ${float(datapath.zeroAddendExponent)} : ce;
  vec2 s = bmNormal(vec2(high, low));
  float q = e - ${float(datapath.fraction)};
  if (!products || e < ec) {
    float finer = ec - ${float(datapath.sumFraction)};
    s = products ? ${shiftOf(datapath.sumRounding as 'RZ' | 'RD')}(s, q - finer) : vec2(0.0, 0.0);
    q = finer;
    vec2 c = bmAlignAddend(cs, ${float(datapath.sumFraction - fraction)});
    s = bmNormal(s + c);
    if (s.x == 0.0 && s.y == 0.0) { return vec4(0.0, 0.0, 0.0, 0.0); }
    ${normal}
  } else {
    vec2 c = bmAlignAddend(cs, ec - e + ${float(datapath.addendFraction - fraction)});
    ${reach}
    s = bmNormal(s + c);
  }
  return bmRound(s.x, s.y, q);
}`,
  };
  return {
    helpers: [
      alignFunction('bmAlign', datapath.alignment),
      alignFunction('bmAlignAddend', datapath.addendRounding),
      roundFunction(datapath.output),
    ],
    functions: [window, term, finish],
    productOverflow: datapath.productOverflow,
  };
}

/** Why float32 limbs do not hold its sums, or null. */
export function cdna3WindowLimit(datapath: Cdna3Window): string | null {
  const { fraction, sumFraction, addendFraction, sumRounding, normalRounding, block } = datapath;
  const bits = Math.max(fraction, sumFraction) + 3 + Math.ceil(Math.log2(block + 1));
  if (bits > 39) return `its sums need ${bits} bits, two float32 limbs hold 39`;
  if (sumFraction - fraction > 8)
    return `a shift by ${sumFraction - fraction} overflows the low float32 limb`;
  if (addendFraction !== fraction) return 'c is cut to another grid than the products';
  if (sumRounding === 'RNE' || normalRounding === 'RNE') return 'limbs are cut by RZ and RD only';
  return null;
}
