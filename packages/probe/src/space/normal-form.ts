/**
 * Proofs that two datapaths of one signature give the same words. Each rule replaces a field by a canonical value
 * where, for these operands, no case can depend on it; the reason is the proof. Equal normal forms: equal words.
 */
import type { Datapath, Output } from '@bitmma/core';
import { canonicalJson } from '@bitmma/core';
import { exponentsOf, productRange, type Signature, scaleRange } from '../signature.js';
import { slotCount } from '../vectors/spec.js';

export interface Rewrite {
  readonly field: string;
  readonly reason: string;
}

export interface NormalForm {
  readonly datapath: Datapath;
  readonly rewrites: readonly Rewrite[];
}

/** Bounds that the rules speak of. */
interface Bounds {
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

function boundsOf(signature: Signature): Bounds {
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

type Fields = Record<string, unknown> & { output: Output };

class Rewriter {
  readonly rewrites: Rewrite[] = [];
  constructor(readonly fields: Fields) {}

  set(field: string, value: unknown, reason: string): void {
    const [outer, inner] = field.split('.');
    const holder = inner === undefined ? this.fields : (this.fields[outer] as Record<string, unknown>);
    const key = inner ?? outer;
    if (holder[key] === value) return;
    if (inner === undefined) this.fields[outer] = value;
    else this.fields[outer] = { ...holder, [inner]: value };
    this.rewrites.push({ field, reason });
  }

  number(field: string): number {
    return this.fields[field] as number;
  }
}

function block(r: Rewriter, length: number): void {
  if (r.number('block') > length)
    r.set('block', length, `an instruction has ${length} terms for one block: a longer one is the same`);
}

function underflow(r: Rewriter, bounds: Bounds, lowest: number, canonical: Output['underflow']): void {
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
function windowRules(r: Rewriter, bounds: Bounds, withC: boolean, ends = true): void {
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

function overflow(r: Rewriter, bounds: Bounds): void {
  const o = r.fields.productOverflow as number | null;
  if (o !== null && o >= bounds.below)
    r.set('productOverflow', null, `every product is below 2^${bounds.below}: none reaches 2^${o}`);
}

/** Lowest bit that a window's sum may have. */
function lowestSum(r: Rewriter, bounds: Bounds, withC: boolean): number {
  const least = Math.max(
    withC ? Math.min(bounds.emin, bounds.c.emin) : bounds.emin,
    (r.fields.floor as number | null) ?? Number.NEGATIVE_INFINITY,
  );
  return Math.max(withC ? bounds.term : bounds.product, least - r.number('fraction'));
}

function fused(r: Rewriter, bounds: Bounds): void {
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

function lateAddend(r: Rewriter, bounds: Bounds): void {
  overflow(r, bounds);
  const z = r.number('zeroAddendExponent');
  if (z < bounds.emin)
    r.set(
      'zeroAddendExponent',
      bounds.emin,
      `no product has an exponent below ${bounds.emin}: c = 0 at ${z} never leads`,
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
  const f = (r.fields.normalFraction as number | null) ?? 0;
  if (
    r.fields.normalFraction !== null &&
    sum > f + 1 &&
    r.fields.sumRounding === r.fields.normalRounding &&
    r.fields.sumRounding === 'RD' &&
    Math.log2(4 * n) + r.number('fraction') <= f + 1 &&
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
 * c = 0 at exponent z. Products below z are cut at z - sumFraction and, led by n, at max(n, emin) - normalFraction;
 * products at z or above are not cut. Where the first cut is no coarser than the second at emin, and the second cuts
 * nothing of sums whose products reach emin - normalFraction + F, z does not matter.
 */
function zeroAddend(r: Rewriter, bounds: Bounds, n: number): void {
  const z = r.number('zeroAddendExponent');
  const normal = r.fields.normalFraction as number | null;
  const sum = r.number('sumFraction');
  const fraction = r.number('fraction');
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

function cdna3(r: Rewriter, bounds: Bounds, oddEven: boolean): void {
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

function scaledGroups(r: Rewriter, bounds: Bounds, signature: Signature): void {
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
