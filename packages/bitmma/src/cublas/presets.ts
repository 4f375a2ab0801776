import { type FusedWindow, findOp, type LateWindow, type MmaOp } from '@bitmma/core';
import { ContractValueError } from './errors.js';

export type PresetName = 'ada' | 'hopper' | 'b200_mma_sync';
export type Fp8 = 'e4m3' | 'e5m2';

/** One tensor-core arithmetic of the contract's section 6. */
export interface Preset {
  readonly name: PresetName;
  readonly maturity: 'validated' | 'experimental';
  /** k positions after which slow accumulation starts a new chain; null: slow accumulation is not characterised. */
  readonly slowChunk: number | null;
  /** The split-K schemes of the preset's GPU; empty: not characterised. */
  readonly schemes: readonly SplitScheme[];
  /** The op of one 32-term instruction, fp32 out. */
  op(a: Fp8, b: Fp8): MmaOp;
}

export type SplitScheme = 'serial' | 'pairwise' | 'contiguous';

/**
 * The contract's own late window: one block of 32, F = 25, c added after it in fp32 RNE. The catalog's FP8 mma.sync of
 * the b200 is another thing (two 16-term halves, numerics section 7).
 */
function lateBlackwell(a: Fp8, b: Fp8): MmaOp {
  const split = findOp('b200', `mma.sync.m16n8k32.f32.${a}.${b}.f32`);
  const output = (split.datapath as LateWindow).output;
  const datapath: LateWindow = Object.freeze({
    kind: 'late-window',
    block: 32,
    fraction: 25,
    floor: null,
    alignment: 'RZ',
    output,
    addition: 'RNE',
  });
  return Object.freeze({
    ...split,
    device: 'custom',
    instruction: `b200_mma_sync.${a}.${b}`,
    datapath,
    evidence: Object.freeze({
      level: 'published' as const,
      source: 'mmaemu numerics contract v0.1, section 6: preset b200_mma_sync, experimental',
    }),
  });
}

export const PRESETS: Readonly<Record<PresetName, Preset>> = Object.freeze({
  ada: Object.freeze({
    name: 'ada' as const,
    maturity: 'validated' as const,
    slowChunk: 128,
    schemes: Object.freeze(['serial', 'pairwise'] as const),
    op: (a: Fp8, b: Fp8) => findOp('rtx4060', `mma.sync.m16n8k32.f32.${a}.${b}.f32`),
  }),
  hopper: Object.freeze({
    name: 'hopper' as const,
    maturity: 'validated' as const,
    slowChunk: 128,
    schemes: Object.freeze(['contiguous'] as const),
    op: (a: Fp8, b: Fp8) => findOp('h100', `wgmma.mma_async.m64n8k32.f32.${a}.${b}`),
  }),
  b200_mma_sync: Object.freeze({
    name: 'b200_mma_sync' as const,
    maturity: 'experimental' as const,
    slowChunk: null,
    schemes: Object.freeze([] as const),
    op: lateBlackwell,
  }),
});

/** A preset by name or its alias `blackwell`. Throws ContractValueError for another name. */
export function findPreset(name: string): Preset {
  const known = PRESETS[(name === 'blackwell' ? 'b200_mma_sync' : name) as PresetName];
  if (!known)
    throw new ContractValueError(`preset: expected ada, hopper, b200_mma_sync or blackwell, got ${name}`);
  return known;
}

/** Terms of one block step of a preset's op. */
export const presetBlock = (preset: Preset): number =>
  (preset.op('e4m3', 'e4m3').datapath as FusedWindow | LateWindow).block;
