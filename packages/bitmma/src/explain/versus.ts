import { FORMATS } from '@bitmma/core';
import { type Word, wordToHex } from '@bitmma/core/formats';
import type { BlockTrace } from '@bitmma/core/reference';
import { shortNumber, toDouble } from './exact.js';
import type { Explanation } from './explain.js';
import { blockText, wordValue } from './text.js';

/** Where the accumulators of two devices part for one element. */
export interface Parting {
  /** Both accumulators are equal in value up to k = from, and differ at k = to. */
  readonly from: number;
  readonly to: number;
  /** Indexes of the blocks of each device within. */
  readonly left: readonly number[];
  readonly right: readonly number[];
}

/**
 * The first k at which both devices have finished a block and hold different values; null where they agree to the
 * end. Both explanations are of the same element.
 */
export function findParting(left: Explanation, right: Explanation): Parting | null {
  const boundaries = (x: Explanation) => new Map(x.blocks.map((block, i) => [block.k1, i] as const));
  const [ends, others] = [boundaries(left), boundaries(right)];
  let from = 0;
  for (const [to, i] of ends) {
    const j = others.get(to);
    if (j === undefined) continue;
    const same = Object.is(
      wordValue(left.op.d, left.blocks[i]!.d),
      wordValue(right.op.d, right.blocks[j]!.d),
    );
    if (!same)
      return { from, to, left: within(left.blocks, from, to), right: within(right.blocks, from, to) };
    from = to;
  }
  return null;
}

const within = (blocks: readonly BlockTrace[], from: number, to: number): number[] =>
  blocks.flatMap((block, i) => (block.k0 >= from && block.k1 <= to ? [i] : []));

/** The account of a difference for people: up to where both agree, and what each drops in the blocks that part them. */
export function versusText(left: Explanation, right: Explanation): string {
  const names = [left, right].map(({ op }) => `${op.device} ${op.instruction}`);
  const head = [
    `row ${left.row}, column ${left.col}, K = ${left.k}: fp64 gives ${shortNumber(left.fp64, 12)}`,
    ...[left, right].map((x, i) => `  ${names[i]}: 0x${x.d} = ${shortNumber(x.value, 9)}`),
    '',
  ];
  const parting = findParting(left, right);
  if (parting === null)
    return `${[...head, 'Both accumulators are equal at every block boundary that they share.'].join('\n')}\n`;
  const start = left.blocks[parting.left[0]!]!.c;
  const lines = [
    ...head,
    `Equal up to k = ${parting.from} (accumulator ${hex(left, start)} = ${shortNumber(wordValue(left.op.d, start), 9)}); they part in k ${parting.from} to ${parting.to - 1}:`,
    '',
  ];
  for (const [x, indexes] of [
    [left, parting.left],
    [right, parting.right],
  ] as const) {
    lines.push(
      `${x.op.device}: ${indexes.length} block${indexes.length === 1 ? '' : 's'} of ${x.op.datapath.kind}, ${lossText(x, indexes)}`,
    );
    for (const i of indexes) lines.push(blockText(x, x.blocks[i]!, i));
    lines.push('');
  }
  return lines.join('\n');
}

/** One line a device: what it drops where the two part. */
export function partingSummary(left: Explanation, right: Explanation): string[] {
  const parting = findParting(left, right);
  if (parting === null) return ['both accumulators are equal at every shared block boundary'];
  return [
    `equal up to k = ${parting.from}; in k ${parting.from} to ${parting.to - 1}`,
    ...(
      [
        [left, parting.left],
        [right, parting.right],
      ] as const
    ).map(([x, indexes]) => {
      const last = x.blocks[indexes.at(-1)!]!;
      return `${x.op.device} ${lossText(x, indexes)} and holds ${hex(x, last.d)} = ${shortNumber(wordValue(x.op.d, last.d), 9)}`;
    }),
  ];
}

function lossText(explanation: Explanation, indexes: readonly number[]): string {
  const losses = indexes.map((i) => explanation.losses[i]!);
  const terms = losses.reduce((sum, loss) => sum + loss.terms, 0);
  const dropped = losses.reduce((sum, loss) => sum + toDouble(loss.dropped), 0);
  return dropped === 0 ? 'drops nothing' : `cuts ${terms} terms and drops ${shortNumber(dropped)} in all`;
}

const hex = ({ op }: Explanation, word: Word): string => `0x${wordToHex(word, FORMATS[op.d].wordBits)}`;
