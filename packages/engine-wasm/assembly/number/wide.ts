// Two's complement fixed-point accumulators of 64-bit limbs, for sums that 62 bits do not hold. open() sets the
// exponent of bit 0 and the number of limbs from the smallest and largest exponents that a step can meet.
import { RD, RNE, RU, RZ } from '../params';
import { round, roundTo } from './round';

/** fp64 products and addends reach from 2^-2148 to 2^2050; ue8m0-scaled fp32 products stay inside. */
const LIMBS: i32 = 80;
const A: usize = memory.data(640);
const B: usize = memory.data(640);

let base: i32 = 0;
let limbs: i32 = 0;

/** Selects the accumulator that the functions below work on: 0 or 1. */
let acc: usize = A;
export function select(second: bool): void {
  acc = second ? B : A;
}

/** Clears both accumulators for values of multiples of 2^low below 2^high. */
export function open(low: i32, high: i32): void {
  base = low;
  limbs = ((high - low) >> 6) + 2;
  if (limbs > LIMBS) unreachable();
  memory.fill(A, 0, usize(limbs) << 3);
  memory.fill(B, 0, usize(limbs) << 3);
}

/** Clears accumulator 1 and selects it. */
export function clearSecond(): void {
  memory.fill(B, 0, usize(limbs) << 3);
  acc = B;
}

// @ts-ignore: decorator
@inline
function at(limb: i32): usize {
  return acc + (usize(limb) << 3);
}

function addAt(limb: i32, value: u64): void {
  for (let i = limb; i < limbs && value !== 0; i++) {
    const old = load<u64>(at(i));
    store<u64>(at(i), old + value);
    value = u64(old + value < old);
  }
}

function subtractAt(limb: i32, value: u64): void {
  for (let i = limb; i < limbs && value !== 0; i++) {
    const old = load<u64>(at(i));
    store<u64>(at(i), old - value);
    value = u64(old < value);
  }
}

/** Adds (-1)^negative * mag * 2^lsb. */
export function add(negative: bool, mag: u64, lsb: i32): void {
  if (mag === 0) return;
  const bit = lsb - base;
  const limb = bit >> 6;
  const shift = u64(bit & 63);
  const low = mag << shift;
  const high = shift === 0 ? 0 : mag >> (64 - shift);
  if (negative) {
    subtractAt(limb, low);
    subtractAt(limb + 1, high);
  } else {
    addAt(limb, low);
    addAt(limb + 1, high);
  }
}

/** Adds accumulator 1 to accumulator 0 and selects 0. */
export function merge(): void {
  let carry: u64 = 0;
  for (let i = 0; i < limbs; i++) {
    const x = load<u64>(A + (usize(i) << 3));
    const y = load<u64>(B + (usize(i) << 3));
    const s = x + y;
    const t = s + carry;
    carry = u64(s < x) | u64(t < s);
    store<u64>(A + (usize(i) << 3), t);
  }
  acc = A;
}

export function isNegative(): bool {
  return load<i64>(at(limbs - 1)) < 0;
}

export function isZero(): bool {
  for (let i = 0; i < limbs; i++) if (load<u64>(at(i)) !== 0) return false;
  return true;
}

function negate(): void {
  let carry: u64 = 1;
  for (let i = 0; i < limbs; i++) {
    const v = ~load<u64>(at(i)) + carry;
    carry = u64(carry === 1 && v === 0);
    store<u64>(at(i), v);
  }
}

function bitAt(bit: i32): bool {
  if (bit < 0) return false;
  const limb = bit >> 6;
  return ((load<u64>(at(limb < limbs ? limb : limbs - 1)) >> u64(limb < limbs ? bit & 63 : 63)) & 1) === 1;
}

/** Whether a bit below `bit` is set. */
function anyBelow(bit: i32): bool {
  if (bit <= 0) return false;
  const limb = bit >> 6;
  const whole = limb < limbs ? limb : limbs;
  for (let i = 0; i < whole; i++) if (load<u64>(at(i)) !== 0) return true;
  return limb < limbs && (load<u64>(at(limb)) & ((u64(1) << u64(bit & 63)) - 1)) !== 0;
}

function clearBelow(bit: i32): void {
  const limb = bit >> 6;
  const whole = limb < limbs ? limb : limbs;
  for (let i = 0; i < whole; i++) store<u64>(at(i), 0);
  if (limb < limbs) store<u64>(at(limb), load<u64>(at(limb)) & ~((u64(1) << u64(bit & 63)) - 1));
}

/** Rounds the value to a multiple of 2^quantum; open() must have left room for 2^quantum. */
export function cutWide(quantum: i32, mode: i32): void {
  const bit = quantum - base;
  if (!anyBelow(bit)) return;
  const negative = isNegative();
  const half = bitAt(bit - 1);
  const below = anyBelow(bit - 1);
  const odd = bitAt(bit);
  clearBelow(bit);
  const up = mode === RZ ? negative : mode === RD ? false : mode === RU ? true : half && (below || odd);
  if (up) addAt(bit >> 6, u64(1) << u64(bit & 63));
}

/** Exponent of the leading bit of the nonzero magnitude. */
export function leadingExponent(): i32 {
  const negative = isNegative();
  if (negative) negate();
  let i = limbs - 1;
  while (load<u64>(at(i)) === 0) i--;
  const leading = (i << 6) + 63 - i32(clz(load<u64>(at(i)))) + base;
  if (negative) negate();
  return leading;
}

/** The word of the value, rounded as the op's output says; exact zero +0. The accumulator becomes its magnitude. */
export function roundWide(): u64 {
  if (isZero()) return 0;
  takeTop();
  return round(topNegative, topMag, topLsb, topSticky);
}

/** roundWide() by another rounding and precision, zero of the value's sign. */
export function roundWideTo(mode: i32, p: i32, signed: bool): u64 {
  takeTop();
  return roundTo(topNegative, topMag, topLsb, topSticky, mode, p, signed);
}

let topNegative: bool = false;
let topMag: u64 = 0;
let topLsb: i32 = 0;
let topSticky: bool = false;

/** The 64 leading bits of the nonzero magnitude, and whether anything is below them. */
function takeTop(): void {
  topNegative = isNegative();
  if (topNegative) negate();
  let i = limbs - 1;
  while (load<u64>(at(i)) === 0) i--;
  const shift = i32(clz(load<u64>(at(i))));
  topMag = load<u64>(at(i)) << u64(shift);
  if (shift > 0 && i > 0) topMag |= load<u64>(at(i - 1)) >> u64(64 - shift);
  const bit = (i << 6) - shift;
  topLsb = bit + base;
  topSticky = anyBelow(bit);
}
