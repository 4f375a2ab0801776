import type { ExponentFormat, FloatFormat, Format, IntegerFormat } from './format.js';

const float = (
  name: string,
  exponentBits: number,
  fractionBits: number,
  bias: number,
  specials: FloatFormat['specials'],
  wordBits: FloatFormat['wordBits'],
  more: { signed?: boolean; droppedBits?: number } = {},
): FloatFormat =>
  Object.freeze({
    kind: 'float',
    name,
    signed: more.signed ?? true,
    exponentBits,
    fractionBits,
    bias,
    specials,
    droppedBits: more.droppedBits ?? 0,
    wordBits,
  });

const exponent = (name: string, bias: number): ExponentFormat =>
  Object.freeze({ kind: 'exponent', name, bias, wordBits: 8 });

const integer = (name: string, signed: boolean, wordBits: 8 | 32): IntegerFormat =>
  Object.freeze({ kind: 'integer', name, signed, wordBits });

/**
 * Every format of numerics section 1: name, exponent bits, fraction bits, bias, specials, word bits.
 * FP6, FP4 and the scales travel one element a byte.
 */
export const FORMATS = Object.freeze({
  fp64: float('fp64', 11, 52, 1023, 'ieee', 64),
  fp32: float('fp32', 8, 23, 127, 'ieee', 32),
  tf32: float('tf32', 8, 10, 127, 'ieee', 32, { droppedBits: 13 }),
  bf16: float('bf16', 8, 7, 127, 'ieee', 16),
  fp16: float('fp16', 5, 10, 15, 'ieee', 16),
  e5m2: float('e5m2', 5, 2, 15, 'ieee', 8),
  e4m3: float('e4m3', 4, 3, 7, 'nan-only', 8),
  e5m2fnuz: float('e5m2fnuz', 5, 2, 16, 'fnuz', 8),
  e4m3fnuz: float('e4m3fnuz', 4, 3, 8, 'fnuz', 8),
  e3m2: float('e3m2', 3, 2, 3, 'none', 8),
  e2m3: float('e2m3', 2, 3, 1, 'none', 8),
  e2m1: float('e2m1', 2, 1, 1, 'none', 8),
  ue4m3: float('ue4m3', 4, 3, 7, 'nan-only', 8, { signed: false }),
  ue8m0: exponent('ue8m0', 127),
  s8: integer('s8', true, 8),
  u8: integer('u8', false, 8),
  s32: integer('s32', true, 32),
} satisfies Record<string, Format>);

export type FormatName = keyof typeof FORMATS;
export const FORMAT_NAMES = Object.freeze(Object.keys(FORMATS) as FormatName[]);
