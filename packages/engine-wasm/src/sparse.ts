import { InputError, type Sparsity } from '@bitmma/core';

/** Positions that each legal selector keeps, one bit a position of the chunk; 0: illegal. Numerics section 6. */
function keepsOf(sparsity: Sparsity, selector: number): number {
  if (sparsity === '1:2') return selector === 0x4 ? 0b01 : selector === 0xe ? 0b10 : 0;
  const low = selector & 3;
  const high = selector >> 2;
  if (low === high) return 0;
  // Of the pairs in either order only 9 and 6 name the same positions and are both legal.
  if (low > high && selector !== 6) return 0;
  const one = (field: number) => (sparsity === '2:4' ? 1 << field : 0b11 << (2 * field));
  return one(low) | one(high);
}

/** Chunk length in positions. */
export const CHUNK: Readonly<Record<Sparsity, number>> = { '1:2': 2, '2:4': 4, '4:8-pairs': 8 };

/**
 * Writes a byte a position of one vector's mask: 1 where the metadata keeps it.
 * @throws InputError for an illegal selector, naming its chunk.
 */
export function expandMask(
  sparsity: Sparsity,
  word: (index: number) => number,
  k: number,
  mask: Uint8Array,
  at: number,
  where: string,
): void {
  const length = CHUNK[sparsity];
  for (let chunk = 0; chunk * length < k; chunk++) {
    const selector = (word(chunk >> 3) >>> (4 * (chunk & 7))) & 15;
    const keeps = keepsOf(sparsity, selector);
    if (keeps === 0)
      throw new InputError(
        `sparse: expected a ${sparsity} selector (${sparsity === '1:2' ? '4, e' : '4, 8, c, 9, d, 6, e'}), got ${selector.toString(16)} in chunk ${chunk} of ${where}`,
      );
    for (let i = 0; i < length && chunk * length + i < k; i++)
      mask[at + chunk * length + i] = (keeps >> i) & 1;
  }
}
