import { FORMATS } from '@bitmma/core';
import { decode, type Word, wordToHex } from '@bitmma/core/formats';
import { addExact, type BlockTrace, type Exact, type Stage } from '@bitmma/core/reference';
import { describeDatapath } from '../describe.js';
import { elementToDouble } from '../numbers/value.js';
import { textTable } from '../table.js';
import { power, shortNumber, toDouble } from './exact.js';
import { type Explanation, worstBlock } from './explain.js';

/** Blocks of a chain shown in the overview before it is shortened around the one in detail. */
const OVERVIEW = 12;

/** The explanation for people: the chain in a line a block, then one block (default: the one that dropped most). */
export function explanationText(explanation: Explanation, chosen?: number): string {
  const { op, blocks } = explanation;
  const at = chosen ?? worstBlock(explanation);
  const lines = [
    `${op.device} ${op.instruction} (${describeDatapath(op)})`,
    `element row ${explanation.row}, column ${explanation.col}: 0x${explanation.d} = ${shortNumber(explanation.value, 9)} ` +
      `from K = ${explanation.k}; fp64 gives ${shortNumber(explanation.fp64, 12)}`,
    `evidence: ${[op.evidence.level, op.evidence.source, op.evidence.note].filter(Boolean).join('; ')}`,
    '',
  ];
  if (blocks.length > 1) lines.push(overview(explanation, at));
  const block = blocks[at];
  if (block !== undefined) lines.push(blockText(explanation, block, at));
  return `${lines.join('\n')}\n`;
}

function overview({ op, blocks, losses }: Explanation, at: number): string {
  const hex = (word: Word) => wordToHex(word, FORMATS[op.d].wordBits);
  const first = Math.max(0, Math.min(at - OVERVIEW / 2, blocks.length - OVERVIEW));
  const rows = blocks
    .slice(first, first + OVERVIEW)
    .map((block, i) => [
      `${first + i === at ? '>' : ' '} ${first + i}`,
      `${block.k0}–${block.k1 - 1}`,
      hex(block.c),
      hex(block.d),
      shortNumber(wordValue(op.d, block.d)),
      windowText(block),
      String(losses[first + i]!.terms),
      shortNumber(toDouble(losses[first + i]!.dropped)),
    ]);
  return `chain of ${blocks.length} blocks${blocks.length > OVERVIEW ? ` (${first} to ${first + rows.length - 1} shown)` : ''}\n${textTable(
    ['  block', 'k', 'c', 'd', 'value', 'window', 'terms cut', 'dropped'],
    rows,
  )}`;
}

function windowText({ stages }: BlockTrace): string {
  const window = stages.find((stage) => stage.stage === 'window');
  if (window === undefined) return '';
  return `E = ${window.exponent ?? 'none'}, quantum ${power(window.quantum)}`;
}

export function blockText(explanation: Explanation, block: BlockTrace, index: number): string {
  const { op } = explanation;
  const title = `block ${index}: k ${block.k0} to ${block.k1 - 1}, c = 0x${wordToHex(block.c, FORMATS[op.d].wordBits)} (${shortNumber(wordValue(op.d, block.c))})`;
  return [title, ...block.stages.map((stage) => stageText(explanation, stage))].join('\n');
}

const value = (exact: Exact): string => shortNumber(toDouble(exact));

function stageText({ op, a, b }: Explanation, stage: Stage): string {
  const bits = FORMATS[op.d].wordBits;
  switch (stage.stage) {
    case 'special':
      return `  special: ${stage.reason}, so the result is ${stage.result}`;
    case 'window': {
      const rows = stage.terms.map(({ term, value: exact, exponent, quantum, kept }) => {
        const dropped = addExact(exact, { signed: -kept, lsb: quantum });
        return [
          `    ${typeof term === 'object' ? `${term[0]}–${term[1]}` : term}`,
          typeof term === 'number' ? `${a[term]} x ${b[term]}` : '',
          value(exact),
          String(exponent),
          String(kept),
          dropped.signed === 0n ? '' : value(dropped),
        ];
      });
      const floor = stage.floorActive ? ' (the floor)' : '';
      return [
        `  window of ${stage.name}: E = ${stage.exponent ?? 'none'}${floor}, each term cut to a multiple of ${power(stage.quantum)} (${stage.rounding})`,
        textTable(
          ['    k', 'words', 'value', 'e', `kept, in ${power(stage.quantum)}`, 'dropped'],
          rows,
        ).trimEnd(),
        `  sum ${stage.sum.signed} x ${power(stage.sum.lsb)} = ${value(stage.sum)}`,
      ].join('\n');
    }
    case 'cut':
      return `  ${stage.name} cut to a multiple of ${power(stage.quantum)} (${stage.rounding}): ${value(stage.before)} becomes ${value(stage.after)}`;
    case 'sum':
      return `  ${stage.name}: ${value(stage.value)}`;
    case 'ieee': {
      const name = (word: Word, i: number) =>
        stage.operation === 'fma' && i === 0
          ? `${a[Number(word)]} x ${b[Number(word)]} (k ${word})`
          : `0x${wordToHex(word, bits)}`;
      return `  ${stage.operation}(${stage.operands.map(name).join(', ')}), ${stage.rounding}: 0x${wordToHex(stage.word, bits)} = ${shortNumber(wordValue(op.d, stage.word))}`;
    }
    case 'round':
      return `  rounded to ${op.d}, ${stage.rounding}, ${stage.precision} fraction bits: 0x${wordToHex(stage.word, bits)} = ${shortNumber(wordValue(op.d, stage.word))}`;
    case 'pass':
      return `  every product is zero: d is c's own word 0x${wordToHex(stage.word, bits)}`;
  }
}

/** The value of a result word. */
export const wordValue = (format: Explanation['op']['d'], word: Word): number =>
  elementToDouble(decode(FORMATS[format], word));
