import type { FormatName } from '../formats/table.js';
import type { Datapath } from './datapath.js';

/**
 * recorded: reproduces every word recorded on that hardware. published: reported as validated on hardware by a
 * document. derived: follows from another device or a text, never checked on that device.
 */
export type EvidenceLevel = 'recorded' | 'published' | 'derived';

export interface Evidence {
  readonly level: EvidenceLevel;
  /** Where the rule comes from. */
  readonly source: string;
  /** What the evidence does not cover. */
  readonly note?: string;
}

export interface Scaling {
  readonly format: 'ue8m0' | 'ue4m3';
  /** Logical k positions that share one scale word. */
  readonly block: number;
}

/**
 * Structured sparsity of A. Metadata: eight 4-bit selectors a uint32, lowest nibble first, one selector a chunk.
 * '1:2': chunks of 2 positions, 0x4 the lower, 0xE the upper. '2:4': chunks of 4, low and high two bits of the
 * selector name the two active positions; '4:8-pairs': chunks of 8, the same two fields name adjacent pairs.
 * Legal selectors of the last two: 4, 8, C, 9, D, 6, E.
 */
export type Sparsity = '1:2' | '2:4' | '4:8-pairs';

/** One matrix instruction's arithmetic: everything an engine needs, as frozen JSON-able data. */
export interface MmaOp {
  /** Catalog device id (`h100`), or `custom`. */
  readonly device: string;
  /** Canonical instruction identifier. */
  readonly instruction: string;
  readonly shape: { readonly m: number; readonly n: number; readonly k: number; readonly blocks: number };
  readonly a: FormatName;
  readonly b: FormatName;
  readonly c: FormatName;
  readonly d: FormatName;
  /** K terms of one instruction (logical positions where sparse). */
  readonly k: number;
  readonly datapath: Datapath;
  readonly scaling: Scaling | null;
  readonly sparsity: Sparsity | null;
  readonly evidence: Evidence;
}
