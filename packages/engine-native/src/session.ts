import {
  BitmmaError,
  CancelledError,
  checkDots,
  checkInputs,
  checkTile,
  type DotBatch,
  InputError,
  type Inputs,
  type Loaded,
  type MmaOp,
  type RunReport,
  type Session,
  type Tile,
  type Token,
  UnsupportedError,
} from '@bitmma/core';
import type { Session as NativeSession } from './generated/binding.js';
import type { Binding } from './load-binding.js';

/** What travels between threads: the operands, and shared memory where the first tiles pack b for `kernel`. */
interface Payload {
  readonly inputs: Inputs;
  readonly kernel: string;
  readonly packed: Uint8Array;
}

interface NativeLoaded extends Loaded {
  readonly inputs: Inputs;
  packed: Uint8Array;
  released: boolean;
}

const NOTHING_PACKED: Uint8Array = new Uint8Array(0);

/** Calls the binding; its errors become this project's, by their code. */
export function call<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    if (code === 'InvalidArg') throw new InputError(message);
    if (code === 'GenericFailure') throw new UnsupportedError(message);
    throw Object.assign(new BitmmaError(message), { cause: error });
  }
}

/** Each verb runs on the calling thread and returns when it is done; the signal is looked at before each one. */
export class NativeEngineSession implements Session {
  readonly kernel: string;
  readonly #native: NativeSession;

  constructor(
    binding: Binding,
    readonly op: MmaOp,
    kernel: string | undefined,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.#native = call(() => binding.Session.open(JSON.stringify(op), kernel));
    this.kernel = this.#native.kernel;
  }

  #proceed(before: string): void {
    if (this.signal?.aborted) throw new CancelledError(`native engine: cancelled before ${before}`);
  }

  /**
   * Makes a SharedArrayBuffer for b's panels, which the threads of the first tiles pack together, each panel once; the
   * other operands are read where they lie.
   */
  async load(inputs: Inputs): Promise<NativeLoaded> {
    this.#proceed('loading');
    checkInputs(this.op, inputs);
    const bytes = call(() => this.#native.check(inputs));
    return this.#loaded(inputs, bytes > 0 ? new Uint8Array(new SharedArrayBuffer(bytes)) : NOTHING_PACKED);
  }

  /** Takes over operands; another kernel's panels are not read, b is packed again then. */
  async attach(token: Token): Promise<NativeLoaded> {
    const { engine, op } = token;
    if (engine !== 'native' || op !== this.op.instruction)
      throw new InputError(
        `token: expected one of engine native and ${this.op.instruction}, got ${engine}, ${op}`,
      );
    const { inputs, kernel, packed } = token.payload as Payload;
    return kernel === this.kernel ? this.#loaded(inputs, packed) : this.load(inputs);
  }

  #loaded(inputs: Inputs, packed: Uint8Array): NativeLoaded {
    const payload: Payload = { inputs, kernel: this.kernel, packed };
    return {
      inputs,
      packed,
      released: false,
      token: { engine: 'native', op: this.op.instruction, payload },
      release() {
        this.packed = NOTHING_PACKED;
        this.released = true;
      },
    };
  }

  async tile(loaded: Loaded, tile: Tile): Promise<void> {
    const { inputs, packed, released } = loaded as NativeLoaded;
    if (released) throw new InputError('tile: expected loaded operands, got released ones');
    this.#proceed(`rows ${tile.m0}..${tile.m1}, columns ${tile.n0}..${tile.n1}`);
    checkTile(this.op, inputs, tile);
    call(() => this.#native.tile(inputs, packed, { ...tile, chain: [...tile.chain] }));
  }

  async settle(): Promise<void> {}

  async *dots(batches: AsyncIterable<DotBatch> | Iterable<DotBatch>): AsyncIterable<DotBatch> {
    for await (const batch of batches) {
      this.#proceed('a batch of dot products');
      checkDots(this.op, batch);
      call(() => this.#native.dots(batch));
      yield batch;
    }
  }

  report(): RunReport {
    return this.#native.report();
  }

  async close(): Promise<void> {}
}
