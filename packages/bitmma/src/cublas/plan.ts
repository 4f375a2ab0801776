import type { KRange } from '@bitmma/core';
import { ContractValueError, type ContractWarning, UnsupportedFeatureError } from './errors.js';
import type { Preset, SplitScheme } from './presets.js';

/** How partial results become one: a chain, or fp32 RNE additions left to right, from +0 or from the first part. */
export type Combination =
  | { readonly kind: 'chain'; readonly chain: number }
  | { readonly kind: 'serial'; readonly from: 'zero' | 'first'; readonly parts: readonly Combination[] };

/** An accumulation plan: chains, each run from +0 over its k ranges in order, and how their results combine. */
export interface Plan {
  readonly k: number;
  readonly chains: readonly (readonly KRange[])[];
  readonly combination: Combination;
  readonly warnings: readonly ContractWarning[];
}

/** S splits and their scheme; S = 1 has none. */
export interface Split {
  readonly count: number;
  readonly scheme: SplitScheme | null;
}

export interface PlanRequest {
  readonly preset: Preset;
  readonly k: number;
  readonly useFastAccum: boolean;
  readonly split: Split;
}

/** k tile of split-K: 64 on the RTX 4060, 128 (the k stage of the sm_90 kernels) on the H100 PCIe. */
const TILE = { serial: 64, pairwise: 64, contiguous: 128 } as const;

/**
 * The plan of the contract's section 2. Throws UnsupportedFeatureError for slow accumulation or split-K that the
 * preset does not characterise, ContractValueError for a scheme of another preset.
 */
export function makePlan({ preset, k, useFastAccum, split }: PlanRequest): Plan {
  checkSplit(preset, split);
  if (!useFastAccum && preset.slowChunk === null)
    throw new UnsupportedFeatureError(`slow accumulation is not characterised for preset ${preset.name}`);
  const warnings: ContractWarning[] = [];
  if (split.count === 1 || split.scheme === null) {
    const builder = new PlanBuilder(k);
    const whole = useFastAccum
      ? builder.chain([{ k0: 0, k1: k }])
      : builder.restarting(consecutive(k, preset.slowChunk!).map((range) => [range]));
    return builder.finish(whole, warnings);
  }
  const tileLength = TILE[split.scheme];
  const tiles = consecutive(k, tileLength);
  const owned = ownTiles(tiles, split.count, split.scheme);
  const empty = owned.filter((part) => part.length === 0).length;
  if (empty > 0)
    warnings.push({
      kind: 'unverified-split',
      message: `${empty} of ${split.count} splits own no k tile of ${k}; such a split was never recorded`,
    });
  const builder = new PlanBuilder(k);
  const perChain = useFastAccum ? Number.POSITIVE_INFINITY : preset.slowChunk! / tileLength;
  const parts = owned.map((part) =>
    useFastAccum ? builder.chain(part) : builder.restarting(groupTiles(part, perChain)),
  );
  const combination = split.scheme === 'pairwise' ? pairwise(parts) : serial('first', parts);
  return builder.finish(combination, warnings);
}

class PlanBuilder {
  readonly #chains: KRange[][] = [];
  constructor(readonly k: number) {}

  chain(ranges: readonly KRange[]): Combination {
    this.#chains.push(joinRanges(ranges));
    return { kind: 'chain', chain: this.#chains.length - 1 };
  }

  /** Chains whose results are added serially from +0. */
  restarting(chunks: readonly (readonly KRange[])[]): Combination {
    return serial(
      'zero',
      chunks.map((chunk) => this.chain(chunk)),
    );
  }

  finish(combination: Combination, warnings: readonly ContractWarning[]): Plan {
    return { k: this.k, chains: this.#chains, combination, warnings };
  }
}

const serial = (from: 'zero' | 'first', parts: readonly Combination[]): Combination => ({
  kind: 'serial',
  from,
  parts,
});

/** cuBLASLt customOption 1: slot_i = p_i + p_(i+h) where i + h < S - 1, h = ceil(S/2); p_(S-1) first, then the slots. */
function pairwise(parts: readonly Combination[]): Combination {
  const last = parts.length - 1;
  const half = Math.ceil(parts.length / 2);
  const slots: Combination[] = [];
  for (let i = 0; i < half && i < last; i++)
    slots.push(i + half < last ? serial('first', [parts[i]!, parts[i + half]!]) : parts[i]!);
  return serial('first', [parts[last]!, ...slots]);
}

function consecutive(k: number, length: number): KRange[] {
  const ranges: KRange[] = [];
  for (let k0 = 0; k0 < k; k0 += length) ranges.push({ k0, k1: Math.min(k0 + length, k) });
  return ranges;
}

/** Ada: split s owns tiles t with t mod S = s. Hopper: q = ceil(T/S) contiguous tiles each. */
function ownTiles(tiles: readonly KRange[], count: number, scheme: SplitScheme): KRange[][] {
  if (scheme === 'contiguous') {
    const each = Math.ceil(tiles.length / count);
    return Array.from({ length: count }, (_, s) => tiles.slice(s * each, (s + 1) * each));
  }
  return Array.from({ length: count }, (_, s) => tiles.filter((_, t) => t % count === s));
}

function groupTiles(tiles: readonly KRange[], perGroup: number): KRange[][] {
  const groups: KRange[][] = [];
  for (let i = 0; i < tiles.length; i += perGroup) groups.push(tiles.slice(i, i + perGroup));
  return groups;
}

/** Adjacent ranges joined. */
function joinRanges(ranges: readonly KRange[]): KRange[] {
  const joined: KRange[] = [];
  for (const range of ranges) {
    const last = joined.at(-1);
    if (last?.k1 === range.k0) joined[joined.length - 1] = { k0: last.k0, k1: range.k1 };
    else joined.push(range);
  }
  return joined;
}

function checkSplit(preset: Preset, { count, scheme }: Split): void {
  if (!Number.isInteger(count) || count < 1)
    throw new ContractValueError(`splitK: expected a whole number of at least 1, got ${count}`);
  if (count === 1) return;
  if (preset.schemes.length === 0)
    throw new UnsupportedFeatureError(`split-K is not characterised for preset ${preset.name}`);
  if (scheme === null || !preset.schemes.includes(scheme))
    throw new ContractValueError(
      `splitK: expected the scheme ${preset.schemes.join(' or ')} on preset ${preset.name}, got ${scheme ?? 'none'}`,
    );
}

/** A plan in words, one line a chain, then the combination. */
export function describePlan(plan: Plan): string {
  const ranges = (chain: readonly KRange[]) =>
    chain.length === 0 ? 'no k (+0)' : chain.map(({ k0, k1 }) => `${k0}..${k1}`).join(' ');
  const formula = (c: Combination): string =>
    c.kind === 'chain'
      ? `ch${c.chain}`
      : [...(c.from === 'zero' ? ['+0'] : []), ...c.parts.map(formula)].reduce(
          (sum, part) => `(${sum} + ${part})`,
        );
  const lines = plan.chains.map((chain, i) => `ch${i}: ${ranges(chain)}`);
  return [...lines, `accumulator = ${formula(plan.combination)}, fp32 round to nearest even`].join('\n');
}
