import {
  CancelledError,
  checkDots,
  checkInputs,
  checkTile,
  type DotBatch,
  InputError,
  type Inputs,
  type KRange,
  type Loaded,
  type MmaOp,
  type Operand,
  type RunReport,
  type Session,
  type Tile,
  type Token,
  type WordArray,
} from '@bitmma/core';
import { widenHalf } from './half.js';
import type { Kernel, KernelName } from './module.js';
import type { Runner } from './runner.js';
import { columnsOf, rowsOf, type Vectors, vectorsOfCases } from './vectors.js';

/** What a token carries: plain data over shared buffers where the host allows it. */
interface Payload {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly a: Vectors;
  readonly b: Vectors;
}

interface WasmLoaded extends Loaded {
  operands: Payload | null;
}

const opKey = (op: MmaOp): string => JSON.stringify(op);

/** One op on one kernel of one thread. */
export class WasmSession implements Session {
  #elements = 0;
  readonly #module: Kernel;
  readonly #runner: Runner;
  readonly #signal: AbortSignal | undefined;

  constructor(
    readonly op: MmaOp,
    readonly kernel: KernelName,
    module: Kernel,
    runner: Runner,
    signal: AbortSignal | undefined,
  ) {
    this.#module = module;
    this.#runner = runner;
    this.#signal = signal;
  }

  async load(inputs: Inputs): Promise<Loaded> {
    checkInputs(this.op, inputs);
    const { m, n, k } = inputs;
    return this.#loaded({ m, n, k, a: rowsOf(this.op, inputs), b: columnsOf(this.op, inputs) });
  }

  async attach(token: Token): Promise<Loaded> {
    if (token.engine !== 'wasm' || token.op !== opKey(this.op))
      throw new InputError(
        `token: expected operands of ${this.op.instruction} loaded by engine wasm, got ${token.engine}`,
      );
    return this.#loaded(token.payload as Payload);
  }

  #loaded(operands: Payload): WasmLoaded {
    const { m, n, k } = operands;
    const token: Token = { engine: 'wasm', op: opKey(this.op), payload: operands };
    const loaded: WasmLoaded = {
      inputs: { m, n, k },
      token,
      operands,
      release() {
        loaded.operands = null;
      },
    };
    return loaded;
  }

  async tile(loaded: Loaded, tile: Tile): Promise<void> {
    const { operands } = loaded as WasmLoaded;
    if (!operands) throw new InputError('loaded: expected operands in memory, got released ones');
    checkTile(this.op, operands, tile);
    const { rows, columns } = this.#runner;
    const chain = tile.chain.filter(({ k0, k1 }) => k1 > k0);
    for (let column = tile.n0; column < tile.n1; column += columns)
      for (let row = tile.m0; row < tile.m1; row += rows) {
        if (this.#signal?.aborted) throw new CancelledError(`cancelled at row ${row}, column ${column}`);
        const job = {
          a: operands.a,
          b: operands.b,
          row,
          rows: Math.min(rows, tile.m1 - row),
          column,
          columns: Math.min(columns, tile.n1 - column),
          diagonal: false,
          zero: tile.c === undefined,
          chain,
        };
        this.#compute(job, tile.c, tile.d);
      }
  }

  /** Words in, one runner call, words out. */
  #compute(
    job: Parameters<Runner['run']>[0],
    c: Pick<Operand, 'words' | 'offset' | 'rowStride' | 'colStride'> | undefined,
    d: Pick<Operand, 'words' | 'offset' | 'rowStride' | 'colStride'>,
  ): void {
    const { state, wordBytes } = this.#runner;
    const rows = job.rows;
    const columns = job.diagonal ? 1 : job.columns;
    const items = wordBytes / 4;
    const words = this.#module.words;
    const at = state / 4;
    // m8n8k4 with fp32 d: fp16 c is widened exactly first.
    const widens = this.op.c === 'fp16' && this.op.d === 'fp32';
    const stride = this.#runner.stride(job);
    words.fill(0, at, at + rows * stride * items);
    for (let i = 0; i < rows && c; i++)
      for (let j = 0; j < columns; j++) {
        const to = at + (i * stride + j) * items;
        const from = (c.offset + (job.row + i) * c.rowStride + (job.column + j) * c.colStride) * items;
        for (let item = 0; item < items; item++) words[to + item] = c.words[from + item];
        if (widens) words[to] = widenHalf(words[to]);
      }
    if (job.chain.length > 0) this.#runner.run(job);
    for (let i = 0; i < rows; i++) {
      if (d.colStride === 1) {
        const from = at + i * stride * items;
        const to = d.offset + (job.row + i) * d.rowStride + job.column;
        d.words.set(words.subarray(from, from + columns * items), to * items);
        continue;
      }
      for (let j = 0; j < columns; j++) {
        const from = at + (i * stride + j) * items;
        const to = (d.offset + (job.row + i) * d.rowStride + (job.column + j) * d.colStride) * items;
        for (let item = 0; item < items; item++) d.words[to + item] = words[from + item];
      }
    }
    this.#elements += rows * columns;
  }

  /** Tiles are in host memory when tile() resolves. */
  async settle(): Promise<void> {}

  async *dots(batches: AsyncIterable<DotBatch> | Iterable<DotBatch>): AsyncIterable<DotBatch> {
    for await (const batch of batches) {
      if (this.#signal?.aborted) throw new CancelledError('cancelled between batches');
      checkDots(this.op, batch);
      this.#dots(batch);
      yield batch;
    }
  }

  #dots({ count, k, a, b, c, d, scaleA, scaleB, sparse }: DotBatch): void {
    const { rows, columns } = this.#runner;
    const size = Math.min(rows, columns);
    const chain: KRange[] = k > 0 ? [{ k0: 0, k1: k }] : [];
    const left = vectorsOfCases(this.op, count, k, a, scaleA, sparse);
    const right = vectorsOfCases(this.op, count, k, b, scaleB, undefined);
    const column = (words: WordArray) => ({ words, offset: 0, rowStride: 1, colStride: 0 });
    for (let row = 0; row < count; row += size) {
      const cases = Math.min(size, count - row);
      const job = {
        a: left,
        b: right,
        row,
        rows: cases,
        column: row,
        columns: cases,
        diagonal: true,
        zero: c === undefined,
        chain,
      };
      this.#compute(job, c && column(c), column(d));
    }
  }

  report(): RunReport {
    return { kernels: { [this.kernel]: this.#elements }, rarePaths: this.#runner.rarePaths() };
  }

  async close(): Promise<void> {}
}
