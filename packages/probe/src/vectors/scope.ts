import { exponentsOf, type Signature } from '../signature.js';
import { type Cases, slotCount, slotPositions, type Spec } from './spec.js';
import type { Dyadic } from './word.js';

/** What the writers of vectors need to know of a signature. */
export interface Scope {
  readonly signature: Signature;
  readonly cases: Cases;
  /** Products that the op computes with. */
  readonly slots: number;
  /** Powers of two that one product can be, scales at one. */
  readonly low: number;
  readonly high: number;
  readonly c: ReturnType<typeof exponentsOf>;
  readonly d: ReturnType<typeof exponentsOf>;
  /** Exponent at which vectors without a reason of their own put their largest term. */
  readonly middle: number;
  add(spec: Spec): boolean;
}

export function scopeOf(signature: Signature, cases: Cases, precision?: number): Scope {
  const a = exponentsOf(signature.a);
  const b = exponentsOf(signature.b);
  const own = exponentsOf(signature.d);
  const d = precision === undefined ? own : { ...own, fraction: precision };
  const low = a.bottom + b.bottom;
  const high = a.top + b.top;
  return {
    signature,
    cases,
    slots: slotCount(signature),
    low,
    high,
    c: exponentsOf(signature.c),
    d,
    middle: Math.min(Math.max(0, low + 2), high),
    add: (spec) => cases.add(spec),
  };
}

/** m * 2^e for a short significand: m an integer with its unit at 2^e. */
export const at = (m: number, e: number): Dyadic => ({ s: m, x: e });

/** Power of two. */
export const pow = (e: number, sign: 1 | -1 = 1): Dyadic => ({ s: sign, x: e });

/** 1.f * 2^e with the fraction bits named by their distance from the leading bit. */
export function bitsAt(e: number, distances: readonly number[], sign: 1 | -1 = 1): Dyadic {
  const last = Math.max(0, ...distances);
  let s = 2 ** last;
  for (const distance of distances) s += 2 ** (last - distance);
  return { s: sign * s, x: e - last };
}

/**
 * Slots of three products of one sum, in the arrangements that known interleavings keep together: neighbours, every
 * second one (odd-even), and those whose k has the same bit 1.
 */
export function trios(scope: Scope): (readonly [number, number, number])[] {
  const sets: [number, number, number][] = [
    [0, 1, 2],
    [0, 2, 4],
    [0, 1, 4],
  ];
  return sets.filter((set) => set.every((slot) => slot < scope.slots));
}

/** Slot by logical k, where it is active. */
export function slotOf(signature: Signature, k: number): number | null {
  const slot = slotPositions(signature).indexOf(k);
  return slot < 0 ? null : slot;
}
