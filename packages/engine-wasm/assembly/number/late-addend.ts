import {
  addendFraction,
  addendReach,
  addendRounding,
  NONE,
  normalFraction,
  normalRounding,
  outExponentBits,
  RZ,
  sumFraction,
  sumRounding,
  zeroAddendExponent,
} from '../params';
import * as addend from './addend';
import { cut, cutSigned } from './cut';
import { round } from './round';
import { wideTerm } from './terms';
import * as wide from './wide';

// @ts-ignore: decorator
@inline
function addendExponent(): i32 {
  return addend.sig === 0 ? zeroAddendExponent : addend.e;
}

function keptBits(leading: i32): i32 {
  const emin = 2 - (1 << (outExponentBits - 1));
  return max(leading, emin) - normalFraction;
}

/**
 * CDNA3's c (numerics 4.5): the addend taken last joins the products' sum * 2^quantum, whose window has the exponent
 * e (NONE: no nonzero product). Every cut and sum fits 62 bits (host: src/narrow.ts).
 */
export function addLateAddend(sum: i64, quantum: i32, e: i32): u64 {
  const ce = addendExponent();
  const cLsb = addend.e - addend.bits;
  let lsb: i32;
  let total: i64;
  if (e !== NONE && e >= ce) {
    total = sum;
    lsb = quantum;
    if (addend.sig !== 0 && (addendReach === NONE || e - ce <= addendReach)) {
      const cq = max(e - addendFraction, cLsb);
      const kept = i64(cut(addend.sig, cq - cLsb, addend.negative, addendRounding));
      lsb = kept === 0 ? quantum : min(quantum, cq);
      total = sum << u64(quantum - lsb);
      if (kept !== 0) total += (addend.negative ? -kept : kept) << u64(cq - lsb);
    }
  } else {
    const q = max(ce - sumFraction, quantum);
    const kept = e === NONE ? 0 : cutSigned(sum, q - quantum, sumRounding);
    total = kept;
    lsb = e === NONE || kept === 0 ? cLsb : q;
    if (addend.sig !== 0) {
      const least = min(lsb, cLsb);
      total = (total << u64(lsb - least)) + (i64(addend.negative ? -i64(addend.sig) : addend.sig) << u64(cLsb - least));
      lsb = least;
    }
    if (total !== 0 && normalFraction !== NONE) {
      const leading = 63 - i32(clz(total < 0 ? -total : total)) + lsb;
      const normal = keptBits(leading);
      if (normal > lsb) {
        total = cutSigned(total, normal - lsb, normalRounding);
        lsb = normal;
      }
    }
  }
  return round(total < 0, u64(total < 0 ? -total : total), lsb, false);
}

/** addLateAddend() with the sum in wide accumulator 0; open() left room for `low`. */
export function addLateAddendWide(e: i32): u64 {
  const ce = addendExponent();
  const cLsb = addend.e - addend.bits;
  wide.select(false);
  if (e !== NONE && e >= ce) {
    if (addend.sig !== 0 && (addendReach === NONE || e - ce <= addendReach))
      wideTerm(addend.negative, addend.sig, cLsb, e - addendFraction, addendRounding);
    return wide.roundWide();
  }
  wide.cutWide(ce - sumFraction, sumRounding);
  if (addend.sig !== 0) wideTerm(addend.negative, addend.sig, cLsb, cLsb, RZ);
  if (normalFraction !== NONE && !wide.isZero()) wide.cutWide(keptBits(wide.leadingExponent()), normalRounding);
  return wide.roundWide();
}

/** Highest bit that addLateAddendWide() may set, given the largest term exponent. */
export function wideTop(e: i32): i32 {
  const ce = addendExponent();
  return max(max(e, ce), max(ce - sumFraction, e - addendFraction)) + 40;
}
