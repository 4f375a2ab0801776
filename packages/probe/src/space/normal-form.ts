/**
 * Proofs that two datapaths of one signature give the same words. Each rule replaces a field by a canonical value
 * where, for these operands, no case can depend on it; the reason is the proof. Equal normal forms: equal words.
 */
import type { Datapath } from '@bitmma/core';
import { canonicalJson } from '@bitmma/core';
import type { Signature } from '../signature.js';
import { boundsOf } from './bounds.js';
import { type Fields, type Rewrite, Rewriter } from './rewriter.js';
import { cdna3 } from './rules/cdna3.js';
import { scaledGroups } from './rules/scaled-groups.js';
import { block, fused, lowestSum, underflow, windowRules } from './rules/window.js';

export type { Rewrite } from './rewriter.js';

export interface NormalForm {
  readonly datapath: Datapath;
  readonly rewrites: readonly Rewrite[];
}

/** The canonical datapath of a signature's datapath and what was replaced, each with its proof. */
export function normalForm(signature: Signature, datapath: Datapath): NormalForm {
  if (datapath.kind === 'integer') return { datapath, rewrites: [] };
  const bounds = boundsOf(signature);
  const r = new Rewriter({ ...datapath } as unknown as Fields);
  switch (datapath.kind) {
    case 'fused-window':
      fused(r, bounds);
      break;
    case 'late-window':
      block(r, bounds.k);
      windowRules(r, bounds, false);
      underflow(r, bounds, lowestSum(r, bounds, false), 'positive');
      break;
    case 'split-window': {
      const half = 2 ** datapath.selectBit;
      const period = 2 * half;
      const clear = Math.floor(bounds.k / period) * half + Math.min(half, bounds.k % period);
      block(r, Math.max(clear, bounds.k - clear));
      // What the first half hands on has no bit below those of its products.
      const own = { ...bounds, c: bounds.d, term: bounds.product };
      windowRules(r, own, true);
      underflow(r, own, lowestSum(r, own, true), 'positive');
      break;
    }
    case 'exact':
      block(r, bounds.k);
      underflow(r, bounds, bounds.term, 'positive');
      break;
    case 'pairwise': {
      block(r, 2 ** Math.ceil(Math.log2(bounds.k)));
      r.set('output.underflow', 'signed', 'IEEE additions keep the sign of what underflows');
      if (datapath.flushInputs && bounds.product >= bounds.d.emin + bounds.d.fraction + 1)
        r.set(
          'flushResults',
          true,
          `products are multiples of 2^${bounds.product} and c is normal: their sum is never subnormal`,
        );
      break;
    }
    case 'sequential-fma':
      r.set('output.underflow', 'signed', 'IEEE additions keep the sign of what underflows');
      break;
    case 'cdna3-window':
      cdna3(r, bounds, false);
      break;
    case 'cdna3-odd-even':
      cdna3(r, bounds, true);
      break;
    case 'scaled-window':
      underflow(
        r,
        bounds,
        Math.max(bounds.term, Math.min(bounds.emin, bounds.c.emin) - datapath.fraction),
        'positive',
      );
      break;
    case 'scaled-groups':
      scaledGroups(r, bounds, signature);
      break;
  }
  return { datapath: r.fields as unknown as Datapath, rewrites: r.rewrites };
}

/** Text of the canonical datapath: equal for datapaths proved to give equal words. */
export const normalKey = (signature: Signature, datapath: Datapath): string =>
  canonicalJson(normalForm(signature, datapath).datapath);

/** Why two datapaths give the same words for every input of the signature, or null where that is not proved. */
export function proveEqual(signature: Signature, x: Datapath, y: Datapath): readonly string[] | null {
  const left = normalForm(signature, x);
  const right = normalForm(signature, y);
  if (canonicalJson(left.datapath) !== canonicalJson(right.datapath)) return null;
  const reasons = [...left.rewrites, ...right.rewrites].map(({ field, reason }) => `${field}: ${reason}`);
  return [...new Set(reasons)];
}
