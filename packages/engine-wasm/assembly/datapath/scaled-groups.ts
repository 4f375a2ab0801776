import * as addend from '../number/addend';
import { cut, cutSigned } from '../number/cut';
import { LIMIT, MAGNITUDE } from '../number/element';
import { round } from '../number/round';
import { FINITE, special, specialWord } from '../number/special';
import { maxExponent, minLsb, wideSum, wideTerm } from '../number/terms';
import * as wide from '../number/wide';
import {
  dominantFraction,
  dominantGroup,
  group,
  groupAddendFraction,
  groupSpread,
  instruction,
  leaveOut,
  NONE,
  narrow,
  outExponentBits,
  outFractionBits,
  productBits,
  productFraction,
  RZ,
  scaleBlock,
  scaleFraction,
} from '../params';

// Exponents of the row's and the column's scales, i32 each, of the dot product at hand.
let rowScales: usize = 0;
let columnScales: usize = 0;
export function setScales(row: usize, column: usize): void {
  rowScales = row;
  columnScales = column;
}

// Of the group that sumGroup() summed last: exact sum in units of 2^lsb, largest product and scale exponents.
let groupLsb: i32 = 0;
let groupE: i32 = 0;
let groupScale: i32 = 0;

/** Exact sum of n products: exponents of a group differ by at most groupSpread. groupE NONE: no nonzero product. */
function sumGroup(a: usize, b: usize, k: i32, n: i32): i64 {
  let e = NONE;
  let scale = NONE;
  for (let i = k; i < k + n; i++) {
    const at = usize(i) << 3;
    const pe = load<i32>(a + at, 4) + load<i32>(b + at, 4);
    if (pe <= -LIMIT) continue;
    e = max(e, pe);
    scale = max(scale, scaleAt(i));
  }
  groupE = e;
  groupScale = scale;
  if (e === NONE) return 0;
  const least = e - groupSpread;
  groupLsb = least - productBits;
  let sum: i64 = 0;
  for (let i = k; i < k + n; i++) {
    const at = usize(i) << 3;
    const x = load<u32>(a + at);
    const y = load<u32>(b + at);
    const shift = load<i32>(a + at, 4) + load<i32>(b + at, 4) - least;
    const term = i64((u64(x & MAGNITUDE) * u64(y & MAGNITUDE)) << u64(shift & 63));
    sum += i32(x ^ y) < 0 ? -term : term;
  }
  return sum;
}

// @ts-ignore: decorator
@inline
function scaleAt(k: i32): i32 {
  const at = usize(k / scaleBlock) << 2;
  return load<i32>(rowScales + at) + load<i32>(columnScales + at);
}

let top: i32 = 0;
let topScale: i32 = 0;

/** Largest exponents over the nonzero products of the instruction at k. */
function findTop(a: usize, b: usize, k: i32): void {
  top = NONE;
  topScale = NONE;
  for (let i = k; i < k + instruction; i++) {
    const at = usize(i) << 3;
    const e = load<i32>(a + at, 4) + load<i32>(b + at, 4);
    if (e <= -LIMIT) continue;
    top = max(top, e);
    topScale = max(topScale, scaleAt(i));
  }
}

/** mxf4 and mxf4nvf4 (numerics section 6), one instruction; the scales are folded into the packed elements. */
function step(a: usize, b: usize, k: i32, word: u64): u64 {
  const found = special(a + (usize(k) << 3), b + (usize(k) << 3), instruction);
  if (found !== FINITE) return specialWord(found);
  findTop(a, b, k);
  if (top === NONE) return word;
  const zero = addend.sig === 0;
  const dominant = !zero && addend.e >= top;
  const quantum = dominant
    ? addend.e - dominantFraction
    : max((zero ? top : max(top, addend.e)) - productFraction, topScale - scaleFraction);
  const mayPrune = leaveOut !== NONE && zero && quantum < leaveOut;
  if (narrow === 0) {
    sumGroupsWide(a, b, k, quantum, dominant, false);
    if (mayPrune && wideIsSubnormal()) sumGroupsWide(a, b, k, quantum, false, true);
    return wide.roundWide();
  }
  let sum = sumGroups(a, b, k, quantum, dominant, false);
  if (mayPrune && isSubnormal(sum, quantum)) sum = sumGroups(a, b, k, quantum, false, true);
  return round(sum < 0, u64(sum < 0 ? -sum : sum), quantum, false);
}

/** sumGroups() with exact sums of any width, into wide accumulator 0. */
function sumGroupsWide(a: usize, b: usize, k: i32, quantum: i32, dominant: bool, prune: bool): void {
  const size = dominant ? dominantGroup : group;
  const at = usize(k) << 3;
  const zero = addend.sig === 0;
  const low = minLsb(a + at, b + at, instruction, 8, zero ? i32.MAX_VALUE : addend.e - addend.bits);
  const coarsest = groupAddendFraction === NONE || zero ? quantum : max(quantum, addend.e - groupAddendFraction);
  wide.open(low, max(max(top, zero ? top : addend.e) + 4, coarsest) + 40);
  wide.select(false);
  if (!zero) wideTerm(addend.negative, addend.sig, addend.e - addend.bits, quantum, RZ);
  for (let i = 0; i < instruction; i += size) {
    wide.clearSecond();
    const n = min(size, instruction - i);
    const start = usize(k + i) << 3;
    groupE = maxExponent(a + start, b + start, n, 8);
    if (groupE === NONE) continue;
    groupScale = NONE;
    for (let j = k + i; j < k + i + n; j++) {
      const e = load<i32>(a + (usize(j) << 3), 4) + load<i32>(b + (usize(j) << 3), 4);
      if (e > -LIMIT) groupScale = max(groupScale, scaleAt(j));
    }
    let q = quantum;
    if (!dominant && groupAddendFraction !== NONE && !zero && addend.e >= groupE)
      q = max(quantum, addend.e - groupAddendFraction);
    wideSum(a + start, b + start, n, 8, low, RZ);
    wide.cutWide(q, RZ);
    if (prune && groupScale < topScale && (wide.isZero() || wide.leadingExponent() < leaveOut)) continue;
    wide.merge();
  }
  wide.select(false);
}

/** Whether accumulator 0 is a nonzero subnormal of the output. */
function wideIsSubnormal(): bool {
  if (wide.isZero()) return false;
  const emin = 2 - (1 << (outExponentBits - 1));
  const leading = wide.leadingExponent();
  return leading < emin && leading >= emin - outFractionBits;
}

/** Sum in units of 2^quantum of the cut groups and the cut addend; `prune` applies leaveOut. */
function sumGroups(a: usize, b: usize, k: i32, quantum: i32, dominant: bool, prune: bool): i64 {
  const size = dominant ? dominantGroup : group;
  const zero = addend.sig === 0;
  let total: i64 = 0;
  if (!zero) {
    const kept = i64(cut(addend.sig, quantum - (addend.e - addend.bits), false, RZ));
    total = addend.negative ? -kept : kept;
  }
  for (let i = 0; i < instruction; i += size) {
    const sum = sumGroup(a, b, k + i, min(size, instruction - i));
    if (groupE === NONE) continue;
    let q = quantum;
    if (!dominant && groupAddendFraction !== NONE && !zero && addend.e >= groupE)
      q = max(quantum, addend.e - groupAddendFraction);
    const kept = cutSigned(sum, q - groupLsb, RZ) << u64(q - quantum);
    if (prune && groupScale < topScale && isBelow(kept, quantum, leaveOut)) continue;
    total += kept;
  }
  return total;
}

/** |value| * 2^lsb < 2^exponent. */
function isBelow(value: i64, lsb: i32, exponent: i32): bool {
  return value === 0 || 63 - i32(clz(value < 0 ? -value : value)) + lsb < exponent;
}

/** Whether RZ gives a nonzero subnormal. */
function isSubnormal(value: i64, lsb: i32): bool {
  const emin = 2 - (1 << (outExponentBits - 1));
  return isBelow(value, lsb, emin) && !isBelow(value, lsb, emin - outFractionBits);
}

export function scaledGroups(a: usize, b: usize, k: i32, word: u64): u64 {
  for (let i = 0; i < k; i += instruction) {
    addend.take(word);
    word = step(a, b, i, word);
  }
  return word;
}
