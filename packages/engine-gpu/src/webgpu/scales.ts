import type { FormatName, Scaling } from '@bitmma/core';
import { floatFormat } from './wgsl/decode.js';

/** What a scale word means, four at a time: exponent, significand, and the exponent of the significand's unit. */
export function scaleFunctions(scaling: Scaling): string {
  if (scaling.format === 'ue8m0') {
    return `
const SCALE_NEUTRAL = 127u;
const SCALE_FRACTION = 0;
fn scaleExponent(w: vec4u) -> vec4i { return vec4i(w) - vec4i(127); }
fn scaleSig(w: vec4u) -> vec4i { return vec4i(1); }
fn scaleNan(w: vec4u) -> vec4<bool> { return w == vec4u(255u); }
`;
  }
  return `
const SCALE_NEUTRAL = 56u;
const SCALE_FRACTION = 6;
fn scaleExponent(w: vec4u) -> vec4i { return vec4i(max((w >> vec4u(3u)) & vec4u(15u), vec4u(1u))) - vec4i(7); }
fn scaleSig(w: vec4u) -> vec4i { return vec4i((w & vec4u(7u)) | select(vec4u(0u), vec4u(8u), (w & vec4u(120u)) != vec4u(0u))); }
fn scaleNan(w: vec4u) -> vec4<bool> { return (w & vec4u(127u)) == vec4u(127u); }
`;
}

/** Largest fixed-point value of a format, sig * 2^(e - emin), and the exponent of its unit; null: not a float. */
export function fixedPoint(name: FormatName): { readonly max: number; readonly unit: number } | null {
  const format = floatFormat(name);
  if (format === null) return null;
  const codes = 2 ** format.exponentBits - (format.specials === 'ieee' ? 1 : 0);
  return {
    max: (2 ** (format.fractionBits + 1) - 1) * 2 ** Math.max(0, codes - 2),
    unit: 1 - format.bias - format.fractionBits,
  };
}
