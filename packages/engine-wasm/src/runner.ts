import type { KRange } from '@bitmma/core';
import type { Vectors } from './vectors.js';

/** A rectangle of outputs, or its diagonal, that one runner call computes. */
export interface Job {
  readonly a: Vectors;
  readonly b: Vectors;
  readonly row: number;
  readonly rows: number;
  readonly column: number;
  readonly columns: number;
  /** Whether c is absent: every state word is +0. */
  readonly zero: boolean;
  /** Only outputs (row + i, column + i). */
  readonly diagonal: boolean;
  /** Ranges of k positions, in order; none is empty. */
  readonly chain: readonly KRange[];
}

/**
 * Runs jobs of up to `rows` x `columns` outputs on one kernel. State words, c before and d after, lie in module
 * memory at `state`, row by row, words of `wordBytes`.
 */
export interface Runner {
  readonly rows: number;
  readonly columns: number;
  readonly wordBytes: 4 | 8;
  readonly state: number;
  /** State words from one row of a job to the next. */
  stride(job: Job): number;
  run(job: Job): void;
  /** Counts of the rare paths so far. */
  rarePaths(): Readonly<Record<string, number>>;
}

/** The pieces of a chain that are packed at once: whole instructions but the last, at most `most` positions. */
export function* chunks(
  chain: readonly KRange[],
  instruction: number,
  most: number,
): Generator<{ k0: number; k: number; padded: number }> {
  const size = Math.max(instruction, Math.floor(most / instruction) * instruction);
  for (const { k0, k1 } of chain)
    for (let at = k0; at < k1; at += size) {
      const k = Math.min(size, k1 - at);
      yield { k0: at, k, padded: Math.ceil(k / instruction) * instruction };
    }
}

/** Lays consecutive areas out above `base`, each on a 64-byte line. */
export class Arena {
  #next: number;

  constructor(readonly base: number) {
    this.#next = base;
  }

  take(bytes: number): number {
    const at = this.#next;
    this.#next = (at + bytes + 63) & ~63;
    return at;
  }

  get size(): number {
    return this.#next - this.base;
  }
}

/** The bytes of elements from..from+count of a vector's words. */
export function bytesOf(
  words: Vectors['words'],
  elementBytes: number,
  from: number,
  count: number,
): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset + from * elementBytes, count * elementBytes);
}
