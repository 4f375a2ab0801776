import type { MmaOp } from '../datapath/op.js';
import { UnknownNameError } from '../errors.js';
import { CAMPAIGNS, type Campaign } from './campaigns.js';
import { allocateCases, type CaseSet } from './cases.js';
import { CaseRandom, streamOf } from './prng.js';
import { chunkPositions, legalSelectors, scaleWords, sparseWords } from './words.js';

/** The campaign of a name. */
export function campaignOf(name: string): Campaign {
  const found = CAMPAIGNS.find((campaign) => campaign.name === name);
  if (found) return found;
  const names = CAMPAIGNS.map((campaign) => campaign.name);
  throw new UnknownNameError(`campaign: expected one of ${names.join(', ')}, got ${name}`, names);
}

/** Campaigns that an op can run, in order. */
export const campaignsFor = (op: MmaOp): readonly Campaign[] =>
  CAMPAIGNS.filter((campaign) => campaign.applies(op));

export interface GenerateOptions {
  /** 0 <= seed < 2^53. */
  readonly seed: number;
  /** Index of the first case. */
  readonly start?: number;
  readonly count: number;
  /** k positions a case; default the op's K. */
  readonly k?: number;
}

/**
 * Cases start..start+count of a campaign for an op. Case i depends on the op's name, the campaign, the seed, k and i
 * alone, so any slice in any order, on any machine, has the same words.
 */
export function generateCases(op: MmaOp, campaign: Campaign, options: GenerateOptions): CaseSet {
  const { seed, start = 0, count, k = op.k } = options;
  const words = allocateCases(op, count, k);
  const stream = streamOf(`${op.device} ${op.instruction} ${campaign.name} ${k}`);
  for (let i = 0; i < count; i++) {
    const random = new CaseRandom(seed, stream, start + i);
    campaign.fill({ op, k, a: words.a, b: words.b, c: words.c, at: i * k, case: i }, random);
    if (words.scaleA && words.scaleB) {
      fillScales(op, k, campaign, random, words.scaleA, i);
      fillScales(op, k, campaign, random, words.scaleB, i);
    }
    if (words.sparse) fillSelectors(op, k, random, words.sparse, i);
  }
  return {
    op,
    source: `${campaign.name} seed ${seed}`,
    count,
    k,
    ...words,
    provenance: { campaign: campaign.name, seed: String(seed) },
    id: (index) => `${campaign.name}-${seed}-${start + index}`,
  };
}

const ONE = { ue8m0: 127, ue4m3: 0x38 } as const;

function fillScales(
  op: MmaOp,
  k: number,
  campaign: Campaign,
  random: CaseRandom,
  into: Uint8Array,
  i: number,
): void {
  const count = scaleWords(op, k);
  const format = op.scaling!.format;
  const spread = Math.min(campaign.scaleSpread, 127);
  for (let j = 0; j < count; j++) {
    if (format === 'ue8m0') into[i * count + j] = Math.min(254, ONE.ue8m0 + random.between(-spread, spread));
    else if (spread === 0) into[i * count + j] = ONE.ue4m3;
    else if (spread <= 6) into[i * count + j] = ONE.ue4m3 + random.between(-8 * spread, 8 * spread);
    else into[i * count + j] = random.below(0x7f);
  }
  if (campaign.nanScaleOneIn > 0 && random.oneIn(campaign.nanScaleOneIn))
    into[i * count + random.below(count)] = format === 'ue8m0' ? 0xff : 0x7f;
}

function fillSelectors(op: MmaOp, k: number, random: CaseRandom, into: Uint32Array, i: number): void {
  const words = sparseWords(op, k);
  const chunks = Math.ceil(k / chunkPositions(op));
  const legal = legalSelectors(op);
  for (let chunk = 0; chunk < chunks; chunk++) {
    const at = i * words + (chunk >> 3);
    into[at] = (into[at] | (random.pick(legal) << (4 * (chunk & 7)))) >>> 0;
  }
}
