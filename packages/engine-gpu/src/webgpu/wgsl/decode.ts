import { type FloatFormat, FORMATS, type FormatName } from '@bitmma/core';

/**
 * A decoded element is one u32: an exponent code in the high half, a signed significand of 15 bits in the low half.
 * The code of a finite nonzero element is e + CODE_BIAS, of zero 0, of a position that sparsity disables 1. Adding
 * two decoded words adds the codes without a carry from below (15-bit fields), so the largest sum of a block is the
 * block's exponent: sums of two nonzero elements (1796 ... 2302 for exponents -126 ... 127) lie above every sum with
 * a zero (at most 1152), sums with a special above everything finite.
 */
export const CODE_BIAS = 1024;
/** The least code sum of two nonzero elements is 2 * (1024 - 126); the largest with a zero 1 + 1024 + 127. */
export const NONZERO_SUM = 1600;
export const ABSENT_CODE = 1;
export const NAN_CODE = 0x4000;
export const INFINITY_CODE = 0x4001;
/** Magnitudes of a decoded significand stay below 2^14. */
export const SIGNIFICAND_BITS = 14;

export function floatFormat(name: FormatName): FloatFormat | null {
  const format = FORMATS[name];
  return format.kind === 'float' ? format : null;
}

/** emin = 1 - bias, and the largest encoded exponent of a finite element. */
export function exponentRange(format: FloatFormat): readonly [number, number] {
  const top = 2 ** format.exponentBits - 1 - (format.specials === 'ieee' ? 1 : 0);
  return [1 - format.bias, top - format.bias];
}

const NAN_TEST: Readonly<Record<FloatFormat['specials'], string>> = {
  ieee: '(x == vec4u(XMAX)) & (m != vec4u(0u))',
  'nan-only': '(x == vec4u(XMAX)) & (m == vec4u(MMAX))',
  fnuz: '(x == vec4u(0u)) & (m == vec4u(0u)) & (s == vec4u(1u))',
  none: 'vec4<bool>(false)',
};

function fields(format: FloatFormat): string {
  const w = format.fractionBits;
  const xmax = 2 ** format.exponentBits - 1;
  const sub = (text: string): string =>
    text.replaceAll('XMAX', `${xmax}u`).replaceAll('MMAX', `${2 ** w - 1}u`);
  const dropped = format.droppedBits > 0 ? `(word >> vec4u(${format.droppedBits}u))` : 'word';
  return `let v = ${dropped};
  let m = v & vec4u(${2 ** w - 1}u);
  let x = (v >> vec4u(${w}u)) & vec4u(${xmax}u);
  let s = ${format.signed ? `(v >> vec4u(${w + format.exponentBits}u)) & vec4u(1u)` : 'vec4u(0u)'};
  let nan = ${sub(NAN_TEST[format.specials])};
  let inf = ${format.specials === 'ieee' ? sub('(x == vec4u(XMAX)) & (m == vec4u(0u))') : 'vec4<bool>(false)'};`;
}

export interface ElementCode {
  readonly format: FormatName;
  /** Significands are stored times 2^prescale. */
  readonly prescale: number;
  /** Significands are stored as sig * 2^(e - emin): a fixed-point value (narrow formats only). */
  readonly fixed: boolean;
}

/** `fn NAME(word)`: four words of a floating-point format to four decoded elements. */
export function decodeFunction(name: string, code: ElementCode): string {
  const format = floatFormat(code.format);
  if (format === null) {
    const signed = FORMATS[code.format].kind === 'integer' && code.format === 's8';
    return `fn ${name}(word: vec4u) -> vec4u {
  return ${signed ? 'vec4u(vec4i(word << vec4u(24u)) >> vec4u(24u)) & vec4u(0x7fffu)' : 'word & vec4u(255u)'};
}
`;
  }
  const [emin] = exponentRange(format);
  const shift = code.fixed ? 'max(x, vec4u(1u)) - vec4u(1u)' : `vec4u(${code.prescale}u)`;
  return `fn ${name}(word: vec4u) -> vec4u {
  ${fields(format)}
  let mag = select(m, m | vec4u(${2 ** format.fractionBits}u), x > vec4u(0u)) << (${shift});
  let exponent = max(x, vec4u(1u)) + vec4u(${CODE_BIAS + emin - 1}u);
  let sig = ((mag ^ (vec4u(0u) - s)) + s) & vec4u(0x7fffu);
  var code = (exponent << vec4u(16u)) | sig;
  code = select(code, vec4u(0u), mag == vec4u(0u));
  code = select(code, vec4u(${INFINITY_CODE << 16}u) | (((vec4u(1u) ^ (vec4u(0u) - s)) + s) & vec4u(0x7fffu)), inf);
  return select(code, vec4u(${NAN_CODE << 16}u), nan);
}
`;
}

/**
 * `fn NAME(word)`: four words of a format of at most fp32's range to four fp32 words, exactly; every NaN becomes
 * 0x7fc00000. `flush`: a subnormal of the format becomes zero of its sign.
 */
export function widenFunction(name: string, formatName: FormatName, flush: boolean): string {
  const format = floatFormat(formatName);
  if (format === null) throw new RangeError(`expected a floating-point format, got ${formatName}`);
  const w = format.fractionBits;
  const up = 23 - w;
  const rebias = 127 - format.bias;
  // A subnormal of a narrower exponent range is normal in fp32: shift its leading bit to the hidden place.
  const subnormal =
    rebias === 0
      ? `m << vec4u(${up}u)`
      : `((m << lift) & vec4u(0x7fffffu)) | ((vec4u(${rebias + 1 + up}u) - lift) << vec4u(23u))`;
  return `fn ${name}(word: vec4u) -> vec4u {
  ${fields(format)}
  let sign = s << vec4u(31u);
  let lift = countLeadingZeros(m | vec4u(1u)) - vec4u(8u);
  var value = ((x + vec4u(${rebias}u)) << vec4u(23u)) | (m << vec4u(${up}u));
  let low = ${flush ? 'vec4u(0u)' : `select(${subnormal}, vec4u(0u), m == vec4u(0u))`};
  value = select(value, low, x == vec4u(0u)) | sign;
  value = select(value, vec4u(0x7f800000u) | sign, inf);
  return select(value, vec4u(0x7fc00000u), nan);
}
`;
}
