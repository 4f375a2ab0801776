import type { KRange, MmaOp, Operand, Token } from '@bitmma/core';
import type { TileBounds } from './tiles.js';

/** What a worker is asked: one tile of loaded operands. Words are in SharedArrayBuffers, so nothing is copied. */
export interface TileTask {
  readonly job: number;
  /** One shared item: 1 while the job runs, 0 once it is over and its operands may be let go. */
  readonly live: Int32Array;
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
      /** Seconds that the worker spent on it, attaching included. */
      readonly seconds: number;
    }
  | { readonly ok: false; readonly name: string; readonly message: string };
