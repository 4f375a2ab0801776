// Words to the SIMD kernels' operands: fp32 values and exponent codes. A row lies along k; a column is one of 16 lanes.
import { LIMIT, decode, e, sig } from '../number/element';
import { bias, exponentBits, fractionBits, specials, wordBytes } from '../pack';

/** Codes of zero. */
const ZERO_BYTE: i32 = 0;
const ZERO_SHORT: i32 = -0x4000;
/** Byte code of the smallest exponent. */
const LEAST_BYTE: i32 = 64;

/** 256 values and codes of an 8-bit format. */
const VALUES: usize = memory.data(1024, 16);
const CODES: usize = memory.data(256);
const NOT_FINITE: usize = memory.data(256);

const SIGN: u32 = 0x80000000;
const INFINITE_WORD: u32 = 0x7f800000;

/** Fills the tables for the 8-bit format at hand. */
export function prepareTables(): void {
  const width = exponentBits + fractionBits + 1;
  for (let word: u32 = 0; word < 256; word++) {
    // Bits above a 6- or 4-bit format do not count.
    decode(word & ((1 << width) - 1), exponentBits, fractionBits, bias, specials);
    const m = sig & ~SIGN;
    const special = e >= LIMIT;
    const power = reinterpret<f32>((e - fractionBits + 127) << 23);
    const value: f32 = special || m === 0 ? 0 : <f32>m * power;
    store<u32>(VALUES + (<usize>word << 2), reinterpret<u32>(value) | (sig & SIGN));
    store<u8>(CODES + <usize>word, special || m === 0 ? ZERO_BYTE : e + bias - 1 + LEAST_BYTE);
    store<u8>(NOT_FINITE + <usize>word, special);
  }
}

// Value, code and class of the word read last.
let value: u32 = 0;
let code: i32 = 0;
let special: i32 = 0;

// @ts-ignore: decorator
@inline
function read(source: usize, i: usize): void {
  if (wordBytes === 1) {
    const word = <usize>load<u8>(source + i);
    value = load<u32>(VALUES + (word << 2));
    code = load<u8>(CODES + word);
    special |= load<u8>(NOT_FINITE + word);
    return;
  }
  if (exponentBits === 5) {
    const word: u32 = load<u16>(source + (i << 1));
    const m = word & 0x7fff;
    // 2^112 moves fp16's exponents to fp32's, subnormals included.
    const power = reinterpret<f32>((112 + 127) << 23);
    value = reinterpret<u32>(reinterpret<f32>(m << 13) * power) | ((word & 0x8000) << 16);
    code = m === 0 ? ZERO_BYTE : max(<i32>(m >> 10), 1) - 1 + LEAST_BYTE;
    special |= <i32>(m >= 0x7c00);
    return;
  }
  // bf16 in 2 bytes, tf32 in 4: the leading bits of fp32.
  value = wordBytes === 2 ? (<u32>load<u16>(source + (i << 1))) << 16 : load<u32>(source + (i << 2)) & 0xffffe000;
  const m = value & ~SIGN;
  code = m === 0 ? ZERO_SHORT : max(<i32>(m >> 23), 1) - 127;
  special |= <i32>(m >= INFINITE_WORD);
}

/** Whether the format's exponents need 16-bit codes. */
// @ts-ignore: decorator
@inline
function shorts(): bool {
  return exponentBits === 8;
}

/** One row of k words, padded with zeros; `mask`: a byte a position, 0 where it is absent, or 0. 1: holds NaN or Inf. */
export function packRow(source: usize, k: i32, padded: i32, values: usize, codes: usize, mask: usize): i32 {
  special = 0;
  for (let i: usize = 0; i < <usize>padded; i++) {
    if (i < <usize>k && (mask === 0 || load<u8>(mask + i) !== 0)) read(source, i);
    else {
      value = 0;
      code = shorts() ? ZERO_SHORT : ZERO_BYTE;
    }
    store<u32>(values + (i << 2), value);
    if (shorts()) store<i16>(codes + (i << 1), <i16>code);
    else store<u8>(codes + i, <u8>code);
  }
  return special;
}

/** One column, lane 0..15 of its panel. */
export function packColumn(source: usize, k: i32, padded: i32, values: usize, codes: usize, lane: usize): i32 {
  special = 0;
  values += lane << 2;
  codes += shorts() ? lane << 1 : lane;
  for (let i: usize = 0; i < <usize>padded; i++) {
    if (i < <usize>k) read(source, i);
    else {
      value = 0;
      code = shorts() ? ZERO_SHORT : ZERO_BYTE;
    }
    store<u32>(values + (i << 6), value);
    if (shorts()) store<i16>(codes + (i << 5), <i16>code);
    else store<u8>(codes + (i << 4), <u8>code);
  }
  return special;
}

/** Zero columns from `lane` on. */
export function clearColumns(padded: i32, values: usize, codes: usize, lane: usize): void {
  for (let i: usize = 0; i < <usize>padded; i++)
    for (let j = lane; j < 16; j++) {
      store<u32>(values + (i << 6) + (j << 2), 0);
      if (shorts()) store<i16>(codes + (i << 5) + (j << 1), <i16>ZERO_SHORT);
      else store<u8>(codes + (i << 4) + j, <u8>ZERO_BYTE);
    }
}
