/** Rules of the CDNA3 kinds: c joins the sum of a window that it took no part in. */
import type { Bounds } from '../bounds.js';
import type { Rewriter } from '../rewriter.js';
import { block, lowestSum, overflow, underflow, windowRules } from './window.js';

/** A sum of products at exponent E is a multiple of 2^(E - kept). */
const keptBits = (r: Rewriter): number =>
  Math.max(r.number('fraction'), (r.fields.mergeFraction as number | undefined) ?? 0);

function lateAddend(r: Rewriter, bounds: Bounds): void {
  overflow(r, bounds);
  const before = r.number('zeroAddendExponent');
  if (before < bounds.emin)
    r.set(
      'zeroAddendExponent',
      bounds.emin,
      `no product has an exponent below ${bounds.emin}: c = 0 at ${before} never leads`,
    );
  const reach = r.fields.addendReach as number | null;
  const a = r.number('addendFraction');
  if (reach !== null) {
    const far = bounds.emax - bounds.c.emin;
    if (reach >= far) r.set('addendReach', null, `no product lies more than ${far} above c's least exponent`);
    else if (r.fields.addendRounding === 'RZ' && reach >= a)
      r.set('addendReach', null, `a c more than ${reach} below is cut to zero anyway`);
    else if (r.fields.addendRounding === 'RNE' && reach >= a + 1)
      r.set('addendReach', null, `a c more than ${reach} below is less than half a quantum: zero anyway`);
  }
  const normal = r.fields.normalFraction as number | null;
  const sum = r.number('sumFraction');
  const n = Math.min(r.number('block'), bounds.terms);
  // |A| < 2^(e_c+1) + 4N 2^(e_c-1): its leading exponent is at most e_c + carry.
  const carry = Math.floor(Math.log2(2 + 2 * n));
  if (normal !== null && normal >= sum + carry && sum >= bounds.c.fraction)
    r.set(
      'normalFraction',
      null,
      `the sum leads at most ${carry} above c: a cut ${normal} below it is at or under the cut ${sum} below c`,
    );
  const { rounding, precision } = r.fields.output;
  if (
    r.fields.normalFraction !== null &&
    rounding === 'RD' &&
    r.fields.normalRounding === 'RD' &&
    normal! >= precision
  )
    r.set(
      'normalFraction',
      null,
      'the result is rounded down at the same or a higher place: a cut down before is absorbed',
    );
  if (r.fields.normalFraction === null) r.set('normalRounding', 'RZ', 'there is no cut after normalisation');
  uncutZeroAddend(r, bounds, n);
  const z = r.number('zeroAddendExponent');
  const f = (r.fields.normalFraction as number | null) ?? 0;
  if (
    r.fields.normalFraction !== null &&
    sum > f + 1 &&
    r.fields.sumRounding === r.fields.normalRounding &&
    r.fields.sumRounding === 'RD' &&
    Math.log2(4 * n) + keptBits(r) <= f + 1 &&
    (z <= bounds.emin || z <= bounds.d.emin + 1)
  )
    r.set(
      'sumFraction',
      f + 1,
      `products with bits more than ${f + 1} below c sum to less than half of c, so the sum leads at c's exponent or ` +
        `one below and is cut down at ${f + 1} below c or above: a finer cut down before that is absorbed`,
    );
  zeroAddend(r, bounds, n);
}

/**
 * c = 0 at exponent z where no sum of products has a bit to cut: products are multiples of the lowest one's bit, which
 * z - sumFraction and emin - normalFraction keep; a sum at E leads at most log2(4N) above it and has no bit below
 * E - kept.
 */
function uncutZeroAddend(r: Rewriter, bounds: Bounds, n: number): void {
  const z = r.number('zeroAddendExponent');
  const normal = r.fields.normalFraction as number | null;
  if (z - r.number('sumFraction') > bounds.product) return;
  if (normal !== null && bounds.d.emin - normal > bounds.product) return;
  if (normal !== null && Math.ceil(Math.log2(4 * n)) > normal - keptBits(r)) return;
  r.set(
    'zeroAddendExponent',
    bounds.emin,
    `products are multiples of 2^${bounds.product}: of their sums alone c = 0 at ${z} cuts nothing`,
  );
}

/**
 * c = 0 at exponent z. Products below z are cut at z - sumFraction and, led by n, at max(n, emin) - normalFraction;
 * products at z or above are not cut. Where the first cut is no coarser than the second at emin, and the second cuts
 * nothing of sums whose products reach emin - normalFraction + F, z does not matter.
 */
function zeroAddend(r: Rewriter, bounds: Bounds, n: number): void {
  const z = r.number('zeroAddendExponent');
  const normal = r.fields.normalFraction as number | null;
  const sum = r.number('sumFraction');
  const fraction = keptBits(r);
  if (normal === null || r.fields.sumRounding !== r.fields.normalRounding || r.fields.sumRounding === 'RNE')
    return;
  if (r.fields.floor !== null || Math.ceil(Math.log2(4 * n)) > normal - fraction) return;
  const { emin } = bounds.d;
  const low = emin - normal + fraction;
  const high = Math.min(emin - normal + sum, emin + sum - fraction);
  if (z >= low && z <= high && emin >= low && emin <= high)
    r.set(
      'zeroAddendExponent',
      Math.max(emin, bounds.emin),
      `c = 0 at any exponent from ${low} to ${high}: a subnormal sum is cut at 2^${emin - normal} whichever comes first, ` +
        'and a higher one has no bit to cut',
    );
}

export function cdna3(r: Rewriter, bounds: Bounds, oddEven: boolean): void {
  block(r, oddEven ? bounds.k + (bounds.k % 2) : bounds.k);
  windowRules(r, bounds, false, false);
  if (oddEven) {
    const m = r.number('mergeFraction');
    const enough = Math.min(bounds.emax - bounds.product, r.number('fraction') + bounds.emax - bounds.emin);
    if (m >= enough) {
      r.set(
        'mergeFraction',
        enough,
        `the two sums' bits span ${enough}: a cut ${m} below their exponent cuts nothing`,
      );
      r.set('mergeRounding', 'RZ', 'the merge cuts nothing');
    }
  }
  lateAddend(r, bounds);
  underflow(
    r,
    bounds,
    Math.max(bounds.term, Math.min(bounds.product, lowestSum(r, bounds, false))),
    'signed',
  );
}
