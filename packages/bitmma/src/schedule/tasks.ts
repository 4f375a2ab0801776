import type { KRange, MmaOp, Operand, Token } from '@bitmma/core';
import type { TileBounds } from './tiles.js';

/** What a worker is asked: one tile of loaded operands. Words are in SharedArrayBuffers, so nothing is copied. */
export interface TileTask {
  readonly job: number;
  readonly engine: string;
  readonly kernel: string | null;
  readonly op: MmaOp;
  readonly token: Token;
  readonly bounds: TileBounds;
  readonly chain: readonly KRange[];
  readonly c: Operand | null;
  readonly d: Operand;
}

/** What it answers: the counts of this tile, or the engine's own error. A worker that dies answers nothing. */
export type TileAnswer =
  | {
      readonly ok: true;
      readonly kernel: string;
      readonly kernels: Readonly<Record<string, number>>;
      readonly rarePaths: Readonly<Record<string, number>>;
    }
  | { readonly ok: false; readonly name: string; readonly message: string };
