import {
  checkDots,
  checkInputs,
  checkTile,
  type DotBatch,
  type Engine,
  EngineUnavailableError,
  type Inputs,
  type Loaded,
  type MmaOp,
  type OpenOptions,
  type RunReport,
  type Session,
  type Support,
  type Tile,
  type Token,
  tileByDots,
  UnsupportedError,
  type WordArray,
} from '@bitmma/core';
import { binaryHeader, type CaseSet, writeBinaryHeader, writeBinaryRecords } from '@bitmma/core/conformance';
import { type Api, executablePath, gpuNumber, type HardwareOptions } from './executable.js';
import { type Gpu, type Listing, listGpu } from './list.js';
import { Server } from './server.js';

/** Cases a request holds at most: what one process keeps in memory. */
const REQUEST_CASES = 16384;

class HardwareSession implements Session {
  private elements = 0;

  constructor(
    readonly op: MmaOp,
    readonly kernel: string,
    private readonly engine: string,
    private readonly server: Server,
  ) {}

  private async run(batch: DotBatch): Promise<WordArray> {
    const { op } = this;
    checkDots(op, batch);
    const { count, k } = batch;
    const header = binaryHeader(op, k, batch.c !== undefined, false);
    const out = new Uint8Array(batch.d.buffer, batch.d.byteOffset, (count * header.dBits) / 8);
    // A record's bytes do not depend on c where it is absent.
    const set: CaseSet = { op, source: 'batch', c: new Uint8Array(0), ...batch, id: String };
    for (let start = 0; start < count; start += REQUEST_CASES) {
      const part = slice(set, start, Math.min(REQUEST_CASES, count - start));
      const words = await this.server.request(writeBinaryHeader(header), writeBinaryRecords(part, header));
      out.set(words, (start * header.dBits) / 8);
    }
    this.elements += count;
    return batch.d;
  }

  async load(inputs: Inputs): Promise<Loaded> {
    checkInputs(this.op, inputs);
    return this.loaded(inputs);
  }

  async attach(token: Token): Promise<Loaded> {
    if (token.engine !== this.engine || token.op !== this.op.instruction)
      throw new UnsupportedError(
        `token: expected one of ${this.engine}, ${this.op.instruction}, got ${token.engine}, ${token.op}`,
      );
    return this.loaded(token.payload as Inputs);
  }

  private loaded(inputs: Inputs): Loaded {
    return {
      inputs,
      token: { engine: this.engine, op: this.op.instruction, payload: inputs },
      release: () => {},
    };
  }

  async tile(loaded: Loaded, tile: Tile): Promise<void> {
    const inputs = loaded.inputs as Inputs;
    checkTile(this.op, inputs, tile);
    await tileByDots(this.op, inputs, tile, (batch) => this.run(batch));
  }

  async settle(): Promise<void> {}

  async *dots(batches: AsyncIterable<DotBatch> | Iterable<DotBatch>): AsyncIterable<DotBatch> {
    for await (const batch of batches) {
      await this.run(batch);
      yield batch;
    }
  }

  report(): RunReport {
    return { kernels: { [this.kernel]: this.elements }, rarePaths: {} };
  }

  async close(): Promise<void> {}
}

/** Cases start..start+count of a batch, as views. */
function slice(set: CaseSet, start: number, count: number): CaseSet {
  if (start === 0 && count === set.count) return set;
  const part = <T extends WordArray | undefined>(words: T): T =>
    words &&
    (words.subarray((start * words.length) / set.count, ((start + count) * words.length) / set.count) as T);
  return {
    ...set,
    count,
    a: part(set.a),
    b: part(set.b),
    c: part(set.c),
    ...(set.scaleA && set.scaleB ? { scaleA: part(set.scaleA), scaleB: part(set.scaleB) } : {}),
    ...(set.sparse ? { sparse: part(set.sparse) } : {}),
  };
}

/** A GPU as an engine: its arithmetic is the hardware's own. */
export class HardwareEngine implements Engine {
  readonly lineage: string;
  readonly placement = 'external';
  private server: Server | undefined;

  constructor(
    readonly id: Api,
    readonly gpu: Gpu,
    private readonly listing: Listing,
    private readonly path: string,
    private readonly options: HardwareOptions,
  ) {
    this.lineage = `silicon ${gpu.name}`;
  }

  supports(op: MmaOp): Support {
    const { gpu, listing } = this;
    if (op.device !== gpu.device)
      return { ok: false, reason: `this GPU is ${gpu.name} (${gpu.device}), the op is of ${op.device}` };
    const target = listing.targets.get(op.instruction);
    if (target !== undefined) return { ok: true, kernels: [target] };
    return { ok: false, reason: listing.reasons.get(op.instruction) ?? `no kernel of ${op.instruction}` };
  }

  async open(op: MmaOp, options: OpenOptions = {}): Promise<Session> {
    const support = this.supports(op);
    if (!support.ok) throw new UnsupportedError(support.reason);
    const [kernel] = support.kernels;
    if (options.kernel !== undefined && options.kernel !== kernel)
      throw new UnsupportedError(`kernel: expected ${kernel}, got ${options.kernel}`);
    options.signal?.throwIfAborted();
    this.server ??= new Server(this.path, this.id, this.options);
    return new HardwareSession(op, kernel, this.id, this.server);
  }

  /** Gives the device back; sessions of this engine end. */
  close(): void {
    this.server?.close();
    this.server = undefined;
  }
}

async function hardwareEngine(api: Api, options: HardwareOptions): Promise<HardwareEngine> {
  const path = executablePath(api, options);
  const listing = await listGpu(api, options);
  const number = gpuNumber(options);
  const gpu = listing.gpus.find((g) => g.gpu === number);
  if (!gpu) throw new EngineUnavailableError(api, `there is no GPU ${number}`, 'see `bitmma-hw list`');
  return new HardwareEngine(api, gpu, listing, path, options);
}

/**
 * An NVIDIA GPU of this machine.
 * @throws EngineUnavailableError without the executable, the CUDA driver or the device.
 */
export const cudaEngine = (options: HardwareOptions = {}): Promise<HardwareEngine> =>
  hardwareEngine('cuda', options);

/**
 * An AMD GPU of this machine.
 * @throws EngineUnavailableError without the executable, the HIP runtime or the device.
 */
export const hipEngine = (options: HardwareOptions = {}): Promise<HardwareEngine> =>
  hardwareEngine('hip', options);
