/** Rules of a window over products: block length, floor, fraction, alignment, underflow, and c inside it. */
import type { Output } from '@bitmma/core';
import type { Bounds } from '../bounds.js';
import type { Rewriter } from '../rewriter.js';

export function block(r: Rewriter, length: number): void {
  if (r.number('block') > length)
    r.set('block', length, `an instruction has ${length} terms for one block: a longer one is the same`);
}

export function underflow(r: Rewriter, bounds: Bounds, lowest: number, canonical: Output['underflow']): void {
  if (r.fields.output.rounding === 'RD')
    r.set(
      'output.underflow',
      canonical,
      'rounding down takes only positive sums to zero, whose sign is + either way',
    );
  const smallest = bounds.d.emin - r.fields.output.precision;
  if (lowest >= smallest)
    r.set(
      'output.underflow',
      canonical,
      `every sum is a multiple of 2^${lowest}, the smallest result is 2^${smallest}: none rounds to zero`,
    );
}

/**
 * The greatest exponent E such that N products (c is zero, or leads above) of exponents below E round to +0:
 * they are less than 4N 2^(E-1), the smallest result is 2^(emin-p), half of it under RNE.
 */
function invisible(r: Rewriter, bounds: Bounds): number {
  const { rounding, precision, underflow: sign } = r.fields.output;
  if (sign !== 'positive' || (rounding !== 'RZ' && rounding !== 'RNE')) return Number.NEGATIVE_INFINITY;
  const n = Math.min(r.number('block'), bounds.terms);
  const smallest = bounds.d.emin - precision - (rounding === 'RNE' ? 1 : 0);
  const least = Math.min(bounds.c.emin, bounds.d.emin);
  return Math.min(least, smallest - Math.ceil(Math.log2(4 * n)) + 1);
}

/** A window over products, with c where it takes part. `ends`: its exponent is not used after it. */
export function windowRules(r: Rewriter, bounds: Bounds, withC: boolean, ends = true): void {
  const lowest = withC ? bounds.term : bounds.product;
  const least = withC ? Math.min(bounds.emin, bounds.c.emin) : bounds.emin;
  const most = withC ? Math.max(bounds.emax, bounds.c.top) : bounds.emax;
  const floor = r.fields.floor as number | null;
  const fraction = r.number('fraction');
  if (floor !== null) {
    if (floor <= least)
      r.set('floor', null, `no term has an exponent below ${least}: the floor ${floor} never binds`);
    else if (ends && floor <= invisible(r, bounds))
      r.set(
        'floor',
        null,
        `terms below 2^${floor} sum to less than any result: they round to zero whatever is cut`,
      );
    else if (ends && floor - fraction <= lowest)
      r.set(
        'floor',
        null,
        `below the floor every bit lies at 2^${lowest} or above, which 2^${floor - fraction} keeps`,
      );
  }
  const raised = Math.max(
    most,
    (r.fields.floor as number | null) ?? most,
    (r.fields.zeroAddendExponent as number | null) ?? most,
  );
  if (raised - fraction <= lowest) {
    r.set(
      'fraction',
      raised - lowest,
      `bits span 2^${lowest} to 2^${raised}: ${raised - lowest} bits keep all of them`,
    );
    r.set('alignment', 'RZ', 'no term has a bit below the quantum: nothing is cut');
    if (ends) r.set('floor', null, 'nothing is cut: the exponent of the window does not matter');
  }
}

export function overflow(r: Rewriter, bounds: Bounds): void {
  const o = r.fields.productOverflow as number | null;
  if (o !== null && o >= bounds.below)
    r.set('productOverflow', null, `every product is below 2^${bounds.below}: none reaches 2^${o}`);
}

/** Lowest bit that a window's sum may have. */
export function lowestSum(r: Rewriter, bounds: Bounds, withC: boolean): number {
  const least = Math.max(
    withC ? Math.min(bounds.emin, bounds.c.emin) : bounds.emin,
    (r.fields.floor as number | null) ?? Number.NEGATIVE_INFINITY,
  );
  return Math.max(withC ? bounds.term : bounds.product, least - r.number('fraction'));
}

export function fused(r: Rewriter, bounds: Bounds): void {
  block(r, bounds.k);
  overflow(r, bounds);
  const floor = r.fields.floor as number | null;
  if (floor !== null && floor <= bounds.c.emin) {
    // The window's exponent lies below such a floor only where c is zero.
    const given = r.fields.zeroAddendExponent as number | null;
    const reason = `a nonzero c has an exponent of at least ${bounds.c.emin}: the floor ${floor} is the exponent of c = 0`;
    r.set('zeroAddendExponent', Math.max(given ?? floor, floor), reason);
    r.set('floor', null, reason);
  }
  const z = r.fields.zeroAddendExponent as number | null;
  if (z !== null) {
    if (z <= bounds.emin)
      r.set(
        'zeroAddendExponent',
        null,
        `no product has an exponent below ${bounds.emin}: c = 0 at ${z} never leads`,
      );
    else if (z <= invisible(r, bounds))
      r.set(
        'zeroAddendExponent',
        null,
        `products below 2^${z} sum to less than any result: they round to zero whatever is cut`,
      );
    else if (z - r.number('fraction') <= bounds.product)
      r.set('zeroAddendExponent', null, `2^${z - r.number('fraction')} keeps every bit of every product`);
  }
  windowRules(r, bounds, true);
  underflow(r, bounds, lowestSum(r, bounds, true), 'positive');
  const exactSum = Math.max(bounds.emax, bounds.c.top) - r.number('fraction') <= bounds.term;
  if (exactSum && r.fields.zeroAddendExponent === null && r.fields.productOverflow === null) {
    const { block: n, output } = r.fields;
    for (const key of Object.keys(r.fields)) delete r.fields[key];
    Object.assign(r.fields, { kind: 'exact', block: n, output });
    r.rewrites.push({ field: 'kind', reason: 'a window that keeps every bit is an exact sum' });
  }
}
