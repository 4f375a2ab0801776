import { catalog, findOp } from '@bitmma/core';
import { describe, expect, it } from 'vitest';
import { blockDiagram, type Cells, cellsOf, featureTable, ROWS, tableMarkdown } from '../src/index.js';

/** Table 3 of the CDNA study, cell by cell: the ops that each column speaks of, and what it prints. */
const SEED: readonly {
  readonly ops: readonly (readonly [string, string])[];
  readonly cells: readonly string[];
}[] = [
  {
    ops: [['b200', 'tcgen05.mma.kind::f8f6f4.f32.e4m3.e4m3']],
    cells: ['fp8', '(2,25)', '32', '-∞', 'early', '-', 'RTZ', '-', 'No'],
  },
  {
    ops: [['h100', 'wgmma.mma_async.m64n8k32.f32.e4m3.e4m3']],
    cells: ['fp8', '(2,13)', '32', '-∞', 'early', '-', 'RTZ', '-', 'No'],
  },
  {
    ops: [
      ['mi300a', 'v_mfma_f32_16x16x32_fp8_fp8'],
      ['mi300x', 'v_mfma_f32_16x16x32_fp8_fp8'],
    ],
    cells: ['fp8', '(2,24)', '8odd-even', '-126', 'late', '(24,32,RD)', 'RNE', '-', '2^128'],
  },
  {
    ops: [
      ['h100', 'mma.sync.m16n8k16.f32.f16.f16.f32'],
      ['h100', 'mma.sync.m16n8k16.f32.bf16.bf16.f32'],
      ['b200', 'mma.sync.m16n8k16.f32.f16.f16.f32'],
      ['b200', 'mma.sync.m16n8k16.f32.bf16.bf16.f32'],
    ],
    cells: ['fp16/bf16', '(2,25)', '16/16', '-∞', 'early', '-', 'RTZ', '-133', 'No'],
  },
  {
    ops: [
      ['a100', 'mma.sync.m16n8k16.f32.f16.f16.f32'],
      ['a100', 'mma.sync.m16n8k16.f32.bf16.bf16.f32'],
    ],
    cells: ['fp16/bf16', '(2,24)', '8/8', '-∞', 'early', '-', 'RTZ', '-132', 'No'],
  },
  {
    ops: [
      ['mi100', 'v_mfma_f32_16x16x16f16'],
      ['mi100', 'v_mfma_f32_16x16x8bf16'],
    ],
    cells: ['fp16/bf16', '(1,∞)', '4/2', '-∞', 'early', '-', 'RNE', '-', 'No'],
  },
  {
    ops: [
      ['mi300x', 'v_mfma_f32_16x16x16_f16'],
      ['mi300x', 'v_mfma_f32_16x16x16_bf16'],
      ['mi300a', 'v_mfma_f32_16x16x16_f16'],
      ['mi300a', 'v_mfma_f32_16x16x16_bf16'],
    ],
    cells: ['fp16/bf16', '(2,24)', '8/8', '-126', 'late', '(24,32,RD)', 'RNE', '-126', '2^128'],
  },
  {
    ops: [
      ['h100', 'mma.sync.m16n8k8.f32.tf32.tf32.f32'],
      ['b200', 'mma.sync.m16n8k8.f32.tf32.tf32.f32'],
    ],
    cells: ['tf19', '(2,25)', '8', '-∞', 'early', '-', 'RTZ', '-133', 'No'],
  },
  {
    ops: [['a100', 'mma.sync.m16n8k8.f32.tf32.tf32.f32']],
    cells: ['tf19', '(2,24)', '4', '-∞', 'early', '-', 'RTZ', '-132', 'No'],
  },
  {
    ops: [
      ['mi300a', 'v_mfma_f32_16x16x8_xf32'],
      ['mi300x', 'v_mfma_f32_16x16x8_xf32'],
    ],
    cells: ['tf19', '(2,24)', '4', '-126', 'late', '(24,32,RD)', 'RNE', '-126', '2^128'],
  },
];

/** Differences that are there, by op and row, each with its reason. */
const EXPLAINED: Readonly<Record<string, string>> = {
  'wgmma.mma_async.m64n8k32.f32.e4m3.e4m3 out. round.':
    'the result keeps 13 fraction bits, which the study leaves to its product alignment',
  'v_mfma_f32_16x16x16f16 Prd. Align.': 'an exact sum aligns nothing: we print no integer bits',
  'v_mfma_f32_16x16x8bf16 Prd. Align.': 'an exact sum aligns nothing: we print no integer bits',
  'mma.sync.m16n8k16.f32.f16.f16.f32 e_min^lim':
    'fp16 products do not reach the limit; the study merges fp16 with bf16, which do',
  'v_mfma_f32_16x16x16_f16 e_min^lim':
    'fp16 products do not reach the limit; the study merges fp16 with bf16, which do',
  'v_mfma_f32_16x16x16_f16 |p|-overflow':
    'none: the study has fp16 in one column with bf16 and could not test it (4.3.2); the datapath carries 2^128',
};

const NAMES: Record<string, readonly string[]> = {
  fp8: ['e4m3', 'e4m3fnuz'],
  'fp16/bf16': ['fp16', 'bf16'],
  tf19: ['tf32'],
};

/** What the seed's column says of one op, in the words of our cells. */
function expected(cells: readonly string[], row: number, op: { a: string }): string {
  const text = cells[row];
  if (ROWS[row] === 'In') return op.a;
  if (ROWS[row] !== 'N_FMA') return text;
  const parts = text.split('/');
  return (parts[op.a === 'bf16' ? 1 : 0] ?? parts[0]).replace('odd-even', ' odd-even');
}

describe('Table 3 of the CDNA study', () => {
  it('agrees cell by cell but for the explained differences', () => {
    const used = new Set<string>();
    let cells = 0;
    for (const column of SEED)
      for (const [device, instruction] of column.ops) {
        const op = findOp(device, instruction);
        const own: Cells = cellsOf(op);
        expect(NAMES[column.cells[0]]).toContain(op.a);
        ROWS.forEach((row, i) => {
          cells++;
          const want = expected(column.cells, i, op);
          const key = `${op.instruction} ${row}`;
          if (own[row] === want) return;
          expect(EXPLAINED[key], `${device} ${key}: seed ${want}, ours ${own[row]}`).toBeDefined();
          used.add(key);
        });
      }
    expect(cells).toBe(SEED.reduce((n, { ops }) => n + ops.length, 0) * ROWS.length);
    // Every explanation is of a difference that is there, but the one that says there is none.
    const standing = Object.entries(EXPLAINED).filter(([, why]) => !why.startsWith('none:'));
    expect([...used].sort()).toEqual(standing.map(([key]) => key).sort());
  });

  it('covers every device of the catalog', () => {
    const columns = featureTable();
    const devices = new Set(columns.flatMap((column) => column.devices));
    for (const op of catalog()) expect(devices).toContain(op.device);
    expect(tableMarkdown(columns).split('\n').length).toBe(columns.length + 3);
  });

  it('notes the fp16 floors of NVIDIA: -20 on A100, -21 on H100 and B200', () => {
    for (const [device, floor] of [
      ['a100', '-20'],
      ['h100', '-21'],
      ['b200', '-21'],
    ] as const)
      expect(cellsOf(findOp(device, 'mma.sync.m16n8k16.f16.f16.f16.f16'))['e_min^lim']).toBe(floor);
  });
});

describe('block diagrams', () => {
  it('draw every op from its data, the same bytes twice', () => {
    for (const op of catalog()) {
      const svg = blockDiagram(op);
      expect(svg).toBe(blockDiagram(op));
      expect(svg.startsWith('<svg xmlns="http://www.w3.org/2000/svg"')).toBe(true);
      expect(svg).not.toMatch(/NaN|undefined|Infinity/);
    }
  });

  it('show the constants of the datapath', () => {
    const svg = blockDiagram(findOp('mi300x', 'v_mfma_f32_16x16x32_fp8_fp8'));
    for (const text of [
      '2^(E−24)',
      '2^(e_c−32)',
      'none more than 25 below',
      '31 fraction bits',
      '−126'.replace('−', '-'),
    ])
      expect(svg).toContain(text);
  });
});
