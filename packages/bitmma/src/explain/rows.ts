import { FORMATS } from '@bitmma/core';
import { decode, type Word, wordToHex } from '@bitmma/core/formats';
import type { BlockTrace, Exact } from '@bitmma/core/reference';
import { leadingExponent, power, shortNumber, toDouble } from './exact.js';
import type { Explanation } from './explain.js';

/** One line of the picture: a value as bits, and where it was cut. */
export interface PictureRow {
  readonly tone: 'product' | 'addend' | 'sum' | 'result';
  readonly label: string;
  readonly words: string;
  readonly value: Exact;
  /** Bits below 2^cut were dropped; null: none were. */
  readonly cut: number | null;
}

/** A titled group of lines: one stage of the block. */
export interface PicturePanel {
  readonly title: string;
  readonly rows: readonly PictureRow[];
  /** The window's quantum, drawn as a line across the panel; null: none. */
  readonly quantum: number | null;
}

/** The stages of a block as panels of bits. */
export function blockPanels({ op, a, b }: Explanation, block: BlockTrace): PicturePanel[] {
  const format = FORMATS[op.d];
  const hex = (word: Word) => `0x${wordToHex(word, format.wordBits)}`;
  const ofWord = (word: Word): Exact => {
    const element = decode(format, word);
    return { signed: BigInt(element.signed), lsb: element.lsb };
  };
  const addend: PictureRow = {
    tone: 'addend',
    label: 'c',
    words: hex(block.c),
    value: ofWord(block.c),
    cut: null,
  };
  const panels: PicturePanel[] = [];
  const ieee: PictureRow[] = [];
  for (const stage of block.stages)
    switch (stage.stage) {
      case 'special':
        panels.push({ title: `${stage.reason}: the result is ${stage.result}`, rows: [], quantum: null });
        break;
      case 'window': {
        const rows = stage.terms.map(
          ({ term, value, quantum }): PictureRow => ({
            tone: term === 'c' ? 'addend' : 'product',
            label: term === 'c' ? 'c' : typeof term === 'number' ? `k ${term}` : `k ${term[0]}–${term[1]}`,
            words: term === 'c' ? hex(block.c) : typeof term === 'number' ? `${a[term]}·${b[term]}` : '',
            value,
            cut: quantum,
          }),
        );
        rows.push({ tone: 'sum', label: 'sum', words: '', value: stage.sum, cut: null });
        const leader = stage.terms.find((term) => term.exponent === stage.exponent);
        const who = stage.floorActive
          ? 'the floor'
          : leader === undefined
            ? ''
            : leader.term === 'c'
              ? 'set by c'
              : `set by k ${typeof leader.term === 'number' ? leader.term : leader.term[0]}`;
        panels.push({
          title: `${windowTitle(stage.name)}: E = ${String(stage.exponent ?? 'none').replace('-', '−')} (${who}), quantum ${power(stage.quantum)}`,
          rows,
          quantum: stage.quantum,
        });
        break;
      }
      case 'cut':
        panels.push({
          title: `${stage.name === 'normalised' ? 'Sum, normalised' : stage.name === 'c' ? 'Addend' : `Sum of ${stage.name}`} cut to ${power(stage.quantum)}, ${ROUNDING[stage.rounding]}`,
          rows: [
            {
              tone: stage.name === 'c' ? 'addend' : 'sum',
              label: 'before',
              words: '',
              value: stage.before,
              cut: stage.quantum,
            },
            {
              tone: stage.name === 'c' ? 'addend' : 'sum',
              label: 'after',
              words: '',
              value: stage.after,
              cut: null,
            },
          ],
          quantum: stage.quantum,
        });
        break;
      case 'sum':
        panels.push({
          title: `Exact: ${stage.name}`,
          rows: [
            ...(stage.name === 'products + c' ? [addend] : []),
            { tone: 'sum', label: 'sum', words: '', value: stage.value, cut: null },
          ],
          quantum: null,
        });
        break;
      case 'ieee':
        ieee.push({
          tone: 'result',
          label: stage.operation === 'fma' ? `k ${stage.operands[0]}` : stage.operation,
          words: hex(stage.word),
          value: ofWord(stage.word),
          cut: null,
        });
        break;
      case 'round': {
        const leading = leadingExponent(stage.value);
        const lowest = 'bias' in format ? 1 - format.bias : 0;
        const cut = leading === null ? null : Math.max(leading, lowest) - stage.precision;
        panels.push({
          title: `Rounded to ${op.d}, ${ROUNDING[stage.rounding]}, ${stage.precision} fraction bits`,
          rows: [
            { tone: 'sum', label: 'sum', words: '', value: stage.value, cut },
            { tone: 'result', label: 'd', words: hex(stage.word), value: ofWord(stage.word), cut: null },
          ],
          quantum: cut,
        });
        break;
      }
      case 'pass':
        panels.push({
          title: `Every product is zero: d is c's own word ${hex(stage.word)}`,
          rows: [],
          quantum: null,
        });
        break;
    }
  if (ieee.length > 0) panels.push({ title: `IEEE operations, ${block.kind}`, rows: ieee, quantum: null });
  return panels;
}

const ROUNDING = { RZ: 'toward zero', RNE: 'to nearest even', RD: 'toward −∞', RU: 'toward +∞' } as const;

const windowTitle = (name: string): string =>
  name === 'terms'
    ? 'Alignment window'
    : name === 'groups'
      ? 'Window of groups'
      : `Window of ${name} products`.replace('products products', 'products');

/** A row's number, for its right margin. */
export const rowNumber = (row: PictureRow): string => shortNumber(toDouble(row.value));
