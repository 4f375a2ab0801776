import { e as addendE, negative as addendNegative } from './addend';
import { ABSENT, INFINITE, LIMIT, NOT_A_NUMBER, SIGN, ZERO } from './element';
import { infinity, nanWord } from './round';

export const FINITE: i32 = 0;
const PLUS: i32 = 1;
const MINUS: i32 = 2;
const NAN: i32 = 3;

/** Numerics section 3 over the products alone: FINITE, or the code of the result. */
export function productSpecial(a: usize, b: usize, n: i32): i32 {
  let found = FINITE;
  let nan = false;
  for (let i = 0; i < n; i++) {
    const x = load<i32>(a + (usize(i) << 3), 4);
    const y = load<i32>(b + (usize(i) << 3), 4);
    if (x === ABSENT || (x < LIMIT && y < LIMIT)) continue;
    if (x === NOT_A_NUMBER || y === NOT_A_NUMBER || x === ZERO || y === ZERO) nan = true;
    found |= (load<u32>(a + (usize(i) << 3)) ^ load<u32>(b + (usize(i) << 3))) & SIGN ? MINUS : PLUS;
  }
  return nan ? NAN : found;
}

/** Whether an operand of the current dot product holds a NaN or Inf; products are scanned only then. */
export let scan: bool = false;
export function setScan(on: bool): void {
  scan = on;
}

/** The same over products and the addend taken last. */
export function special(a: usize, b: usize, n: i32): i32 {
  let found = scan ? productSpecial(a, b, n) : FINITE;
  if (addendE >= LIMIT) found |= addendE === INFINITE ? (addendNegative ? MINUS : PLUS) : NAN;
  return found;
}

/** Products with |p| >= 2^limit as infinities of their sign (numerics 4.5). */
export function overflowSpecial(a: usize, b: usize, n: i32, limit: i32, productBits: i32): i32 {
  let found = FINITE;
  for (let i = 0; i < n; i++) {
    const e = load<i32>(a + (usize(i) << 3), 4) + load<i32>(b + (usize(i) << 3), 4);
    if (e + 2 <= limit) continue;
    const x = load<u32>(a + (usize(i) << 3));
    const y = load<u32>(b + (usize(i) << 3));
    const mag = u64(x & ~SIGN) * u64(y & ~SIGN);
    if (63 - i32(clz(mag)) + e - productBits < limit) continue;
    found |= (x ^ y) & SIGN ? MINUS : PLUS;
  }
  return found;
}

export function specialWord(found: i32): u64 {
  return found === NAN ? nanWord() : infinity(found === MINUS);
}
