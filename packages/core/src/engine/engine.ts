import type { MmaOp } from '../datapath/op.js';
import type { FormatName } from '../formats/table.js';

/** Element words: one element an array item (FP6, FP4, FP8, 8-bit: a byte); fp64: two items, low half first. */
export type WordArray = Uint8Array | Uint16Array | Uint32Array;

/** A matrix view over words. Strides and offset count elements, so transposed and batched views need no copy. */
export interface Operand {
  readonly format: FormatName;
  readonly words: WordArray;
  readonly offset: number;
  readonly rowStride: number;
  readonly colStride: number;
}

/**
 * The operands of one GEMM. a is m x k, b is k x n (row = k position), scaleA m x ceil(k/block), scaleB
 * ceil(k/block) x n, sparse m x ceil(k / positions per metadata word), sparse words Uint32Array.
 */
export interface Inputs {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly a: Operand;
  readonly b: Operand;
  readonly scaleA?: Operand;
  readonly scaleB?: Operand;
  readonly sparse?: Operand;
}

/** Half-open range of k positions. */
export interface KRange {
  readonly k0: number;
  readonly k1: number;
}

/**
 * Rows m0..m1, columns n0..n1 of the result. The chain runs its ranges in order, instruction by instruction, from
 * c (absent: +0) to d; every range but the last is a multiple of the instruction's K, the last is padded with +0.
 * c and d are indexed by the global row and column.
 */
export interface Tile {
  readonly m0: number;
  readonly m1: number;
  readonly n0: number;
  readonly n1: number;
  readonly chain: readonly KRange[];
  readonly c?: Operand;
  readonly d: Operand;
}

/** `count` independent dot products, case i at a[i*k ...]; scales i*ceil(k/block), sparse i*words per case. */
export interface DotBatch {
  readonly count: number;
  /** k positions a case; more than the instruction's K chains, a ragged end is padded with +0. */
  readonly k: number;
  readonly a: WordArray;
  readonly b: WordArray;
  /** Absent: +0. */
  readonly c?: WordArray;
  readonly scaleA?: Uint8Array;
  readonly scaleB?: Uint8Array;
  readonly sparse?: Uint32Array;
  /** Written by the engine: `count` words (fp64: pairs). */
  readonly d: WordArray;
}

/** Structured-cloneable handle of loaded operands, made in one thread and attached in another. */
export interface Token {
  readonly engine: string;
  readonly op: string;
  readonly payload: unknown;
}

export interface Loaded {
  readonly inputs: { readonly m: number; readonly n: number; readonly k: number };
  readonly token: Token;
  /** Frees packed panels or device memory. */
  release(): void;
}

export type Support =
  | { readonly ok: true; readonly kernels: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/** Counts since open: elements a kernel produced, and elements that took each rare path. */
export interface RunReport {
  readonly kernels: Readonly<Record<string, number>>;
  readonly rarePaths: Readonly<Record<string, number>>;
}

export interface OpenOptions {
  /** Force one of supports().kernels; an unknown or absent one is an error. */
  readonly kernel?: string;
  readonly signal?: AbortSignal;
}

/**
 * An engine computes what an op says, on words. `lineage` names the code it descends from: two engines of one
 * lineage count as one witness. `placement`: 'worker' runs in any worker thread, 'process' once a process,
 * 'external' drives another process or device.
 */
export interface Engine {
  readonly id: string;
  readonly lineage: string;
  readonly placement: 'worker' | 'process' | 'external';
  supports(op: MmaOp): Support;
  open(op: MmaOp, options?: OpenOptions): Promise<Session>;
}

export interface Session {
  readonly op: MmaOp;
  readonly kernel: string;
  /** Packs or uploads the operands once. */
  load(inputs: Inputs): Promise<Loaded>;
  /** Takes over operands loaded by another session of the same op, without copying where memory is shared. */
  attach(token: Token): Promise<Loaded>;
  /** Runs one tile; results may stay on the device until settle(). */
  tile(loaded: Loaded, tile: Tile): Promise<void>;
  /** Resolves once every d of earlier tiles is in host memory. */
  settle(): Promise<void>;
  /** Yields each batch, its d filled, in order. */
  dots(batches: AsyncIterable<DotBatch> | Iterable<DotBatch>): AsyncIterable<DotBatch>;
  report(): RunReport;
  close(): Promise<void>;
}
