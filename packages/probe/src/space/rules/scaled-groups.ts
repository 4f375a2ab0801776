/** Rules of block-scaled groups. */
import { exponentsOf, type Signature, scaleRange } from '../../signature.js';
import type { Bounds } from '../bounds.js';
import type { Rewriter } from '../rewriter.js';
import { underflow } from './window.js';

export function scaledGroups(r: Rewriter, bounds: Bounds, signature: Signature): void {
  const t = exponentsOf(signature.a).top + exponentsOf(signature.b).top;
  const s = r.number('scaleFraction');
  if (r.number('productFraction') > s + t)
    r.set(
      'productFraction',
      s + t,
      `a product leads its scale by at most ${t}: R - ${s + t} never exceeds S - ${s}`,
    );
  const g = r.fields.groupAddendFraction as number | null;
  if (g !== null && g >= s + t - 1)
    r.set('groupAddendFraction', null, `e_c < R <= S + ${t}: e_c - ${g} never exceeds S - ${s}`);
  const leave = r.fields.leaveOut as number | null;
  const lowest = 2 * scaleRange(signature).low - s;
  if (leave !== null) {
    if (lowest >= leave) r.set('leaveOut', null, `no quantum lies below 2^${lowest}`);
    else if (bounds.product >= bounds.d.emin) r.set('leaveOut', null, 'no sum of products is subnormal');
  }
  underflow(r, bounds, Math.max(bounds.term, Math.min(lowest, bounds.c.bottom)), 'positive');
}
