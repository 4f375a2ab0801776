import type { MmaOp } from '../datapath/op.js';
import type { KRange } from '../engine/engine.js';
import { castElement } from '../formats/cast.js';
import { decode } from '../formats/decode.js';
import type { Word } from '../formats/element.js';
import type { FloatFormat } from '../formats/format.js';
import { FORMATS } from '../formats/table.js';
import { blockLength, blockStep } from './step.js';
import type { Terms } from './terms.js';
import type { Stage, Trace } from './trace.js';

/**
 * The k positions of every block step of a chain, in order. A ragged last instruction is padded with position
 * `k`, where the terms hold +0.
 */
export function chainBlocks(op: MmaOp, chain: readonly KRange[], k: number): number[][] {
  const length = blockLength(op);
  const blocks: number[][] = [];
  for (const { k0, k1 } of chain)
    for (let instruction = k0; instruction < k1; instruction += op.k)
      for (let start = 0; start < op.k; start += length) {
        const block: number[] = [];
        for (let i = start; i < Math.min(start + length, op.k); i++)
          block.push(instruction + i < k1 ? instruction + i : k);
        blocks.push(block);
      }
  return blocks;
}

/** Runs the blocks of chainBlocks(): d of one step is c of the next (numerics section 4). */
export function chainRunner(
  op: MmaOp,
): (terms: Terms, blocks: readonly number[][], c: Word, trace?: Trace) => Word {
  const step = blockStep(op);
  const format = FORMATS[op.d];
  return (terms, blocks, c, trace) => {
    let word = widen(op, c);
    for (const positions of blocks) {
      const stages: Stage[] | undefined = trace && [];
      const d = step(terms, positions, decode(format, word), word, stages);
      trace?.({
        kind: op.datapath.kind,
        k0: positions[0],
        k1: positions[0] + positions.length,
        c: word,
        d,
        stages: stages!,
      });
      word = d;
    }
    return word;
  };
}

/**
 * c as a d word, exactly, before the first step (m8n8k4's fp16 c, fp32 d; numerics section 4): an fp16 subnormal then
 * has its value's exponent.
 */
function widen(op: MmaOp, c: Word): Word {
  if (op.c === op.d) return c;
  return castElement(decode(FORMATS[op.c], c), FORMATS[op.d] as FloatFormat);
}
