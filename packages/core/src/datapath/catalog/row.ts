import type { FormatName } from '../../formats/table.js';
import type { Datapath } from '../datapath.js';
import { deepFreeze } from '../freeze.js';
import type { Evidence, MmaOp, Scaling, Sparsity } from '../op.js';

/** An instruction without a device: the arch files put rows on devices with their evidence. */
export interface Row {
  readonly instruction: string;
  /** Other names that the alias layer maps to this row on a device that has it. */
  readonly spellings: readonly string[];
  readonly shape: MmaOp['shape'];
  readonly a: FormatName;
  readonly b: FormatName;
  readonly c: FormatName;
  readonly d: FormatName;
  readonly datapath: Datapath;
  readonly scaling: Scaling | null;
  readonly sparsity: Sparsity | null;
}

/** A row as a device has it. */
export interface Entry {
  readonly op: MmaOp;
  readonly spellings: readonly string[];
}

/** PTX's name of a format. */
export const ptxName = (format: FormatName): string =>
  ({ fp64: 'f64', fp32: 'f32', fp16: 'f16' })[format as string] ?? format;

/** Puts rows on devices, all with the same evidence. */
export function on(devices: readonly string[], evidence: Evidence, rows: readonly Row[]): Entry[] {
  return devices.flatMap((device) =>
    rows.map(({ instruction, spellings, shape, a, b, c, d, datapath, scaling, sparsity }) =>
      deepFreeze({
        op: {
          device,
          instruction,
          shape,
          a,
          b,
          c,
          d,
          k: shape.k,
          datapath,
          scaling,
          sparsity,
          evidence,
        },
        spellings,
      }),
    ),
  );
}
