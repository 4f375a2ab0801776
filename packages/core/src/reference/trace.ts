import type { DatapathKind, Rounding } from '../datapath/datapath.js';
import type { Word } from '../formats/element.js';

/** signed * 2^lsb, exact. */
export interface Exact {
  readonly signed: bigint;
  readonly lsb: number;
}

/** One term of a window: its exact value, exponent, and what alignment kept of it. */
export interface TermTrace {
  /** k position in the dot product, [first, last] of a group of products, or 'c' for the addend. */
  readonly term: number | readonly [number, number] | 'c';
  readonly value: Exact;
  /** Encoded exponent that takes part in the maximum. */
  readonly exponent: number;
  /** The quantum this term was cut to, and its value in those quanta; value - kept * 2^quantum was dropped. */
  readonly quantum: number;
  readonly kept: bigint;
  readonly exact: boolean;
}

/** What one block step did, in order. */
export type Stage =
  | {
      readonly stage: 'special';
      readonly result: 'nan' | 'inf' | '-inf';
      /** Which rule of numerics section 3 (or 4.5, product overflow; 6, scale NaN) decided. */
      readonly reason: string;
    }
  | {
      readonly stage: 'window';
      readonly name: 'terms' | 'products' | 'even' | 'odd' | 'groups';
      /** E; null where no term has an exponent. */
      readonly exponent: number | null;
      readonly floorActive: boolean;
      /** q: the window keeps multiples of 2^q. */
      readonly quantum: number;
      readonly rounding: Rounding;
      readonly terms: readonly TermTrace[];
      readonly sum: Exact;
    }
  | {
      /** A value cut to a coarser quantum. */
      readonly stage: 'cut';
      readonly name: 'even' | 'odd' | 'products' | 'c' | 'normalised';
      readonly before: Exact;
      readonly after: Exact;
      readonly quantum: number;
      readonly rounding: Rounding;
    }
  | { readonly stage: 'sum'; readonly name: string; readonly value: Exact }
  | {
      /** One IEEE operation on words. */
      readonly stage: 'ieee';
      readonly operation: 'add' | 'multiply' | 'fma';
      readonly operands: readonly Word[];
      readonly rounding: Rounding;
      readonly word: Word;
    }
  | {
      /** The conversion to d. */
      readonly stage: 'round';
      readonly value: Exact;
      readonly rounding: Rounding;
      readonly precision: number;
      readonly word: Word;
    }
  | {
      /** d is c's own word (block-scaled kinds, every product zero). */
      readonly stage: 'pass';
      readonly word: Word;
    };

/** One block step: k positions k0..k1 of the dot product, from the addend word c to the word d. */
export interface BlockTrace {
  readonly kind: DatapathKind;
  readonly k0: number;
  readonly k1: number;
  readonly c: Word;
  readonly d: Word;
  readonly stages: readonly Stage[];
}

/** Receives every block step of a dot product, in order. */
export type Trace = (block: BlockTrace) => void;
