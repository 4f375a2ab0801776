import { FORMATS, type FormatName, InputError } from '@bitmma/core';

/** What a stored element is: a number format, or `int64`, which only files have. */
export type StoredFormat = FormatName | 'int64';

/**
 * An element type as a file states it. `format` null: words whose meaning the file does not say (NumPy's V1, V2,
 * f1, u2, u4), which need a format from the user. `restatable`: the user may give another format of the same
 * width (u1 holds integers, or the codes of an 8-bit float).
 */
export interface Dtype {
  /** The file's own spelling, `<f4` or `BF16`. */
  readonly name: string;
  readonly format: StoredFormat | null;
  readonly bits: 4 | 8 | 16 | 32 | 64;
  readonly restatable: boolean;
}

const known = (name: string, format: StoredFormat, bits: Dtype['bits'], restatable = false): Dtype => ({
  name,
  format,
  bits,
  restatable,
});
const raw = (name: string, bits: Dtype['bits']): Dtype => ({ name, format: null, bits, restatable: true });

/** NumPy type codes without their byte-order mark. */
export const NPY_DTYPES: Readonly<Record<string, Dtype>> = Object.freeze({
  f2: known('f2', 'fp16', 16),
  f4: known('f4', 'fp32', 32),
  f8: known('f8', 'fp64', 64),
  i1: known('i1', 's8', 8),
  u1: known('u1', 'u8', 8, true),
  i4: known('i4', 's32', 32),
  i8: known('i8', 'int64', 64),
  u2: raw('u2', 16),
  u4: raw('u4', 32),
  f1: raw('f1', 8),
  V1: raw('V1', 8),
  V2: raw('V2', 16),
});

/** safetensors dtype names; F4 is two elements a byte, low nibble first. */
export const SAFETENSORS_DTYPES: Readonly<Record<string, Dtype>> = Object.freeze({
  F64: known('F64', 'fp64', 64),
  F32: known('F32', 'fp32', 32),
  F16: known('F16', 'fp16', 16),
  BF16: known('BF16', 'bf16', 16),
  F8_E4M3: known('F8_E4M3', 'e4m3', 8),
  F8_E5M2: known('F8_E5M2', 'e5m2', 8),
  F8_E4M3FNUZ: known('F8_E4M3FNUZ', 'e4m3fnuz', 8),
  F8_E5M2FNUZ: known('F8_E5M2FNUZ', 'e5m2fnuz', 8),
  F8_E8M0: known('F8_E8M0', 'ue8m0', 8),
  F4: known('F4', 'e2m1', 4),
  I8: known('I8', 's8', 8),
  U8: known('U8', 'u8', 8, true),
  I32: known('I32', 's32', 32),
  I64: known('I64', 'int64', 64),
  U16: raw('U16', 16),
  U32: raw('U32', 32),
});

/** Bits of one element word in memory: F4 is unpacked to a byte an element. */
export const wordBits = (dtype: Dtype): 8 | 16 | 32 | 64 => (dtype.bits === 4 ? 8 : dtype.bits);

/**
 * The format of a tensor's words, from the file and the user's own statement.
 * Throws InputError where neither says it, or where they contradict each other in width.
 */
export function settleFormat(where: string, dtype: Dtype, stated: FormatName | undefined): StoredFormat {
  if (dtype.format === null) {
    if (stated === undefined)
      throw new InputError(
        `${where}: its element type ${dtype.name} says ${dtype.bits} bits but not which format; state one`,
      );
    if (FORMATS[stated].wordBits !== wordBits(dtype))
      throw new InputError(
        `${where}: expected ${FORMATS[stated].wordBits}-bit words for ${stated}, got ${dtype.name} of ${dtype.bits} bits`,
      );
    return stated;
  }
  if (stated !== undefined && dtype.restatable && FORMATS[stated].wordBits === wordBits(dtype)) return stated;
  return dtype.format;
}
