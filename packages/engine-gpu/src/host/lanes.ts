import {
  chunkLength,
  InputError,
  type MmaOp,
  type Operand,
  type Sparsity,
  type WordArray,
} from '@bitmma/core';

/** Words seen as lanes (rows of A, columns of B, cases of a batch) by k positions. */
export interface LaneView {
  readonly words: WordArray;
  readonly offset: number;
  readonly laneStride: number;
  readonly kStride: number;
}

export const rowsOfA = (operand: Operand): LaneView => ({
  words: operand.words,
  offset: operand.offset,
  laneStride: operand.rowStride,
  kStride: operand.colStride,
});

export const columnsOfB = (operand: Operand): LaneView => ({
  words: operand.words,
  offset: operand.offset,
  laneStride: operand.colStride,
  kStride: operand.rowStride,
});

/** Case i at i * length. */
export const casesOf = (words: WordArray, length: number): LaneView => ({
  words,
  offset: 0,
  laneStride: length,
  kStride: 1,
});

/** Half-open range of lanes. */
export interface LaneRange {
  readonly first: number;
  readonly last: number;
}

/** Lanes rounded up to whole quads. */
export const paddedLanes = ({ first, last }: LaneRange): number => Math.ceil((last - first) / 4) * 4;

/**
 * Lanes first..last packed k-major for coalesced loads: item [k / per][lane] holds `per` consecutive k positions of
 * `bits` bits, the lowest k in the low bits; lanes padded to a multiple of four with zero words.
 */
export function packLanes(
  view: LaneView,
  range: LaneRange,
  k: number,
  bits: number,
): Uint32Array<ArrayBuffer> {
  const per = 32 / bits;
  const width = paddedLanes(range);
  const out = new Uint32Array(Math.ceil(k / per) * width);
  const { words, offset, laneStride, kStride } = view;
  for (let lane = range.first; lane < range.last; lane++) {
    let from = offset + lane * laneStride;
    const at = lane - range.first;
    for (let i = 0; i < k; i++) {
      out[Math.floor(i / per) * width + at] |= words[from] << ((i % per) * bits);
      from += kStride;
    }
  }
  return out;
}

const LEGAL: Readonly<Record<Sparsity, readonly number[]>> = {
  '1:2': [0x4, 0xe],
  '2:4': [0x4, 0x8, 0xc, 0x9, 0xd, 0x6, 0xe],
  '4:8-pairs': [0x4, 0x8, 0xc, 0x9, 0xd, 0x6, 0xe],
};

/** One bit per position of a chunk that the selector keeps; 0: an illegal selector. */
function chunkBits(sparsity: Sparsity, selector: number): number {
  if (!LEGAL[sparsity].includes(selector)) return 0;
  if (sparsity === '1:2') return selector === 0x4 ? 1 : 2;
  const low = selector & 3;
  const high = selector >> 2;
  if (sparsity === '2:4') return (1 << low) | (1 << high);
  return (3 << (2 * low)) | (3 << (2 * high));
}

/**
 * Metadata of lanes first..last as masks, item [k / 32][lane], bit k % 32 set where position k is active.
 * @throws InputError naming the chunk and lane of an illegal selector.
 */
export function packMasks(op: MmaOp, view: LaneView, range: LaneRange, k: number): Uint32Array<ArrayBuffer> {
  const sparsity = op.sparsity!;
  const length = chunkLength(sparsity);
  const width = paddedLanes(range);
  const out = new Uint32Array(Math.ceil(k / 32) * width);
  for (let lane = range.first; lane < range.last; lane++)
    for (let chunk = 0; chunk * length < k; chunk++) {
      const word = view.words[view.offset + lane * view.laneStride + (chunk >> 3) * view.kStride];
      const selector = (word >>> ((chunk & 7) * 4)) & 15;
      const bits = chunkBits(sparsity, selector);
      if (bits === 0)
        throw new InputError(
          `sparse: expected a ${sparsity} selector (${LEGAL[sparsity].map((s) => s.toString(16)).join(', ')}), got ${selector.toString(16)} in chunk ${chunk} of row ${lane}`,
        );
      const position = chunk * length;
      out[(position >> 5) * width + lane - range.first] |= bits << (position & 31);
    }
  return out;
}

/** Splits 0..lanes into ranges of at most `most`, each but the last a multiple of four. */
export function splitLanes(first: number, last: number, most: number): LaneRange[] {
  const step = Math.max(4, Math.floor(most / 4) * 4);
  const ranges: LaneRange[] = [];
  for (let at = first; at < last; at += step) ranges.push({ first: at, last: Math.min(at + step, last) });
  return ranges;
}
