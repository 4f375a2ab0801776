import type { Datapath } from '../datapath/datapath.js';
import type { MmaOp } from '../datapath/op.js';
import type { Element, Word } from '../formats/element.js';
import type { Terms } from './terms.js';
import type { Stage } from './trace.js';

/** Everything a block step may look at. */
export interface BlockInput<D extends Datapath> {
  readonly datapath: D;
  readonly op: MmaOp;
  readonly terms: Terms;
  /** k positions of the block, ascending. */
  readonly positions: readonly number[];
  readonly c: Element;
  readonly cWord: Word;
  /** Bits that a product's significand may have: both formats' fraction bits and hidden bits. */
  readonly significandBits: number;
  /** Where a trace wants them, the stages are pushed here. */
  readonly stages?: Stage[] | undefined;
}

/** One block step of a family: N products and c to the word d. */
export type BlockStep<D extends Datapath> = (block: BlockInput<D>) => Word;
