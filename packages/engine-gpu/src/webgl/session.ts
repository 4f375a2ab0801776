import {
  CancelledError,
  checkDots,
  checkInputs,
  checkTile,
  type DotBatch,
  InputError,
  type Inputs,
  type Loaded,
  type MmaOp,
  type OpenOptions,
  type RunReport,
  type Session,
  sparseWordCount,
  type Tile,
  type Token,
} from '@bitmma/core';
import { casesOf, columnsOfB, packMasks, rowsOfA, splitLanes } from '../host/lanes.js';
import type { GlContext } from './context.js';
import type { Shape } from './kernel.js';
import { type Lanes, type Limits, Runner } from './runner.js';
import { emptyState, setState, wordOf } from './state.js';

export const KERNEL = 'float-limbs';

interface WebglLoaded extends Loaded {
  readonly operands: Inputs;
}

export class WebglSession implements Session {
  readonly kernel = KERNEL;
  #elements = 0;
  readonly #runners = new Map<Shape, Runner>();

  constructor(
    readonly op: MmaOp,
    private readonly context: GlContext,
    private readonly limits: Limits,
    private readonly options: OpenOptions,
  ) {}

  private begin(): void {
    if (this.options.signal?.aborted)
      throw new CancelledError(`${this.op.instruction}: stopped by its signal`);
    this.context.check(this.op.instruction);
  }

  private runner(shape: Shape): Runner {
    let runner = this.#runners.get(shape);
    if (!runner) {
      runner = new Runner(this.context, this.op, shape, this.limits);
      this.#runners.set(shape, runner);
    }
    return runner;
  }

  private get output() {
    const { datapath } = this.op;
    if (!('output' in datapath)) throw new InputError(`${this.op.instruction}: expected a float output`);
    return datapath.output;
  }

  async load(inputs: Inputs): Promise<Loaded> {
    checkInputs(this.op, inputs);
    const { m, n, k } = inputs;
    const loaded: WebglLoaded = {
      inputs: { m, n, k },
      token: { engine: 'webgl', op: this.op.instruction, payload: inputs },
      operands: inputs,
      release() {},
    };
    return loaded;
  }

  async attach(token: Token): Promise<Loaded> {
    if (token.engine !== 'webgl' || token.op !== this.op.instruction)
      throw new InputError(
        `token: expected operands of ${this.op.instruction} on webgl, got ${token.engine} ${token.op}`,
      );
    return this.load(token.payload as Inputs);
  }

  async tile(loaded: Loaded, tile: Tile): Promise<void> {
    const { operands } = loaded as WebglLoaded;
    checkTile(this.op, operands, tile);
    const { op } = this;
    const { m0, m1, n0, n1, chain, c, d } = tile;
    if (c && op.c === op.d && chain.every(({ k0, k1 }) => k0 === k1)) {
      // No step: d is c's own word, a NaN's payload too.
      for (let i = m0; i < m1; i++)
        for (let j = n0; j < n1; j++)
          d.words[d.offset + i * d.rowStride + j * d.colStride] =
            c.words[c.offset + i * c.rowStride + j * c.colStride];
      this.#elements += (m1 - m0) * (n1 - n0);
      return;
    }
    const side = Math.floor(Math.sqrt(this.limits.windowCells));
    const runner = this.runner('gemm');
    for (const rows of splitLanes(m0, m1, side))
      for (const cols of splitLanes(n0, n1, side)) {
        this.begin();
        const height = rows.last - rows.first;
        const width = cols.last - cols.first;
        const state = emptyState(width * height);
        const cell = (o: Tile['d'], at: number): number =>
          o.offset +
          (rows.first + Math.floor(at / width)) * o.rowStride +
          (cols.first + (at % width)) * o.colStride;
        if (c)
          for (let i = 0; i < width * height; i++)
            setState(state, i, c.words[cell(c, i)], op.c, this.wordFormat);
        const a: Lanes = {
          format: op.a,
          view: rowsOfA(operands.a),
          ...rows,
          masks: operands.sparse ? packMasks(op, rowsOfA(operands.sparse), rows, operands.k) : null,
        };
        const b: Lanes = { format: op.b, view: columnsOfB(operands.b), ...cols, masks: null };
        const values = runner.run(a, b, state, width, height, chain);
        for (let i = 0; i < width * height; i++)
          d.words[cell(d, i)] = wordOf(this.output, values[4 * i], values[4 * i + 1], values[4 * i + 2]);
        this.#elements += width * height;
      }
  }

  private get wordFormat(): 'fp16' | 'fp32' {
    return this.op.d as 'fp16' | 'fp32';
  }

  async settle(): Promise<void> {}

  async *dots(batches: AsyncIterable<DotBatch> | Iterable<DotBatch>): AsyncIterable<DotBatch> {
    for await (const batch of batches) {
      checkDots(this.op, batch);
      this.batch(batch);
      yield batch;
    }
  }

  private batch(batch: DotBatch): void {
    const { op } = this;
    const { k } = batch;
    if (k === 0 && op.c === op.d) {
      batch.d.fill(0, 0, batch.count);
      if (batch.c) batch.d.set(batch.c.subarray(0, batch.count));
      this.#elements += batch.count;
      return;
    }
    const runner = this.runner('dots');
    const most = Math.min(Math.floor(this.limits.textureElements / Math.max(k, op.k)), 8192);
    for (const range of splitLanes(0, batch.count, most)) {
      this.begin();
      const count = range.last - range.first;
      const state = emptyState(count);
      if (batch.c)
        for (let i = 0; i < count; i++) setState(state, i, batch.c[range.first + i], op.c, this.wordFormat);
      const masks = batch.sparse
        ? packMasks(op, casesOf(batch.sparse, sparseWordCount(op.sparsity!, k)), range, k)
        : null;
      const a: Lanes = { format: op.a, view: casesOf(batch.a, k), ...range, masks };
      const b: Lanes = { format: op.b, view: casesOf(batch.b, k), ...range, masks: null };
      const values = runner.run(a, b, state, count, 1, [{ k0: 0, k1: k }]);
      for (let i = 0; i < count; i++)
        batch.d[range.first + i] = wordOf(this.output, values[4 * i], values[4 * i + 1], values[4 * i + 2]);
      this.#elements += count;
    }
  }

  report(): RunReport {
    return { kernels: { [KERNEL]: this.#elements }, rarePaths: {} };
  }

  async close(): Promise<void> {
    for (const runner of this.#runners.values()) runner.close();
    this.#runners.clear();
  }
}
