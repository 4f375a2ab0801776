import type { FormatName } from '../../formats/table.js';
import type { Datapath } from '../datapath.js';
import { fusedWindow, integerSum, type WindowConstants } from './families.js';
import { INT8_PAIRS } from './mma-sync.js';
import { ptxName, type Row } from './row.js';

/** n = 8 stands for every n: the alias layer checks the n asked for and maps it here. */
const wgmma = (
  k: number,
  a: FormatName,
  b: FormatName,
  d: FormatName,
  datapath: Datapath,
  qualifier = '',
): Row => ({
  instruction: `wgmma.mma_async.m64n8k${k}${qualifier}.${[d, a, b].map(ptxName).join('.')}`,
  spellings: [],
  shape: { m: 64, n: 8, k, blocks: 1 },
  a,
  b,
  c: d,
  d,
  datapath,
  scaling: null,
  sparsity: null,
});

export const windowWgmma = (
  k: number,
  a: FormatName,
  b: FormatName,
  outputs: readonly ('fp32' | 'fp16')[],
  constants: WindowConstants,
): Row[] => outputs.map((d) => wgmma(k, a, b, d, fusedWindow(constants, k, d)));

export const integerWgmma = (): Row[] =>
  INT8_PAIRS.flatMap(([a, b]) => [
    wgmma(32, a, b, 's32', integerSum(false)),
    wgmma(32, a, b, 's32', integerSum(true), '.satfinite'),
  ]);
