import type { FloatFormat } from '@bitmma/core';

/** s * 2^x with an integer |s| < 2^53. */
export interface Dyadic {
  readonly s: number;
  readonly x: number;
}

export const dyadic = (s: number, x: number): Dyadic => ({ s, x });

/** Bits of an integer 0 < n < 2^53. */
export const bitLength = (n: number): number =>
  n < 2 ** 32 ? 32 - Math.clz32(n) : 64 - Math.clz32(Math.floor(n / 2 ** 32));

/** floor(log2 |s * 2^x|), s nonzero. */
export const leading = ({ s, x }: Dyadic): number => bitLength(Math.abs(s)) - 1 + x;

/** The word of a value that the format holds exactly, else null. Zero is +0; `negativeZero` in special.ts. */
export function exactWord(format: FloatFormat, { s, x }: Dyadic): bigint | null {
  const w = format.fractionBits;
  if (s === 0) return 0n;
  let m = Math.abs(s);
  let lsb = x;
  const unit = Math.max(bitLength(m) - 1 + lsb, 1 - format.bias) - w;
  while (lsb < unit && m % 2 === 0) {
    m /= 2;
    lsb++;
  }
  if (lsb < unit) return null;
  m *= 2 ** (lsb - unit);
  const e = unit + w;
  const field = m < 2 ** w ? 0 : e + format.bias;
  const fraction = m < 2 ** w ? m : m - 2 ** w;
  const ones = 2 ** format.exponentBits - 1;
  if (field > ones || (field === ones && format.specials === 'ieee')) return null;
  if (field === ones && format.specials === 'nan-only' && fraction === 2 ** w - 1) return null;
  const sign = s < 0 ? 1n : 0n;
  if (sign === 1n && !format.signed) return null;
  const code = (((sign << BigInt(format.exponentBits)) | BigInt(field)) << BigInt(w)) | BigInt(fraction);
  return code << BigInt(format.droppedBits);
}

/** Pairs of integers with the product `s`, each below its limit, the larger in front where it fits. */
function* factors(s: number, limitA: number, limitB: number): Generator<readonly [number, number]> {
  let odd = s;
  let twos = 0;
  while (odd % 2 === 0) {
    odd /= 2;
    twos++;
  }
  for (let q = 1; q < limitB && q <= odd; q += 2)
    if (odd % q === 0 && odd / q < limitA) yield [(odd / q) * 2 ** twos, q];
}

/**
 * Words of a and b whose exact product is the value, or null: the significand as far as it goes in a, exponents
 * split so that both are normal where that is possible.
 */
export function factorise(
  a: FloatFormat,
  b: FloatFormat,
  { s, x }: Dyadic,
): readonly [bigint, bigint] | null {
  if (s === 0) return [0n, 0n];
  const m = Math.abs(s);
  const sign = s < 0 ? -1 : 1;
  for (const [ma, mb] of factors(m, 2 ** (a.fractionBits + 1), 2 ** (b.fractionBits + 1))) {
    const top = 2 ** b.exponentBits - (b.specials === 'ieee' ? 2 : 1) - b.bias;
    const la = bitLength(ma) - 1;
    const lb = bitLength(mb) - 1;
    // Exponent of b's value: half of the product's first, then outwards; normal for both before subnormal.
    const e = x + la + lb;
    const middle = Math.min(top, Math.max(1 - b.bias, Math.floor(e / 2)));
    for (const normal of [true, false])
      for (let step = 0; step <= 2 * (top + b.bias + b.fractionBits); step++) {
        const eb = middle + (step % 2 === 0 ? step / 2 : -(step + 1) / 2);
        if (eb > top || eb < 1 - b.bias - b.fractionBits) continue;
        if (normal && (eb < 1 - b.bias || e - eb < 1 - a.bias)) continue;
        const wb = exactWord(b, dyadic(mb, eb - lb));
        const wa = wb === null ? null : exactWord(a, dyadic(sign * ma, e - eb - la));
        if (wa !== null && wb !== null) return [wa, wb];
      }
  }
  return null;
}
