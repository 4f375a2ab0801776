import type { MmaOp, Sparsity } from '../datapath/op.js';
import { chunkLength } from '../engine/check.js';
import { InputError } from '../errors.js';

const LEGAL = [0x4, 0x8, 0xc, 0x9, 0xd, 0x6, 0xe];

/** Active offsets in a chunk, or null for an illegal selector (numerics section 6). */
function activeOffsets(sparsity: Sparsity, selector: number): readonly number[] | null {
  if (sparsity === '1:2') return selector === 0x4 ? [0] : selector === 0xe ? [1] : null;
  if (!LEGAL.includes(selector)) return null;
  const [low, high] = [selector & 3, selector >> 2].sort((x, y) => x - y);
  return sparsity === '2:4' ? [low, high] : [2 * low, 2 * low + 1, 2 * high, 2 * high + 1];
}

/**
 * One flag per logical position: whether the metadata keeps it. Throws InputError naming the chunk of an illegal
 * selector; `where` says which row or case.
 */
export function activePositions(
  op: MmaOp,
  metadata: ArrayLike<number>,
  k: number,
  where: string,
): Uint8Array {
  const sparsity = op.sparsity!;
  const length = chunkLength(sparsity);
  const active = new Uint8Array(k);
  for (let chunk = 0; chunk * length < k; chunk++) {
    const selector = (metadata[chunk >> 3] >>> ((chunk & 7) * 4)) & 0xf;
    const offsets = activeOffsets(sparsity, selector);
    if (offsets === null)
      throw new InputError(
        `expected a ${sparsity} selector (${sparsity === '1:2' ? '4, e' : '4, 8, c, 9, d, 6, e'}), got ` +
          `${selector.toString(16)} in chunk ${chunk} of ${where}`,
      );
    for (const offset of offsets) if (chunk * length + offset < k) active[chunk * length + offset] = 1;
  }
  return active;
}
