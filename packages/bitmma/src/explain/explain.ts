import { FORMATS, type FormatName, type MmaOp, opHash, type WordArray } from '@bitmma/core';
import { decode, type Word, wordToHex } from '@bitmma/core/formats';
import { addExact, type BlockTrace, type Exact, referenceDot, type Stage } from '@bitmma/core/reference';
import type { DotCase } from '../dot/dot.js';
import { hexWord } from '../files/hex.js';
import type { CastNote } from '../gemm/operand.js';
import { toDoubles, wordToDouble } from '../numbers/value.js';
import { negate, toDouble } from './exact.js';

/** What one block step dropped. */
export interface BlockLoss {
  /** Terms of windows that lost bits. */
  readonly terms: number;
  /** Sum of all that windows, cuts and the final rounding dropped, exact: the true block result less d. */
  readonly dropped: Exact;
}

/** How one element came about: the reference's own trace, with the words beside it. */
export interface Explanation {
  readonly op: MmaOp;
  readonly opHash: string;
  readonly row: number;
  readonly col: number;
  readonly batch: number;
  readonly k: number;
  readonly a: readonly string[];
  readonly b: readonly string[];
  readonly c: string | null;
  readonly d: string;
  readonly value: number;
  /** The dot product in fp64, from the same operand words. */
  readonly fp64: number;
  readonly casts: readonly CastNote[];
  readonly blocks: readonly BlockTrace[];
  readonly losses: readonly BlockLoss[];
}

/** Traces one dot product on the reference. */
export function explain(element: DotCase): Explanation {
  const { op, words, row, col, batch, casts } = element;
  const blocks: BlockTrace[] = [];
  const d = referenceDot(op, words, (block) => blocks.push(block));
  const { wordBits } = FORMATS[op.d];
  const hex = (format: FormatName, list: WordArray, count: number): string[] =>
    Array.from({ length: count }, (_, i) => hexWord(list, i, format));
  const holder = new Uint32Array(2);
  holder[0] = Number(BigInt(d) & 0xffffffffn);
  holder[1] = Number(BigInt(d) >> 32n);
  return {
    op,
    opHash: opHash(op),
    row,
    col,
    batch,
    k: words.k,
    a: hex(op.a, words.a, words.k),
    b: hex(op.b, words.b, words.k),
    c: words.c === undefined ? null : hex(op.c, words.c, 1)[0]!,
    d: wordToHex(d, wordBits),
    value: wordToDouble(holder, 0, op.d),
    fp64: fp64Dot(element),
    casts,
    blocks,
    losses: blocks.map((block) => lossOf(op, block)),
  };
}

/** Index of the block that dropped most: the one to look at first. */
export function worstBlock({ losses }: Explanation): number {
  const sizes = losses.map(({ dropped }) => Math.abs(toDouble(dropped)));
  return sizes.indexOf(Math.max(...sizes, 0));
}

function fp64Dot({ op, words }: DotCase): number {
  const a = toDoubles(words.a, op.a);
  const b = toDoubles(words.b, op.b);
  const block = op.scaling?.block ?? 1;
  const scaleA = words.scaleA && toDoubles(words.scaleA, op.scaling!.format);
  const scaleB = words.scaleB && toDoubles(words.scaleB, op.scaling!.format);
  let sum = words.c === undefined ? 0 : toDoubles(words.c, op.c)[0]!;
  for (let i = 0; i < words.k; i++) {
    const scale = scaleA && scaleB ? scaleA[Math.floor(i / block)]! * scaleB[Math.floor(i / block)]! : 1;
    sum += a[i]! * b[i]! * scale;
  }
  return sum;
}

/** What a block dropped: its window's terms less what was kept, its cuts, and its rounding to d. */
export function lossOf(op: MmaOp, { stages }: BlockTrace): BlockLoss {
  let dropped: Exact = { signed: 0n, lsb: 0 };
  let terms = 0;
  for (const stage of stages) {
    if (stage.stage === 'window')
      for (const term of stage.terms) {
        if (!term.exact) terms++;
        dropped = addExact(dropped, addExact(term.value, { signed: -term.kept, lsb: term.quantum }));
      }
    else if (stage.stage === 'cut') dropped = addExact(dropped, addExact(stage.before, negate(stage.after)));
    else if (stage.stage === 'round') {
      const result = decode(FORMATS[op.d], stage.word);
      if (result.kind === 'finite')
        dropped = addExact(
          dropped,
          addExact(stage.value, { signed: -BigInt(result.signed), lsb: result.lsb }),
        );
    }
  }
  return { terms, dropped };
}

/** The explanation as JSON data: integers beyond 2^53 as decimal text, words as hex digits. */
export function explanationJson(explanation: Explanation): unknown {
  const { op, blocks, losses, ...rest } = explanation;
  const bits = FORMATS[op.d].wordBits;
  const exact = ({ signed, lsb }: Exact) => ({ signed: String(signed), lsb });
  const hex = (word: Word) => wordToHex(word, bits);
  const stageJson = (stage: Stage): unknown => {
    switch (stage.stage) {
      case 'special':
        return stage;
      case 'window':
        return {
          ...stage,
          sum: exact(stage.sum),
          terms: stage.terms.map((term) => ({ ...term, value: exact(term.value), kept: String(term.kept) })),
        };
      case 'cut':
        return { ...stage, before: exact(stage.before), after: exact(stage.after) };
      case 'sum':
        return { ...stage, value: exact(stage.value) };
      case 'ieee':
        return {
          ...stage,
          operands: stage.operands.map((word, i) =>
            stage.operation === 'fma' && i === 0 ? { k: Number(word) } : hex(word),
          ),
          word: hex(stage.word),
        };
      case 'round':
        return { ...stage, value: exact(stage.value), word: hex(stage.word) };
      case 'pass':
        return { ...stage, word: hex(stage.word) };
    }
  };
  return {
    device: op.device,
    instruction: op.instruction,
    evidence: op.evidence,
    formats: { a: op.a, b: op.b, c: op.c, d: op.d },
    datapath: op.datapath,
    ...rest,
    value: String(rest.value),
    fp64: String(rest.fp64),
    blocks: blocks.map((block, i) => ({
      kind: block.kind,
      k0: block.k0,
      k1: block.k1,
      c: hex(block.c),
      d: hex(block.d),
      termsCut: losses[i]!.terms,
      dropped: exact(losses[i]!.dropped),
      stages: block.stages.map(stageJson),
    })),
  };
}
