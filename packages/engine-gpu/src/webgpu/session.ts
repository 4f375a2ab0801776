import {
  CancelledError,
  checkDots,
  checkInputs,
  checkTile,
  type DotBatch,
  FORMATS,
  InputError,
  type Inputs,
  type Loaded,
  type MmaOp,
  type OpenOptions,
  type Operand,
  type RunReport,
  type Session,
  scaleWordCount,
  type Tile,
  type Token,
  UnsupportedError,
} from '@bitmma/core';
import { casesOf, splitLanes } from '../host/lanes.js';
import type { Device } from './device.js';
import { USAGE } from './gpu.js';
import {
  type Band,
  DeviceOperands,
  lanesPerBuffer,
  metadataWords,
  type OperandSource,
  releaseBand,
  uploadBand,
} from './operands.js';
import { Runner, readBack } from './runner.js';
import { chooseShape } from './shader.js';

export const KERNEL = 'wgsl';
/** Results of one window of outputs, and of all windows not yet read back. */
const WINDOW_BYTES = 2 ** 26;
const PENDING_BYTES = 2 ** 28;

interface WebgpuLoaded extends Loaded {
  readonly operands: DeviceOperands;
}

interface Pending {
  readonly bytes: number;
  readonly done: Promise<void>;
}

/** Loads a token's operands back: sessions of one engine share device memory. */
export type Shelf = Map<number, { readonly loaded: WebgpuLoaded; readonly op: MmaOp; users: number }>;
let nextKey = 1;

export class WebgpuSession implements Session {
  readonly kernel = KERNEL;
  readonly #pending: Pending[] = [];
  #elements = 0;
  #failed: unknown;
  #gemm: Promise<Runner> | undefined;
  #dots: Promise<Runner> | undefined;

  constructor(
    readonly op: MmaOp,
    private readonly device: Device,
    private readonly shelf: Shelf,
    private readonly options: OpenOptions,
  ) {}

  private cancelled(): void {
    if (this.options.signal?.aborted)
      throw new CancelledError(`${this.op.instruction}: stopped by its signal`);
  }

  async load(inputs: Inputs): Promise<Loaded> {
    checkInputs(this.op, inputs);
    this.device.check();
    const operands = await DeviceOperands.load(this.device, this.op, inputs);
    const key = nextKey++;
    const { m, n, k } = inputs;
    const loaded: WebgpuLoaded = {
      inputs: { m, n, k },
      token: { engine: 'webgpu', op: this.op.instruction, payload: key },
      operands,
      release: () => {
        const entry = this.shelf.get(key);
        if (!entry || --entry.users > 0) return;
        this.shelf.delete(key);
        operands.release();
      },
    };
    this.shelf.set(key, { loaded, op: this.op, users: 1 });
    return loaded;
  }

  async attach(token: Token): Promise<Loaded> {
    const entry = token.engine === 'webgpu' ? this.shelf.get(token.payload as number) : undefined;
    if (!entry || token.op !== this.op.instruction)
      throw new InputError(
        `token: expected operands of ${this.op.instruction} loaded by this engine, got ${token.engine} ${token.op}`,
      );
    entry.users++;
    return entry.loaded;
  }

  private runner(): Promise<Runner> {
    this.#gemm ??= (async () => {
      const shape = chooseShape(this.op, this.device.workgroupMemory, this.device.software);
      if (shape === null)
        throw new UnsupportedError(
          `${this.op.instruction}: a step of K = ${this.op.k} does not fit ${this.device.workgroupMemory} bytes of workgroup memory`,
        );
      return Runner.compile(this.device, this.op, { kind: 'gemm', shape });
    })();
    return this.#gemm;
  }

  async tile(loaded: Loaded, tile: Tile): Promise<void> {
    const { operands, inputs } = loaded as WebgpuLoaded;
    checkTile(this.op, inputs, tile);
    const runner = await this.runner();
    for (const a of operands.a)
      for (const b of operands.b) {
        const rows = clip(a, tile.m0, tile.m1);
        const cols = clip(b, tile.n0, tile.n1);
        if (rows === null || cols === null) continue;
        const width = Math.ceil((cols.last - cols.first) / 4) * 4 + 4;
        const most = Math.min(this.device.maxBufferBytes, WINDOW_BYTES);
        for (const range of splitLanes(cols.first, cols.last, Math.min(width, most / 16)))
          for (const band of splitLanes(rows.first, rows.last, most / 4 / Math.min(width, most / 16))) {
            this.cancelled();
            await this.window(runner, a, b, band, range, inputs.k, tile);
          }
      }
  }

  /** One window of outputs: c up, the chain, d back when it comes. */
  private async window(
    runner: Runner,
    a: Band,
    b: Band,
    rows: { first: number; last: number },
    cols: { first: number; last: number },
    k: number,
    tile: Tile,
  ): Promise<void> {
    const rowQuad0 = Math.floor((rows.first - a.first) / 4);
    const rowQuads = Math.ceil((rows.last - a.first) / 4);
    const colQuad0 = Math.floor((cols.first - b.first) / 4);
    const colQuads = Math.ceil((cols.last - b.first) / 4);
    const width = (colQuads - colQuad0) * 4;
    const at = (i: number, j: number): number =>
      (i - a.first - rowQuad0 * 4) * width + (j - b.first - colQuad0 * 4);
    const words = new Uint32Array((rowQuads - rowQuad0) * 4 * width);
    if (tile.c)
      copyCells(rows, cols, tile.c, (i, j, from) => {
        words[at(i, j)] = tile.c!.words[from];
      });
    let acc: GPUBuffer | undefined;
    let uniforms: GPUBuffer | undefined;
    const free = (): void => {
      for (const buffer of [acc, uniforms]) if (buffer) this.device.release(buffer);
    };
    try {
      await this.device.guarded(
        `a window of ${rows.last - rows.first} x ${cols.last - cols.first} results`,
        () => {
          acc = this.device.create(words.byteLength, USAGE.STORAGE | USAGE.COPY_DST | USAGE.COPY_SRC);
          this.device.gpu.queue.writeBuffer(acc, 0, words);
          uniforms = runner.submit(
            a,
            b,
            acc,
            { rowQuad0, rowQuads, colQuad0, colQuads },
            tile.chain,
            scaleWordCount(this.op, k),
          );
        },
      );
    } catch (error) {
      free();
      throw error;
    }
    const back = readBack(this.device, acc!)
      .then((result) => {
        copyCells(rows, cols, tile.d, (i, j, into) => {
          tile.d.words[into] = result[at(i, j)];
        });
        this.#elements += (rows.last - rows.first) * (cols.last - cols.first);
      })
      .catch((error: unknown) => {
        this.#failed ??= error;
      })
      .finally(free);
    this.#pending.push({ bytes: words.byteLength, done: back });
    while (this.#pending.length > 1 && this.#pending.reduce((sum, p) => sum + p.bytes, 0) > PENDING_BYTES)
      await this.#pending.shift()!.done;
    this.rethrow();
  }

  private rethrow(): void {
    if (this.#failed === undefined) return;
    const error = this.#failed;
    this.#failed = undefined;
    throw error;
  }

  async settle(): Promise<void> {
    while (this.#pending.length > 0) await this.#pending.shift()!.done;
    this.rethrow();
  }

  async *dots(batches: AsyncIterable<DotBatch> | Iterable<DotBatch>): AsyncIterable<DotBatch> {
    for await (const batch of batches) {
      this.cancelled();
      checkDots(this.op, batch);
      await this.batch(batch);
      yield batch;
    }
  }

  private async batch(batch: DotBatch): Promise<void> {
    const { op, device } = this;
    const { k } = batch;
    const scales = scaleWordCount(op, k);
    const of = (
      name: MmaOp['a'],
      words: DotBatch['a'],
      extra?: Uint8Array,
      sparse?: Uint32Array,
    ): OperandSource => ({
      view: casesOf(words, k),
      bits: FORMATS[name].wordBits,
      scales: extra ? casesOf(extra, scales) : null,
      masks: sparse ? casesOf(sparse, metadataWords(op, k)) : null,
    });
    const a = of(op.a, batch.a, batch.scaleA, batch.sparse);
    const b = of(op.b, batch.b, batch.scaleB);
    const most = Math.min(
      lanesPerBuffer(op, Math.max(a.bits, b.bits), k, device.maxBufferBytes),
      // 65535 workgroups of 64 quads.
      65535 * 256,
    );
    this.#dots ??= Runner.compile(device, op, { kind: 'dots' });
    const runner = await this.#dots;
    for (const range of splitLanes(0, batch.count, most)) {
      const made: Band[] = [];
      const buffers: GPUBuffer[] = [];
      try {
        await device.guarded(`a batch of ${range.last - range.first} dot products`, () => {
          made.push(uploadBand(device, op, a, range, k));
          made.push(uploadBand(device, op, b, range, k));
          const words = new Uint32Array(made[0].quads * 4);
          if (batch.c) words.set(batch.c.subarray(range.first, range.last));
          const acc = device.create(words.byteLength, USAGE.STORAGE | USAGE.COPY_DST | USAGE.COPY_SRC);
          buffers.push(acc);
          device.gpu.queue.writeBuffer(acc, 0, words);
          const window = { rowQuad0: 0, rowQuads: made[0].quads, colQuad0: 0, colQuads: 0 };
          buffers.push(runner.submit(made[0], made[1], acc, window, [{ k0: 0, k1: k }], scales));
        });
        const result = await readBack(device, buffers[0]);
        batch.d.set(result.subarray(0, range.last - range.first), range.first);
        this.#elements += range.last - range.first;
      } finally {
        for (const band of made) releaseBand(device, band);
        for (const buffer of buffers) device.release(buffer);
      }
    }
  }

  report(): RunReport {
    return { kernels: { [KERNEL]: this.#elements }, rarePaths: {} };
  }

  async close(): Promise<void> {
    await this.settle();
  }
}

function clip(band: Band, first: number, last: number): { first: number; last: number } | null {
  const clipped = { first: Math.max(band.first, first), last: Math.min(band.last, last) };
  return clipped.first < clipped.last ? clipped : null;
}

function copyCells(
  rows: { first: number; last: number },
  cols: { first: number; last: number },
  operand: Operand,
  move: (i: number, j: number, index: number) => void,
): void {
  const { offset, rowStride, colStride } = operand;
  for (let i = rows.first; i < rows.last; i++)
    for (let j = cols.first; j < cols.last; j++) move(i, j, offset + i * rowStride + j * colStride);
}
