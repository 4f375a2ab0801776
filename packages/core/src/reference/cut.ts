import type { Rounding } from '../datapath/datapath.js';
import { POW2 } from '../formats/round.js';
import type { Exact } from './trace.js';

/** signed * 2^shift in whole units, rounded: trunc (RZ), floor (RD), ceiling (RU) or nearest-even (RNE). */
export function cutBig(signed: bigint, shift: number, rounding: Rounding): bigint {
  if (shift >= 0) return signed << BigInt(shift);
  const r = BigInt(-shift);
  const floor = signed >> r;
  const rest = signed - (floor << r);
  if (rest === 0n) return floor;
  switch (rounding) {
    case 'RZ':
      return signed < 0n ? floor + 1n : floor;
    case 'RD':
      return floor;
    case 'RU':
      return floor + 1n;
    case 'RNE': {
      const twice = rest << 1n;
      const one = 1n << r;
      return twice > one || (twice === one && (floor & 1n) === 1n) ? floor + 1n : floor;
    }
  }
}

/** cutBig() on an integer |signed| < 2^53 whose result is below 2^53 as well. */
export function cutSmall(signed: number, shift: number, rounding: Rounding): number {
  if (shift >= 0) return signed === 0 ? 0 : signed * POW2[shift];
  // |signed| < 2^53: beyond 60 places every result is that of 60.
  const scaled = signed / POW2[shift < -60 ? 60 : -shift];
  if (rounding === 'RZ') return Math.trunc(scaled);
  const floor = Math.floor(scaled);
  if (floor === scaled || rounding === 'RD') return floor;
  if (rounding === 'RU') return floor + 1;
  const rest = scaled - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 : floor;
}

/** A value cut to a multiple of 2^quantum, as a value with lsb = quantum. */
export const cutTo = (value: Exact, quantum: number, rounding: Rounding): Exact => ({
  signed: cutBig(value.signed, value.lsb - quantum, rounding),
  lsb: quantum,
});

/** The exact sum of two values. */
export function addExact(x: Exact, y: Exact): Exact {
  const lsb = Math.min(x.lsb, y.lsb);
  return { signed: (x.signed << BigInt(x.lsb - lsb)) + (y.signed << BigInt(y.lsb - lsb)), lsb };
}
