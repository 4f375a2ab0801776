// Words to packed elements. One vector is a row of A or a column of B, its words contiguous along k.
import { ABSENT, decode, e, INFINITE, LIMIT, NOT_A_NUMBER, SIGN, sig, ZERO, zero } from './number/element';
import { flushInputs, scaleBlock } from './params';

/** Element layouts, as the host numbers them. */
const ELEMENTS: i32 = 0;
const FLOATS: i32 = 1;
const DOUBLES: i32 = 2;
const SHORTS: i32 = 3;

/** A significand of zero under a zero scale: no nonzero product, yet not the zero of Inf times zero. */
const SCALED_ZERO: i32 = ZERO + 1;

// Format of the operand at hand.
export let exponentBits: i32 = 0;
export let fractionBits: i32 = 0;
export let bias: i32 = 0;
export let specials: i32 = 0;
export let dropped: i32 = 0;
export let wordBytes: i32 = 0;
/** Integers: 1 signed. */
export let signed: i32 = 0;
export let layout: i32 = 0;
/** Format of the scales: fraction bits 0 means ue8m0. */
export let scaleExponentBits: i32 = 0;
export let scaleFractionBits: i32 = 0;
export let scaleBias: i32 = 0;

// @ts-ignore: decorator
@inline
function wordAt(source: usize, i: i32): u32 {
  const word: u32 =
    wordBytes === 1
      ? load<u8>(source + usize(i))
      : wordBytes === 2
        ? load<u16>(source + (usize(i) << 1))
        : load<u32>(source + (usize(i) << 2));
  return word >> dropped;
}

/**
 * Packs k words and pads to `padded` with +0. `order`: i32 slot of each position of an instruction of `period`
 * positions, or 0. `mask`: a byte a position, 0 where sparse metadata leaves it out, or 0. `scales`: scale words and
 * `scaleExponents`: where their exponents go, or 0. Returns 1 where an element is NaN or Inf.
 */
export function pack(
  source: usize,
  k: i32,
  padded: i32,
  target: usize,
  order: usize,
  period: i32,
  mask: usize,
  scales: usize,
  scaleExponents: usize,
): i32 {
  if (layout === SHORTS) return packShorts(source, k, padded, target, mask);
  memory.fill(target, 0, usize(padded) << 3);
  if (layout === DOUBLES) return packDoubles(source, k, target);
  let special = 0;
  let scaleSig: u32 = 1;
  let scaleE: i32 = 0;
  for (let i = 0; i < padded; i++) {
    const slot = order === 0 ? i : i - (i % period) + load<i32>(order + (usize(i % period) << 2));
    const at = target + (usize(slot) << 3);
    if (scales !== 0 && i % scaleBlock === 0 && i < k) {
      decodeScale(load<u8>(scales + usize(i / scaleBlock)));
      scaleSig = sig;
      scaleE = e;
      store<i32>(scaleExponents + (usize(i / scaleBlock) << 2), e);
    }
    if (mask !== 0 && i < k && load<u8>(mask + usize(i)) === 0) {
      store<i32>(at, ABSENT, 4);
      continue;
    }
    if (i >= k) {
      store<i32>(at, ZERO, 4);
      continue;
    }
    const word = wordAt(source, i);
    decode(word, exponentBits, fractionBits, bias, specials);
    if (e >= LIMIT) special = 1;
    else if (flushInputs !== 0 && (sig & ~SIGN) >> fractionBits === 0) zero();
    if (layout === FLOATS) {
      store<f32>(at, value(word));
      continue;
    }
    if (scales === 0) {
      store<u32>(at, sig);
      store<i32>(at, e, 4);
      continue;
    }
    if (scaleE === NOT_A_NUMBER) {
      special = 1;
      store<i32>(at, NOT_A_NUMBER, 4);
    } else {
      store<u32>(at, (sig & SIGN) | ((sig & ~SIGN) * scaleSig));
      store<i32>(at, e <= -LIMIT || e >= LIMIT ? e : scaleSig === 0 ? SCALED_ZERO : e + scaleE, 4);
    }
  }
  return special;
}

/** ue8m0 or ue4m3; bit 7 of the latter is ignored. */
function decodeScale(word: u32): void {
  if (scaleFractionBits === 0) {
    sig = 1;
    e = word === 0xff ? NOT_A_NUMBER : i32(word) - scaleBias;
    return;
  }
  decode(word & 0x7f, scaleExponentBits, scaleFractionBits, scaleBias, 1);
}

/** The element just decoded as fp32, every format but fp64 exactly. */
function value(word: u32): f32 {
  const negative = (sig & SIGN) !== 0;
  if (e === NOT_A_NUMBER) return f32.NaN;
  if (e === INFINITE) return negative ? -f32.MAX_VALUE * 2 : f32.MAX_VALUE * 2;
  const m = sig & ~SIGN;
  let result: f32 = 0;
  if (m === 0) result = 0;
  else if (exponentBits === 8) result = reinterpret<f32>((word << (23 - fractionBits)) & 0x7fffffff);
  else result = f32(m) * reinterpret<f32>((e - fractionBits + 127) << 23);
  return negative ? -result : result;
}

/** fp64 words as they are, other formats widened. */
function packDoubles(source: usize, k: i32, target: usize): i32 {
  if (wordBytes === 8) {
    memory.copy(target, source, usize(k) << 3);
    return 0;
  }
  for (let i = 0; i < k; i++) {
    const word = wordAt(source, i);
    decode(word, exponentBits, fractionBits, bias, specials);
    if (flushInputs !== 0 && e < LIMIT && (sig & ~SIGN) >> fractionBits === 0) zero();
    store<f64>(target + (usize(i) << 3), f64(value(word)));
  }
  return 0;
}

function packShorts(source: usize, k: i32, padded: i32, target: usize, mask: usize): i32 {
  memory.fill(target, 0, usize(padded) << 1);
  for (let i = 0; i < k; i++) {
    if (mask !== 0 && load<u8>(mask + usize(i)) === 0) continue;
    const v: i32 = signed !== 0 ? load<i8>(source + usize(i)) : load<u8>(source + usize(i));
    store<i16>(target + (usize(i) << 1), i16(v));
  }
  return 0;
}
