import { asFloats, NAN32 } from './combine.js';

export type OutFormat = 'fp32' | 'bf16' | 'fp16' | 'e4m3' | 'e5m2';

const one = new Uint32Array(1);
const oneFloat = asFloats(one);
const toFloat = (word: number): number => {
  one[0] = word;
  return oneFloat[0]!;
};

/** The word of alpha = RN32(scaleA * scaleB), scales as fp32 words: the double product of two fp32 values is exact. */
export function alphaOf(scaleA: number, scaleB: number): number {
  const product = toFloat(scaleA) * toFloat(scaleB);
  oneFloat[0] = product;
  return one[0]!;
}

/**
 * The contract's section 3 over accumulator words: y = RN32(acc * alpha + 0), for FP8 outputs times `scale`, then the
 * output conversion; `d` has the output format's words, alpha and scale are fp32 words. Double rounding and saturation
 * are the contract's; NaN words are canonical.
 */
export function epilogue(
  acc: Uint32Array,
  d: Uint8Array | Uint16Array | Uint32Array,
  out: string,
  alpha: number,
  scale?: number,
): void {
  const factor = toFloat(alpha);
  const fp8 = out === 'e4m3' || out === 'e5m2';
  const resultScale = fp8 && scale !== undefined ? toFloat(scale) : null;
  const x = asFloats(acc);
  const convert = CONVERT[out as OutFormat];
  for (let i = 0; i < x.length; i++) {
    // acc * alpha is exact in double (48 bits, exponents within range); + 0 makes a zero product +0.
    let y = Math.fround(x[i]! * factor + 0);
    if (resultScale !== null) y = Math.fround(y * resultScale);
    oneFloat[0] = y;
    d[i] = convert(one[0]!);
  }
}

/** fp32 word to bf16, RNE. */
export function toBf16(word: number): number {
  if ((word & 0x7fffffff) > 0x7f800000) return 0x7fff;
  return (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
}

/** fp32 word to a narrower IEEE-like word with `w` fraction bits and bias, RNE; a magnitude above `max` becomes `over`. */
function narrow(word: number, w: number, bias: number, max: number, over: number, signBit: number): number {
  const sign = word >>> 31 ? signBit : 0;
  const magnitude = word & 0x7fffffff;
  const drop = 23 - w;
  const x = magnitude >>> 23;
  let code: number;
  if (x > 127 - bias) {
    const rebased = magnitude - ((127 - bias) << 23);
    code = (rebased + (1 << (drop - 1)) - 1 + ((rebased >>> drop) & 1)) >>> drop;
  } else {
    // Below the format's smallest normal: one unit is 2^(1 - bias - w).
    const shift = drop + 128 - bias - x;
    if (x === 0 || shift > 25) return sign;
    const sig = (magnitude & 0x7fffff) | 0x800000;
    const kept = sig >>> shift;
    const rest = sig & ((1 << shift) - 1);
    const half = 1 << (shift - 1);
    code = kept + (rest > half || (rest === half && kept & 1) ? 1 : 0);
  }
  return sign | (code > max ? over : code);
}

const isNaN32 = (word: number): boolean => (word & 0x7fffffff) > 0x7f800000;

/** fp32 word to fp16, RNE; overflow is Inf. */
export const toFp16 = (word: number): number =>
  isNaN32(word) ? 0x7fff : narrow(word, 10, 15, 0x7bff, 0x7c00, 0x8000);

/** fp32 word to e4m3 saturated to +-448 (Inf included), RNE. */
export const toE4m3 = (word: number): number => (isNaN32(word) ? 0x7f : narrow(word, 3, 7, 0x7e, 0x7e, 0x80));

/** fp32 word to e5m2 saturated to +-57344 (Inf included), RNE. */
export const toE5m2 = (word: number): number =>
  isNaN32(word) ? 0x7f : narrow(word, 2, 15, 0x7b, 0x7b, 0x80);

const CONVERT: Readonly<Record<OutFormat, (word: number) => number>> = {
  fp32: (word) => (isNaN32(word) ? NAN32 : word),
  bf16: toBf16,
  fp16: toFp16,
  e4m3: toE4m3,
  e5m2: toE5m2,
};
