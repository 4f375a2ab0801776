import type { Output, Rounding } from '@bitmma/core';

/** A number as a GLSL ES float literal. */
export const float = (value: number): string => (Number.isInteger(value) ? `${value}.0` : `${value}`);

/** One GLSL function, as gpu.js takes it. */
export interface NativeFunction {
  readonly name: string;
  readonly source: string;
}

/**
 * Integers in float32, exact in GLSL ES 1.00 as long as every value stays below 2^24 in magnitude or is such a value
 * times a power of two. A wide integer is vec2(high, low), value high * 2^16 + low, low in 0 ... 65535 once
 * normalised, so below 2^40. Powers of two come from constant multiplications: exp2 and pow are approximate on GPUs.
 */
const POWER: NativeFunction = {
  name: 'bmPower',
  source: `float bmPower(float e) {
  float r = 1.0;
  float a = abs(e);
  bool down = e < 0.0;
  if (a >= 64.0) { r = r * (down ? 5.421010862427522e-20 : 18446744073709551616.0); a = a - 64.0; }
  if (a >= 32.0) { r = r * (down ? 2.3283064365386963e-10 : 4294967296.0); a = a - 32.0; }
  if (a >= 16.0) { r = r * (down ? 0.0000152587890625 : 65536.0); a = a - 16.0; }
  if (a >= 8.0) { r = r * (down ? 0.00390625 : 256.0); a = a - 8.0; }
  if (a >= 4.0) { r = r * (down ? 0.0625 : 16.0); a = a - 4.0; }
  if (a >= 2.0) { r = r * (down ? 0.25 : 4.0); a = a - 2.0; }
  if (a >= 1.0) { r = r * (down ? 0.5 : 2.0); }
  return r;
}`,
};

const SPLIT: NativeFunction = {
  name: 'bmSplit',
  source: `vec2 bmSplit(float t) {
  float high = floor(t * 0.0000152587890625);
  return vec2(high, t - high * 65536.0);
}`,
};

const NORMAL: NativeFunction = {
  name: 'bmNormal',
  source: `vec2 bmNormal(vec2 s) {
  float carry = floor(s.y * 0.0000152587890625);
  return vec2(s.x + carry, s.y - carry * 65536.0);
}`,
};

/** The leading bit's position of an integer 1 ... 2^24. */
const LEAD: NativeFunction = {
  name: 'bmLead',
  source: `float bmLead(float x) {
  float v = x;
  float n = 0.0;
  if (v >= 65536.0) { v = v * 0.0000152587890625; n = 16.0; }
  if (v >= 256.0) { v = v * 0.00390625; n = n + 8.0; }
  if (v >= 16.0) { v = v * 0.0625; n = n + 4.0; }
  if (v >= 4.0) { v = v * 0.25; n = n + 2.0; }
  if (v >= 2.0) { n = n + 1.0; }
  return n;
}`,
};

/** floor(s * 2^n) of a normalised s; n at most 8. Bits below 2^-48 of the unit are all that is left of any s. */
const FLOOR_SHIFT: NativeFunction = {
  name: 'bmFloorShift',
  source: `vec2 bmFloorShift(vec2 s, float n) {
  if (n >= 0.0) { return bmNormal(s * bmPower(n)); }
  float r = min(-n, 48.0);
  if (r >= 16.0) { return bmSplit(floor(s.x * bmPower(16.0 - r))); }
  float high = floor(s.x * bmPower(-r));
  float rest = s.x - high * bmPower(r);
  return vec2(high, rest * bmPower(16.0 - r) + floor(s.y * bmPower(-r)));
}`,
};

const TRUNC_SHIFT: NativeFunction = {
  name: 'bmTruncShift',
  source: `vec2 bmTruncShift(vec2 s, float n) {
  if (s.x >= 0.0) { return bmFloorShift(s, n); }
  vec2 m = bmFloorShift(bmNormal(-s), n);
  return bmNormal(-m);
}`,
};

/** The leading bit's position of a nonzero integer, for kernels. */
export const MAGNITUDE: NativeFunction = {
  name: 'bmMagnitude',
  source: 'float bmMagnitude(float t) { return bmLead(abs(t)); }',
};

export const LIMBS: readonly NativeFunction[] = [POWER, SPLIT, NORMAL, LEAD, FLOOR_SHIFT, TRUNC_SHIFT];

/**
 * `NAME(t, n)`: the integer t (24 bits) times 2^n, cut to an integer, as high and low limb; below 2^-60 nothing is left
 * of any t. A scaled-up t is split before it is scaled: GLSL compilers reassociate sums (Mesa's adds a limb to the
 * unsplit number first), so no sum of the numbers here may pass 2^24, in whatever order.
 */
export function alignFunction(name: string, rounding: 'RZ' | 'RD' | 'RNE'): NativeFunction {
  const cut = {
    RZ: 'float f = x < 0.0 ? -floor(-x) : floor(x);',
    RD: 'float f = floor(x);',
    RNE: `float f = floor(x);
  float rest = x - f;
  float odd = f - 2.0 * floor(f * 0.5);
  f = rest > 0.5 || (rest == 0.5 && odd == 1.0) ? f + 1.0 : f;`,
  }[rounding];
  return {
    name,
    source: `vec2 ${name}(float t, float n) {
  if (n >= 0.0) {
    float whole = floor(t * bmPower(n - 16.0));
    return vec2(whole, (t - whole * bmPower(16.0 - n)) * bmPower(n));
  }
  float x = t * bmPower(max(n, -60.0));
  ${cut}
  return bmSplit(f);
}`,
  };
}

export const shiftOf = (rounding: 'RZ' | 'RD'): string =>
  rounding === 'RD' ? 'bmFloorShift' : 'bmTruncShift';

/** Classes of a running word: finite, NaN, +Inf, -Inf, -0. */
export const CLASS = { finite: 0, nan: 1, positive: 2, negative: 3, negativeZero: 4 } as const;

/** Field widths of an output. */
export const LAYOUT = {
  fp16: { fraction: 10, emin: -14, emax: 15 },
  fp32: { fraction: 23, emin: -126, emax: 127 },
} as const;

const UP: Readonly<Record<Rounding, string>> = {
  RZ: 'false',
  RNE: 'above || (tie && kept - 2.0 * floor(kept * 0.5) == 1.0)',
  RU: 'inexact && !negative',
  RD: 'inexact && negative',
};

/**
 * `bmRound(high, low, q)`: the sum high * 2^16 + low in units of 2^q rounded as the output says, as
 * vec4(signed significand, exponent, class, 0). The significand has the format's fraction bits; a subnormal has emin.
 */
export function roundFunction(output: Output): NativeFunction {
  const { fraction, emin, emax } = LAYOUT[output.format as 'fp16' | 'fp32'];
  const tiny = output.underflow === 'signed' ? `negative ? ${float(CLASS.negativeZero)} : 0.0` : '0.0';
  return {
    name: 'bmRound',
    source: `vec4 bmRound(float high, float low, float q) {
  vec2 s = bmNormal(vec2(high, low));
  if (s.x == 0.0 && s.y == 0.0) { return vec4(0.0, 0.0, 0.0, 0.0); }
  bool negative = s.x < 0.0;
  if (negative) { s = bmNormal(-s); }
  float lead = s.x > 0.0 ? 16.0 + bmLead(s.x) : bmLead(s.y);
  float n = max(lead + q, ${float(emin)});
  float drop = n - ${float(output.precision)} - q;
  float kept = 0.0;
  bool above = false;
  bool tie = false;
  bool inexact = true;
  if (drop <= 0.0) {
    kept = (s.x * 65536.0 + s.y) * bmPower(-drop);
    inexact = false;
  } else if (drop < 16.0) {
    float unit = bmPower(drop);
    float below = floor(s.y * bmPower(-drop));
    float rest = s.y - below * unit;
    kept = s.x * bmPower(16.0 - drop) + below;
    above = rest > unit * 0.5;
    tie = rest == unit * 0.5;
    inexact = rest > 0.0;
  } else if (drop < 42.0) {
    float unit = bmPower(drop - 16.0);
    kept = floor(s.x * bmPower(16.0 - drop));
    float rest = s.x - kept * unit;
    // rest and the low limb against half a unit: a half limb of 32768 where the unit is one high.
    float half_high = floor(unit * 0.5);
    float half_low = unit == 1.0 ? 32768.0 : 0.0;
    above = rest > half_high || (rest == half_high && s.y > half_low);
    tie = rest == half_high && s.y == half_low;
    inexact = rest > 0.0 || s.y > 0.0;
  }
  if (${UP[output.rounding]}) { kept = kept + 1.0; }
  if (kept >= ${float(2 ** (output.precision + 1))}) { kept = kept * 0.5; n = n + 1.0; }
  if (n > ${float(emax)}) { return vec4(0.0, 0.0, negative ? ${float(CLASS.negative)} : ${float(CLASS.positive)}, 0.0); }
  if (kept == 0.0) { return vec4(0.0, 0.0, ${tiny}, 0.0); }
  float sig = kept * ${float(2 ** (fraction - output.precision))};
  return vec4(negative ? -sig : sig, n, 0.0, 0.0);
}`,
  };
}

/**
 * `bmSpecial(nan, plus, minus, over, under, cc)`: section 3 over the products' flags and c's class; then products
 * beyond the range, positive and negative. Class of the result, 0 where everything is finite.
 */
export const SPECIAL: NativeFunction = {
  name: 'bmSpecial',
  source: `float bmSpecial(float nan, float plus, float minus, float over, float under, float cc) {
  if (cc == 2.0) { plus = 1.0; }
  if (cc == 3.0) { minus = 1.0; }
  if (nan > 0.0 || cc == 1.0 || (plus > 0.0 && minus > 0.0)) { return 1.0; }
  if (plus > 0.0) { return 2.0; }
  if (minus > 0.0) { return 3.0; }
  if (over > 0.0 && under > 0.0) { return 1.0; }
  if (over > 0.0) { return 2.0; }
  return under > 0.0 ? 3.0 : 0.0;
}`,
};
