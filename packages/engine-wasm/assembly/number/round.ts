import {
  nan,
  outExponentBits,
  outFractionBits,
  precision,
  RD,
  RNE,
  RU,
  rounding,
  signedUnderflow,
} from '../params';

// @ts-ignore: decorator
@inline
export function outBias(): i32 {
  return (1 << (outExponentBits - 1)) - 1;
}

/** The output's zero of a sign. */
export function zeroWord(negative: bool): u64 {
  return u64(negative) << u64(outExponentBits + outFractionBits);
}

export function infinity(negative: bool): u64 {
  return zeroWord(negative) | (((u64(1) << u64(outExponentBits)) - 1) << u64(outFractionBits));
}

export function nanWord(): u64 {
  return nan;
}

/** Numerics section 2, round: the value (mag + a fraction if sticky) * 2^lsb to the output as the op says. */
export function round(negative: bool, mag: u64, lsb: i32, sticky: bool): u64 {
  return roundTo(negative, mag, lsb, sticky, rounding, precision, signedUnderflow !== 0);
}

/**
 * The value (mag + a fraction if sticky) * 2^lsb with p fraction bits below its leading bit, and not below 2^(emin - p).
 * An exact zero is +0. Where sticky, mag has more than p + 2 bits or is 0.
 */
export function roundTo(negative: bool, mag: u64, lsb: i32, sticky: bool, mode: i32, p: i32, signed: bool): u64 {
  if (mag === 0 && !sticky) return 0;
  const bias = outBias();
  const emin = 1 - bias;
  const leading = mag === 0 ? i32.MIN_VALUE : 63 - i32(clz(mag)) + lsb;
  const unit = (leading > emin ? leading : emin) - p;
  const shift = mag === 0 ? 64 : unit - lsb;
  let kept: u64;
  let half = false;
  let rest = sticky;
  if (shift <= 0) kept = mag << u64(-shift);
  else if (shift > 64) {
    kept = 0;
    rest = true;
  } else {
    kept = shift === 64 ? 0 : mag >> u64(shift);
    half = ((mag >> u64(shift - 1)) & 1) === 1;
    rest = rest || (mag & ((u64(1) << u64(shift - 1)) - 1)) !== 0;
  }
  if (
    (mode === RNE && half && (rest || (kept & 1) === 1)) ||
    (mode === RD && negative && (half || rest)) ||
    (mode === RU && !negative && (half || rest))
  )
    kept++;
  if (kept === 0) return signed ? zeroWord(negative) : 0;
  const bits = 63 - i32(clz(kept));
  const top = bits + unit;
  if (top > bias) return infinity(negative);
  const w = outFractionBits;
  if (top < emin) return zeroWord(negative) | (kept << u64(w - p));
  const fraction = (bits <= w ? kept << u64(w - bits) : kept >> u64(bits - w)) & ((u64(1) << u64(w)) - 1);
  return zeroWord(negative) | (u64(top + bias) << u64(w)) | fraction;
}
