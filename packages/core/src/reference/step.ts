import type { Datapath } from '../datapath/datapath.js';
import type { MmaOp } from '../datapath/op.js';
import type { Element, Word } from '../formats/element.js';
import { FORMATS } from '../formats/table.js';
import { cdna3OddEven } from './cdna3-odd-even.js';
import { cdna3Window } from './cdna3-window.js';
import { exact } from './exact.js';
import type { BlockInput } from './family.js';
import { fusedWindow } from './fused-window.js';
import { integer } from './integer.js';
import { lateWindow } from './late-window.js';
import { pairwise } from './pairwise.js';
import { scaledGroups } from './scaled-groups.js';
import { scaledWindow } from './scaled-window.js';
import { sequentialFma } from './sequential-fma.js';
import { splitWindow } from './split-window.js';
import type { Terms } from './terms.js';
import type { Stage } from './trace.js';

/** One block step of any op, the operands of one dot product decoded. */
export type Step = (
  terms: Terms,
  positions: readonly number[],
  c: Element,
  cWord: Word,
  stages: Stage[] | undefined,
) => Word;

/** k positions that one block step of the op takes: N, or the whole instruction where it is one step. */
export function blockLength(op: MmaOp): number {
  const { datapath } = op;
  switch (datapath.kind) {
    case 'fused-window':
    case 'late-window':
    case 'exact':
    case 'pairwise':
    case 'cdna3-window':
    case 'cdna3-odd-even':
      return Math.min(datapath.block, op.k);
    case 'split-window':
    case 'sequential-fma':
    case 'integer':
    case 'scaled-window':
    case 'scaled-groups':
      return op.k;
  }
}

/** The block step of an op: its family's rule with the op bound. */
export function blockStep(op: MmaOp): Step {
  const significandBits = bitsOf(op.a) + bitsOf(op.b);
  const bind =
    <D extends Datapath>(datapath: D, step: (block: BlockInput<D>) => Word): Step =>
    (terms, positions, c, cWord, stages) =>
      step({ datapath, op, terms, positions, c, cWord, significandBits, stages });
  const { datapath } = op;
  switch (datapath.kind) {
    case 'fused-window':
      return bind(datapath, fusedWindow);
    case 'late-window':
      return bind(datapath, lateWindow);
    case 'split-window':
      return bind(datapath, splitWindow);
    case 'exact':
      return bind(datapath, exact);
    case 'pairwise':
      return bind(datapath, pairwise);
    case 'cdna3-window':
      return bind(datapath, cdna3Window);
    case 'cdna3-odd-even':
      return bind(datapath, cdna3OddEven);
    case 'sequential-fma':
      return bind(datapath, sequentialFma);
    case 'integer':
      return bind(datapath, integer);
    case 'scaled-window':
      return bind(datapath, scaledWindow);
    case 'scaled-groups':
      return bind(datapath, scaledGroups);
  }
}

/** Significand bits of a format: fraction and hidden bit. */
function bitsOf(name: MmaOp['a']): number {
  const format = FORMATS[name];
  return format.kind === 'float' ? format.fractionBits + 1 : format.kind === 'integer' ? format.wordBits : 1;
}
