import { catalog, type MmaOp, opHash } from '@bitmma/core';
import { type Cells, cellsOf, ROWS } from './cells.js';

/** Ops of equal cells under one heading. */
export interface Column {
  readonly devices: readonly string[];
  readonly instructions: readonly string[];
  readonly d: string;
  readonly evidence: readonly string[];
  readonly cells: Cells;
}

/** Instruction family, without its shape: `mma.sync`, `wgmma`, `tcgen05`, `mfma`. */
const familyOf = (instruction: string): string =>
  /^(mma\.sync|wgmma|tcgen05\.mma\.sp|tcgen05)/.exec(instruction)?.[1] ?? 'mfma';

/**
 * One column for each device family, instruction family, input and output formats, of the op with the largest K; devices
 * whose columns agree share one. Integer ops are left out.
 */
export function featureTable(devices: readonly string[] = [], ops: readonly MmaOp[] = catalog()): Column[] {
  const chosen = new Map<string, MmaOp>();
  for (const op of ops) {
    if (op.datapath.kind === 'integer' || (devices.length > 0 && !devices.includes(op.device))) continue;
    const bf16 = /_1k/.test(op.instruction) ? '1k' : '';
    const key = [
      op.device,
      familyOf(op.instruction),
      op.a,
      op.b,
      op.d,
      op.scaling?.format,
      op.scaling?.block,
      op.sparsity,
      op.datapath.kind,
      bf16,
    ].join();
    const known = chosen.get(key);
    if (!known || op.k > known.k) chosen.set(key, op);
  }
  const columns = new Map<
    string,
    { devices: Set<string>; instructions: Set<string>; evidence: Set<string>; op: MmaOp }
  >();
  for (const op of chosen.values()) {
    const key = `${familyOf(op.instruction)} ${opHash(op)}`;
    const column = columns.get(key) ?? {
      devices: new Set(),
      instructions: new Set(),
      evidence: new Set(),
      op,
    };
    column.devices.add(op.device);
    column.instructions.add(op.instruction);
    column.evidence.add(op.evidence.level);
    columns.set(key, column);
  }
  return [...columns.values()].map(({ devices: d, instructions, evidence, op }) => ({
    devices: [...d],
    instructions: [...instructions],
    d: op.d,
    evidence: [...evidence],
    cells: cellsOf(op),
  }));
}

/** The table as Markdown, an op a line: wide tables read better downwards. */
export function tableMarkdown(columns: readonly Column[]): string {
  const header = ['Devices', 'Instruction', ...ROWS, 'Out', 'Evidence'];
  const line = (cells: readonly string[]) => `| ${cells.map((c) => c.replaceAll('|', '\\|')).join(' | ')} |`;
  return [
    line(header),
    line(header.map(() => '---')),
    ...columns.map(({ devices, instructions, cells, d, evidence }) =>
      line([devices.join(', '), instructions[0], ...ROWS.map((row) => cells[row]), d, evidence.join(', ')]),
    ),
    '',
  ].join('\n');
}

export const tableJson = (columns: readonly Column[]): string => `${JSON.stringify(columns, null, 2)}\n`;
