import type { FormatName } from '../../formats/table.js';
import type { Datapath } from '../datapath.js';
import type { Row } from './row.js';

/** AMD's operand name, and `_1k` where the older mnemonic carries it. */
export interface MfmaOperands {
  readonly a: FormatName;
  readonly b: FormatName;
  readonly d: 'fp32' | 'fp64' | 's32';
  /** `f16`, or `fp8_bf8` for a pair. */
  readonly name: string;
  readonly oneK?: boolean;
}

/** m = n, k, and the blocks of one instruction, each computed alike. */
export type MfmaShape = readonly [mn: number, k: number, blocks: number];

export const MFMA_FP32: readonly MfmaShape[] = [
  [32, 1, 2],
  [16, 1, 4],
  [4, 1, 16],
  [32, 2, 1],
  [16, 4, 1],
];
/** fp16; bf16 with _1k; CDNA3's bf16. */
export const MFMA_16BIT: readonly MfmaShape[] = [
  [32, 4, 2],
  [16, 4, 4],
  [4, 4, 16],
  [32, 8, 1],
  [16, 16, 1],
];
/** bf16 without _1k, CDNA1 and CDNA2 alone. */
export const MFMA_BF16_SHORT: readonly MfmaShape[] = [
  [32, 2, 2],
  [16, 2, 4],
  [4, 2, 16],
  [32, 4, 1],
  [16, 8, 1],
];
export const MFMA_FP64: readonly MfmaShape[] = [
  [16, 4, 1],
  [4, 4, 4],
];

const RESULT = { fp32: 'f32', fp64: 'f64', s32: 'i32' } as const;

/**
 * MFMA rows. Canonical: `v_mfma_f32_16x16x16_f16` with underscores where the device has that form
 * ('underscore'), else the older `v_mfma_f32_16x16x16f16` ('joined').
 */
export const mfma = (
  form: 'underscore' | 'joined',
  shapes: readonly MfmaShape[],
  { a, b, d, name, oneK = false }: MfmaOperands,
  datapath: (k: number) => Datapath,
): Row[] =>
  shapes.map(([mn, k, blocks]) => {
    const stem = `v_mfma_${RESULT[d]}_${mn}x${mn}x${k}`;
    const marker = blocks > 1 ? `${blocks}b_` : '';
    const suffix = oneK ? '_1k' : '';
    const underscore = `${stem}_${marker}${name}`;
    const joined = `${stem}${name}${suffix}`;
    const spellings = new Set([underscore, joined, `${underscore}${suffix}`, `${stem}_${name}${suffix}`]);
    // Without _1k and without a block marker, bf16 names the short instruction of CDNA1 and CDNA2.
    if (blocks === 1) spellings.add(`${stem}${name}`);
    const instruction = form === 'underscore' ? underscore : joined;
    spellings.delete(instruction);
    return {
      instruction,
      spellings: [...spellings],
      shape: { m: mn, n: mn, k, blocks },
      a,
      b,
      c: d,
      d,
      datapath: datapath(k),
      scaling: null,
      sparsity: null,
    };
  });
