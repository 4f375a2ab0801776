import { devices, findOp, type MmaOp } from '@bitmma/core';
import { summarise } from './describe.js';
import { markdownTable } from './table.js';

/** The unit that an instruction runs on, as readers know it. */
const unitOf = ({ instruction }: MmaOp): string =>
  instruction.startsWith('v_mfma') ? 'MFMA' : instruction.split('.')[0]!.replace(/^mma$/, 'mma.sync');

interface Row {
  readonly devices: string[];
  readonly cells: readonly string[];
}

/**
 * The table of the README: for every device the dense instructions that its libraries use with the widest
 * accumulator, one line for operands that share an arithmetic. `bitmma devices` lists every instruction.
 */
export function devicesTable(): string {
  const rows = new Map<string, Row>();
  for (const device of devices()) {
    const groups = new Map<string, MmaOp[]>();
    for (const { instruction, accumulate } of device.defaults) {
      if (accumulate === 'fp16') continue;
      const op = findOp(device, instruction);
      const { family, n, f, rounding } = summarise(op);
      const key = [unitOf(op), family, n ?? '', f ?? '', rounding, op.scaling?.format ?? ''].join('|');
      groups.set(key, [...(groups.get(key) ?? []), op]);
    }
    for (const [key, ops] of groups) {
      const [unit, family, n, f, rounding, scale] = key.split('|') as [
        string,
        string,
        string,
        string,
        string,
        string,
      ];
      const operands = [...new Set(ops.flatMap(({ a, b }) => [a, b]))].join(' ');
      const levels = [...new Set(ops.map(({ evidence }) => evidence.level))].sort().reverse().join(', ');
      const cells = [
        scale === '' ? operands : `${operands}, ${scale} scales`,
        unit,
        family,
        n,
        f,
        rounding,
        levels,
      ];
      const row = rows.get(cells.join('|')) ?? { devices: [], cells };
      row.devices.push(device.id);
      rows.set(cells.join('|'), row);
    }
  }
  return markdownTable(
    ['devices', 'operands', 'unit', 'family', 'N', 'F', 'rounding', 'evidence'],
    [...rows.values()].map((row) => [row.devices.join(', '), ...row.cells]),
  );
}
