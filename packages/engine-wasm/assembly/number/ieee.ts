import { flushResults, outExponentBits, outFractionBits, precision, RD, rounding } from '../params';
import * as addend from './addend';
import { INFINITE, LIMIT, NOT_A_NUMBER, ZERO } from './element';
import { infinity, nanWord, roundTo, zeroWord } from './round';
import * as wide from './wide';

/** A subnormal result becomes zero of its sign where the op says so. */
export function flush(word: u64): u64 {
  const magnitude = word & ((u64(1) << u64(outExponentBits + outFractionBits)) - 1);
  return flushResults !== 0 && magnitude >> u64(outFractionBits) === 0 ? word ^ magnitude : word;
}

/**
 * (-1)^n * (high * 2^64 + low) * 2^lsb + addend, one rounding: a product plus the addend taken last. IEEE rules for
 * the sign of zero; both finite.
 */
export function addFinite(n: bool, high: u64, low: u64, lsb: i32, mode: i32, p: i32): u64 {
  const productZero = high === 0 && low === 0;
  const addendZero = addend.sig === 0;
  if (productZero && addendZero) return zeroWord(n === addend.negative ? n : mode === RD);
  const cLsb = addend.e - addend.bits;
  const least = productZero ? cLsb : addendZero ? lsb : min(lsb, cLsb);
  const most = productZero ? cLsb + 64 : addendZero ? lsb + 128 : max(lsb + 128, cLsb + 64);
  wide.open(least, most);
  wide.select(false);
  if (!productZero) {
    wide.add(n, low, lsb);
    wide.add(n, high, lsb + 64);
  }
  if (!addendZero) wide.add(addend.negative, addend.sig, cLsb);
  if (wide.isZero()) return zeroWord(mode === RD);
  return wide.roundWideTo(mode, p, true);
}

/** x + y of output words, rounded to p fraction bits by `mode`; IEEE throughout. */
export function add(x: u64, y: u64, mode: i32, p: i32): u64 {
  addend.take(x);
  const xNegative = addend.negative;
  const xSig = addend.sig;
  const xE = addend.e;
  const lsb = xE - addend.bits;
  addend.take(y);
  return addTaken(xNegative, xSig, xE, lsb, mode, p);
}

/** (-1)^n * sig * 2^lsb, special where e says so, plus the addend taken last. */
export function addTaken(n: bool, sig: u64, e: i32, lsb: i32, mode: i32, p: i32): u64 {
  if (e === NOT_A_NUMBER || addend.e === NOT_A_NUMBER) return nanWord();
  if (e === INFINITE) return addend.e === INFINITE && addend.negative !== n ? nanWord() : infinity(n);
  if (addend.e === INFINITE) return infinity(addend.negative);
  return addFinite(n, 0, sig, lsb, mode, p);
}

/** x * y of packed elements (sign and significand, exponent), rounded as the output says. */
export function multiply(x: u32, xe: i32, y: u32, ye: i32, productBits: i32): u64 {
  const n = i32(x ^ y) < 0;
  if (xe === NOT_A_NUMBER || ye === NOT_A_NUMBER) return nanWord();
  if (xe === INFINITE || ye === INFINITE) return xe === ZERO || ye === ZERO ? nanWord() : infinity(n);
  if (xe < -LIMIT || ye < -LIMIT) return zeroWord(n);
  const mag = u64(x & 0x7fffffff) * u64(y & 0x7fffffff);
  return roundTo(n, mag, xe + ye - productBits, false, rounding, precision, true);
}
