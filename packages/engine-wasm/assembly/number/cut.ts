import { RD, RNE, RU, RZ } from '../params';

/** mag * 2^-shift in whole units, rounded as a number of this sign; mag < 2^63. shift < 0 must not overflow. */
export function cut(mag: u64, shift: i32, negative: bool, mode: i32): u64 {
  if (shift <= 0) return mag === 0 ? 0 : mag << u64(-shift);
  // mag < 2^63: from 64 places on the value is below half a unit.
  const kept: u64 = shift > 63 ? 0 : mag >> u64(shift);
  if (mode === RZ) return kept;
  const rest: u64 = shift > 63 ? mag : mag & ((u64(1) << u64(shift)) - 1);
  if (rest === 0) return kept;
  if (mode === RD) return negative ? kept + 1 : kept;
  if (mode === RU) return negative ? kept : kept + 1;
  if (shift > 63) return kept;
  const half = u64(1) << u64(shift - 1);
  return rest > half || (rest === half && (kept & 1) === 1) ? kept + 1 : kept;
}

/** cut() of a signed value, |value| < 2^63. */
export function cutSigned(value: i64, shift: i32, mode: i32): i64 {
  const negative = value < 0;
  const kept = i64(cut(negative ? u64(-value) : u64(value), shift, negative, mode));
  return negative ? -kept : kept;
}

/** mag * 2^-shift toward zero; shift may be anything where mag is 0. */
// @ts-ignore: decorator
@inline
export function cutZero(mag: u64, shift: i32): u64 {
  return shift <= 0 ? mag << (u64(-shift) & 63) : shift > 63 ? 0 : mag >> u64(shift);
}
