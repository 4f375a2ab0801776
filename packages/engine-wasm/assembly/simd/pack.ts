// Words to the SIMD kernels' operands: fp32 values and exponent codes. A row lies along k; a column is one of 16 lanes.
import { LIMIT, decode, e, sig } from '../number/element';
import { bias, dropped, exponentBits, fractionBits, specials, wordBytes } from '../pack';
import { flushInputs, instruction } from '../params';

/** Codes of zero. */
const ZERO_BYTE: i32 = 0;
const ZERO_SHORT: i32 = -0x4000;
/** Byte code of the smallest exponent. */
const LEAST_BYTE: i32 = 64;

// An entry: value in the low 32 bits, code in the next 16, bit 63 where the element is NaN or Inf.
const SPECIAL: u64 = 0x8000000000000000;

/** 256 entries of an 8-bit format. */
const ENTRIES: usize = memory.data(2048, 16);

const SIGN: u32 = 0x80000000;
const INFINITE_WORD: u32 = 0x7f800000;

// @ts-ignore: decorator
@inline
function entry(value: u32, code: i32, special: bool): u64 {
  return <u64>value | (<u64>(<u32>code & 0xffff) << 32) | (special ? SPECIAL : 0);
}

/** Fills the table for the 8-bit format at hand. */
export function prepareTables(): void {
  const width = exponentBits + fractionBits + 1;
  for (let word: u32 = 0; word < 256; word++) {
    // Bits above a 6- or 4-bit format do not count.
    decode(word & ((1 << width) - 1), exponentBits, fractionBits, bias, specials);
    const m = sig & ~SIGN;
    const special = e >= LIMIT;
    const power = reinterpret<f32>((e - fractionBits + 127) << 23);
    const value: f32 = special || m === 0 ? 0 : <f32>m * power;
    const code = special || m === 0 ? ZERO_BYTE : e + bias - 1 + LEAST_BYTE;
    store<u64>(ENTRIES + (<usize>word << 3), entry(reinterpret<u32>(value) | (sig & SIGN), code, special));
  }
}

// @ts-ignore: decorator
@inline
function halfEntry(word: u32): u64 {
  const m = word & 0x7fff;
  // 2^112 moves fp16's exponents to fp32's, subnormals included.
  const power = reinterpret<f32>((112 + 127) << 23);
  const value = reinterpret<u32>(reinterpret<f32>(m << 13) * power) | ((word & 0x8000) << 16);
  if (flushInputs !== 0 && m < 0x400) return entry(value & SIGN, ZERO_BYTE, false);
  return entry(value, m === 0 ? ZERO_BYTE : max(<i32>(m >> 10), 1) - 1 + LEAST_BYTE, m >= 0x7c00);
}

/** bf16, tf32, fp32: the leading bits of an fp32 word. */
// @ts-ignore: decorator
@inline
function topEntry(value: u32): u64 {
  const m = value & ~SIGN;
  if (flushInputs !== 0 && m < 0x800000) return entry(value & SIGN, ZERO_SHORT, false);
  return entry(value, m === 0 ? ZERO_SHORT : max(<i32>(m >> 23), 1) - 127, m >= INFINITE_WORD);
}

/** Whether the format's exponents need 16-bit codes. */
// @ts-ignore: decorator
@inline
function shorts(): bool {
  return exponentBits === 8;
}

// @ts-ignore: decorator
@inline
function put(entry: u64, values: usize, codes: usize, wide: bool): void {
  store<u32>(values, <u32>entry);
  if (wide) store<u16>(codes, <u16>(entry >> 32));
  else store<u8>(codes, <u8>(entry >> 32));
}

// Where an element's bits come from.
const BYTES: i32 = 0;
const HALVES: i32 = 1;
const TOP16: i32 = 2;
const TOP32: i32 = 3;

// @ts-ignore: decorator
@inline
function entryAt(kind: i32, source: usize, i: usize, keep: u32): u64 {
  if (kind === BYTES) return load<u64>(ENTRIES + (<usize>load<u8>(source + i) << 3));
  if (kind === HALVES) return halfEntry(load<u16>(source + (i << 1)));
  if (kind === TOP16) return topEntry(<u32>load<u16>(source + (i << 1)) << 16);
  return topEntry(load<u32>(source + (i << 2)) & keep);
}

/** k elements in order; the entries' bits ORed. Inlined once a kind: the loop has no other branch. */
// @ts-ignore: decorator
@inline
function packPlain(
  kind: i32,
  source: usize,
  k: i32,
  values: usize,
  valueStep: usize,
  codes: usize,
  codeStep: usize,
  keep: u32,
): u64 {
  let seen: u64 = 0;
  for (let i: usize = 0; i < <usize>k; i++) {
    const x = entryAt(kind, source, i, keep);
    seen |= x;
    put(x, values, codes, kind >= TOP16);
    values += valueStep;
    codes += codeStep;
  }
  return seen;
}

// @ts-ignore: decorator
@inline
function slotOf(i: i32, period: i32, order: usize): usize {
  if (order === 0) return <usize>i;
  const inside = i % period;
  return <usize>(i - inside + load<i32>(order + (<usize>inside << 2)));
}

/**
 * Packs k words, values `valueStep` and codes `codeStep` bytes apart, and zeros up to `padded`. `mask`: a byte a
 * position, 0 where it is absent, or 0. `order`: i32 slot of each position of an instruction, or 0. 1: holds NaN or Inf.
 */
function packVector(
  source: usize,
  k: i32,
  padded: i32,
  values: usize,
  valueStep: usize,
  codes: usize,
  codeStep: usize,
  mask: usize,
  order: usize,
): i32 {
  const keep: u32 = ~((1 << dropped) - 1);
  const kind = wordBytes === 1 ? BYTES : !shorts() ? HALVES : wordBytes === 2 ? TOP16 : TOP32;
  const zero = entry(0, shorts() ? ZERO_SHORT : ZERO_BYTE, false);
  let seen: u64 = 0;
  if (mask === 0 && order === 0) {
    if (kind === BYTES) seen = packPlain(BYTES, source, k, values, valueStep, codes, codeStep, keep);
    else if (kind === HALVES) seen = packPlain(HALVES, source, k, values, valueStep, codes, codeStep, keep);
    else if (kind === TOP16) seen = packPlain(TOP16, source, k, values, valueStep, codes, codeStep, keep);
    else seen = packPlain(TOP32, source, k, values, valueStep, codes, codeStep, keep);
  } else {
    for (let i = 0; i < k; i++) {
      let x = zero;
      if (mask === 0 || load<u8>(mask + <usize>i) !== 0) x = entryAt(kind, source, i, keep);
      seen |= x;
      const slot = slotOf(i, instruction, order);
      put(x, values + slot * valueStep, codes + slot * codeStep, shorts());
    }
  }
  for (let i = k; i < padded; i++) {
    const slot = slotOf(i, instruction, order);
    put(zero, values + slot * valueStep, codes + slot * codeStep, shorts());
  }
  return <i32>(seen >> 63);
}

/** One row. */
export function packRow(
  source: usize,
  k: i32,
  padded: i32,
  values: usize,
  codes: usize,
  mask: usize,
  order: usize,
): i32 {
  return packVector(source, k, padded, values, 4, codes, shorts() ? 2 : 1, mask, order);
}

/** One column, lane 0..15 of its panel. */
export function packColumn(
  source: usize,
  k: i32,
  padded: i32,
  values: usize,
  codes: usize,
  lane: usize,
  order: usize,
): i32 {
  const codeBytes: usize = shorts() ? 2 : 1;
  return packVector(source, k, padded, values + (lane << 2), 64, codes + lane * codeBytes, codeBytes << 4, 0, order);
}

/** Zero columns from `lane` on. */
export function clearColumns(padded: i32, values: usize, codes: usize, lane: usize): void {
  for (let j = lane; j < 16; j++) packColumn(0, 0, padded, values, codes, j, 0);
}
