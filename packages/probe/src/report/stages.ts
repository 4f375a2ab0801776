/** A datapath as rows of boxes, from its data: what diagrams are drawn from. */
import type { Datapath, MmaOp, Output } from '@bitmma/core';

export interface Box {
  readonly lines: readonly string[];
  /** Fill: what the box does. */
  readonly role: 'multiply' | 'align' | 'add' | 'round' | 'fused';
}

export interface Row {
  readonly boxes: readonly Box[];
  /** c enters this row. */
  readonly c?: boolean;
  /** Each box feeds the next one; only the last feeds the row below. */
  readonly chained?: boolean;
}

const box = (role: Box['role'], ...lines: string[]): Box => ({ role, lines });

const roundBox = ({ format, rounding, precision }: Output): Box =>
  box('round', `normalise, round ${rounding}`, `${format}, ${precision} fraction bits`);

const bits = (op: MmaOp) => `${op.a} × ${op.b}`;

function multipliers(op: MmaOp, n: number, label = 'p'): Box[] {
  if (n <= 4) return Array.from({ length: n }, (_, i) => box('multiply', `${label}${i + 1}`, bits(op)));
  return [
    box('multiply', `${label}1`, bits(op)),
    box('multiply', `${label}2`, bits(op)),
    box('multiply', '…', `${n - 3} more`),
    box('multiply', `${label}${n}`, bits(op)),
  ];
}

const floorText = (floor: number | null): string => (floor === null ? '' : `, at least ${floor}`);

function lateAddendRows(d: Extract<Datapath, { kind: 'cdna3-window' | 'cdna3-odd-even' }>): Row[] {
  const reach = d.addendReach === null ? '' : `, none more than ${d.addendReach} below`;
  return [
    {
      c: true,
      boxes: [
        box(
          'align',
          `E ≥ e_c: c cut ${d.addendRounding} at 2^(E−${d.addendFraction})${reach}`,
          `E < e_c: S cut ${d.sumRounding} at 2^(e_c−${d.sumFraction}); e of c = 0 is ${d.zeroAddendExponent}`,
        ),
      ],
    },
    { boxes: [box('add', 'S + c')] },
    ...(d.normalFraction === null
      ? []
      : [
          {
            boxes: [
              box(
                'align',
                'E < e_c: normalise',
                `cut ${d.normalRounding} to ${d.normalFraction} fraction bits`,
              ),
            ],
          },
        ]),
    { boxes: [roundBox(d.output)] },
  ];
}

/** The rows of an op's block step, top to bottom. */
export function stagesOf(op: MmaOp): Row[] {
  const d = op.datapath;
  switch (d.kind) {
    case 'fused-window': {
      const n = Math.min(d.block, op.k);
      return [
        { boxes: multipliers(op, n) },
        {
          c: true,
          boxes: [
            box(
              'align',
              `align to E = max e of products and c${floorText(d.floor)}`,
              `cut ${d.alignment} at 2^(E−${d.fraction})`,
            ),
          ],
        },
        { boxes: [box('add', `sum of ${n} + 1 terms`)] },
        { boxes: [roundBox(d.output)] },
      ];
    }
    case 'late-window': {
      const n = Math.min(d.block, op.k);
      return [
        { boxes: multipliers(op, n) },
        {
          boxes: [
            box(
              'align',
              `align to E = max e of products${floorText(d.floor)}`,
              `cut ${d.alignment} at 2^(E−${d.fraction})`,
            ),
          ],
        },
        { boxes: [box('add', `sum of ${n} terms`)] },
        { boxes: [roundBox(d.output)] },
        { c: true, boxes: [box('fused', `+ c, IEEE ${d.addition}`)] },
      ];
    }
    case 'split-window': {
      const n = Math.min(d.block, op.k / 2);
      const half = (bit: number) => box('multiply', `${n} products`, `bit ${d.selectBit} of k is ${bit}`);
      const window = (which: string) =>
        box(
          'align',
          `${which}: E = max e${floorText(d.floor)}`,
          `cut ${d.alignment} at 2^(E−${d.fraction}), sum`,
          `round ${d.output.rounding} to ${d.output.format}`,
        );
      return [
        { boxes: [half(0), half(1)] },
        { chained: true, boxes: [window('first step'), window('second step, c = first')] },
        { c: true, boxes: [box('fused', `+ c, IEEE ${d.addition}`)] },
      ];
    }
    case 'exact': {
      const n = Math.min(d.block, op.k);
      return [
        { boxes: multipliers(op, n) },
        { c: true, boxes: [box('add', `exact sum of ${n} products and c`)] },
        { boxes: [roundBox(d.output)] },
      ];
    }
    case 'pairwise': {
      const n = Math.min(d.block, op.k);
      const flush = d.flushResults ? ', subnormals to zero' : '';
      const rows: Row[] = [
        { boxes: multipliers(op, n) },
        { boxes: [box('round', `each product ${d.output.rounding} to ${d.output.format}${flush}`)] },
      ];
      if (n > 4)
        rows.push({
          boxes: [box('fused', `balanced tree of ${n - 1} additions, IEEE ${d.output.rounding}${flush}`)],
        });
      else
        for (let width = n / 2; width >= 1; width /= 2)
          rows.push({
            boxes: Array.from({ length: width }, () =>
              box('fused', `+ IEEE ${d.output.rounding}`, flush.slice(2)),
            ),
          });
      return [...rows, { c: true, boxes: [box('fused', `+ c, IEEE ${d.output.rounding}`, flush.slice(2))] }];
    }
    case 'cdna3-window': {
      const n = Math.min(d.block, op.k);
      return [
        { boxes: multipliers(op, n) },
        {
          boxes: [
            box(
              'align',
              `align to E = max e of products${floorText(d.floor)}`,
              `cut ${d.alignment} at 2^(E−${d.fraction})`,
            ),
          ],
        },
        { boxes: [box('add', `S: sum of ${n} products`)] },
        ...lateAddendRows(d),
      ];
    }
    case 'cdna3-odd-even': {
      const n = Math.min(d.block, op.k) / 2;
      const window = (which: string) =>
        box('align', `${which}: E = max e`, `cut ${d.alignment} at 2^(E−${d.fraction}), sum`);
      return [
        { boxes: [box('multiply', `${n} products`, 'even k'), box('multiply', `${n} products`, 'odd k')] },
        { boxes: [window('even'), window('odd')] },
        { boxes: [box('align', `both cut ${d.mergeRounding} at 2^(max E−${d.mergeFraction})`)] },
        { boxes: [box('add', 'S: even + odd')] },
        ...lateAddendRows(d),
      ];
    }
    case 'sequential-fma': {
      const shown = op.k <= 4 ? op.k : 3;
      const rows: Row[] = Array.from({ length: shown }, (_, i) => ({
        c: i === 0,
        boxes: [
          box(
            'fused',
            `fma ${i + 1}: a${i + 1} b${i + 1} + ${i === 0 ? 'c' : `d${i}`}`,
            `${d.output.format}, ${d.output.rounding}`,
          ),
        ],
      }));
      return op.k > shown ? [...rows, { boxes: [box('fused', `… up to fma ${op.k}`)] }] : rows;
    }
    case 'integer':
      return [
        { boxes: multipliers(op, op.k) },
        { c: true, boxes: [box('add', 'exact sum')] },
        { boxes: [box('round', d.overflow === 'wrap' ? 'modulo 2^32' : 'clamped to s32')] },
      ];
    case 'scaled-window':
      return [
        { boxes: multipliers(op, op.k, 'a b sA sB ') },
        {
          c: true,
          boxes: [box('align', 'align to E = max e of products and c', `cut RZ at 2^(E−${d.fraction})`)],
        },
        { boxes: [box('add', `sum of ${op.k} + 1 terms`)] },
        { boxes: [roundBox(d.output)] },
      ];
    case 'scaled-groups':
      return [
        { boxes: multipliers(op, op.k, 'a b sA sB ') },
        {
          boxes: [box('add', `exact sums of ${d.group} products`, `(of ${d.dominantGroup} where e_c ≥ R)`)],
        },
        {
          c: true,
          boxes: [
            box(
              'align',
              `e_c ≥ R: cut RZ at 2^(e_c−${d.dominantFraction})`,
              `else cut RZ at 2^max(max(R, e_c)−${d.productFraction}, S−${d.scaleFraction})`,
              d.groupAddendFraction === null
                ? ''
                : `groups not above c: no finer than 2^(e_c−${d.groupAddendFraction})`,
            ),
          ],
        },
        { boxes: [box('add', `sum of ${op.k / d.group} groups and c`)] },
        { boxes: [roundBox(d.output)] },
      ];
  }
}
