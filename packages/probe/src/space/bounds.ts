/** What the operands of a signature can hold: the bounds that the rules of the normal form speak of. */
import { exponentsOf, productRange, type Signature } from '../signature.js';
import { slotCount } from '../vectors/spec.js';

/** Bounds that the rules speak of. */
export interface Bounds {
  /** Lowest bit of any product, of any product or c. */
  readonly product: number;
  readonly term: number;
  /** Least and greatest encoded exponent of a nonzero product. */
  readonly emin: number;
  readonly emax: number;
  readonly below: number;
  readonly c: ReturnType<typeof exponentsOf>;
  readonly d: ReturnType<typeof exponentsOf>;
  readonly k: number;
  /** Products that a block of K holds: the active ones of a sparse op. */
  readonly terms: number;
}

export function boundsOf(signature: Signature): Bounds {
  const { bottom, emin, emax, below } = productRange(signature);
  const c = exponentsOf(signature.c);
  // c of a later block is an earlier block's result.
  const d = exponentsOf(signature.d);
  const addend = {
    ...c,
    bottom: Math.min(c.bottom, d.bottom),
    emin: Math.min(c.emin, d.emin),
    top: Math.max(c.top, d.top),
  };
  return {
    product: bottom,
    term: Math.min(bottom, addend.bottom),
    emin,
    emax,
    below,
    c: addend,
    d,
    k: signature.k,
    terms: slotCount(signature),
  };
}
