/**
 * The exec engine: any program that reads vectors without d and writes them with d, one JSON object a line, in
 * order, over a pipe (docs: schemas/vectors.schema.json). Node only.
 */
import type { CaseSet } from '../conformance/cases.js';
import { recordOf } from '../conformance/vector.js';
import {
  allocateWords,
  chunkPositions,
  itemsPerWord,
  parseWords,
  scaleWords,
  sparseWords,
} from '../conformance/words.js';
import type { MmaOp } from '../datapath/op.js';
import { EngineUnavailableError, InputError, UnsupportedError } from '../errors.js';
import type {
  DotBatch,
  Engine,
  Inputs,
  Loaded,
  OpenOptions,
  RunReport,
  Session,
  Support,
  Tile,
  Token,
  WordArray,
} from './engine.js';
import { ExecError, Pipe } from './exec-pipe.js';
import { tileByDots } from './tile-by-dots.js';

export { ExecError } from './exec-pipe.js';

export interface ExecOptions {
  /** Program and its arguments; no shell. */
  readonly command: string;
  readonly args?: readonly string[];
  /** Default `exec`. */
  readonly id?: string;
  /** Default `exec:COMMAND ARGS`; give the program's own where it shares code with another engine. */
  readonly lineage?: string;
  /** Milliseconds without an answer after which the program counts as hung; default 30 000. */
  readonly timeout?: number;
  /** Ops that the program computes; default all. */
  readonly supports?: (op: MmaOp) => Support;
  readonly env?: Readonly<Record<string, string>>;
}

const KERNEL = 'exec';
const WINDOW = 256;

/** Gives the chunks behind position k a legal selector: they hold padding. */
function padSelectors(op: MmaOp, k: number, sparse: Uint32Array): Uint32Array {
  const words = sparseWords(op, op.k);
  const chunks = Math.ceil(op.k / chunkPositions(op));
  for (let chunk = Math.ceil(k / chunkPositions(op)); chunk < chunks; chunk++)
    for (let at = chunk >> 3; at < sparse.length; at += words) {
      const shift = 4 * (chunk & 7);
      sparse[at] = ((sparse[at] & ~(15 << shift)) | (4 << shift)) >>> 0;
    }
  return sparse;
}

class ExecSession implements Session {
  readonly kernel = KERNEL;
  private dotsDone = 0;
  private serial = 0;
  private broken = false;

  constructor(
    readonly op: MmaOp,
    private readonly name: string,
    private readonly pipe: Pipe,
  ) {}

  private token(inputs: Inputs): Loaded {
    const { m, n, k } = inputs;
    return {
      inputs: { m, n, k },
      token: { engine: this.name, op: `${this.op.device} ${this.op.instruction}`, payload: inputs },
      release() {},
    };
  }

  async load(inputs: Inputs): Promise<Loaded> {
    return this.token(inputs);
  }

  async attach(token: Token): Promise<Loaded> {
    if (token.engine !== this.name)
      throw new InputError(`token: expected one of engine ${this.name}, got ${token.engine}`);
    return this.token(token.payload as Inputs);
  }

  async tile(loaded: Loaded, tile: Tile): Promise<void> {
    const inputs = loaded.token.payload as Inputs;
    await tileByDots(this.op, inputs, tile, async (batch) => {
      await this.run(batch);
      return batch.d;
    });
  }

  async settle(): Promise<void> {}

  async *dots(batches: AsyncIterable<DotBatch> | Iterable<DotBatch>): AsyncGenerator<DotBatch> {
    for await (const batch of batches) {
      await this.run(batch);
      yield batch;
    }
  }

  /** A batch as instructions of K positions each, the last padded with +0, each with the d before it as its c. */
  private async run(batch: DotBatch): Promise<void> {
    const { op } = this;
    const steps = Math.max(1, Math.ceil(batch.k / op.k));
    let c: WordArray = batch.c ?? allocateWords(op.c, batch.count);
    for (let step = 0; step < steps; step++) {
      const d = allocateWords(op.d, batch.count);
      await this.instruction(this.cut(batch, step, c), d);
      c = d;
    }
    batch.d.set(c);
    this.dotsDone += batch.count;
  }

  private cut(batch: DotBatch, step: number, c: WordArray): CaseSet {
    const { op } = this;
    const part = (words: WordArray, total: number, each: number, items: number, empty: WordArray) => {
      const from = step * each;
      const width = Math.min(each, total - from);
      for (let i = 0; i < batch.count; i++)
        empty.set(
          words.subarray((i * total + from) * items, (i * total + from + width) * items),
          i * each * items,
        );
      return empty;
    };
    const { count, k } = batch;
    const scales = scaleWords(op, op.k);
    const metadata = sparseWords(op, op.k);
    const allScales = scaleWords(op, k);
    const allMetadata = sparseWords(op, k);
    const serial = this.serial;
    this.serial += count;
    return {
      op,
      source: this.name,
      count,
      k: op.k,
      a: part(batch.a, k, op.k, itemsPerWord(op.a), allocateWords(op.a, count * op.k)),
      b: part(batch.b, k, op.k, itemsPerWord(op.b), allocateWords(op.b, count * op.k)),
      c,
      ...(batch.scaleA && batch.scaleB
        ? {
            scaleA: part(batch.scaleA, allScales, scales, 1, new Uint8Array(count * scales)) as Uint8Array,
            scaleB: part(batch.scaleB, allScales, scales, 1, new Uint8Array(count * scales)) as Uint8Array,
          }
        : {}),
      ...(batch.sparse
        ? {
            sparse: padSelectors(
              op,
              Math.min(op.k, k - step * op.k),
              part(batch.sparse, allMetadata, metadata, 1, new Uint32Array(count * metadata)) as Uint32Array,
            ),
          }
        : {}),
      id: (index) => String(serial + index),
    };
  }

  private async instruction(set: CaseSet, d: WordArray): Promise<void> {
    if (this.broken) throw new ExecError(`${this.name}: expected a working program, it failed before`);
    try {
      for (let start = 0; start < set.count; start += WINDOW) {
        const end = Math.min(start + WINDOW, set.count);
        const text: string[] = [];
        for (let i = start; i < end; i++) text.push(`${JSON.stringify(recordOf(set, i))}\n`);
        const writing = this.pipe.write(text.join(''));
        for (let i = start; i < end; i++) this.answer(set, i, await this.pipe.next(set.id(i)), d);
        await writing;
      }
    } catch (error) {
      this.broken = true;
      this.pipe.abandon();
      throw error;
    }
  }

  private answer(set: CaseSet, i: number, line: string, d: WordArray): void {
    const id = set.id(i);
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      throw new ExecError(
        `${this.name}: expected a JSON line for ${id}, got ${JSON.stringify(line.slice(0, 80))}`,
      );
    }
    const answer = value as { readonly id?: unknown; readonly d?: unknown } | null;
    if (answer?.id !== id)
      throw new ExecError(`${this.name}: expected id ${id}, got ${JSON.stringify(answer?.id ?? value)}`);
    if (typeof answer.d !== 'string')
      throw new ExecError(
        `${this.name}: expected d of ${id} as a hex string, got ${JSON.stringify(answer.d)}`,
      );
    try {
      parseWords(set.op.d, answer.d, 1, 'd', d, i);
    } catch (error) {
      throw new ExecError(`${this.name}: ${id}: ${(error as Error).message}`, { cause: error });
    }
  }

  report(): RunReport {
    return { kernels: this.dotsDone > 0 ? { [KERNEL]: this.dotsDone } : {}, rarePaths: {} };
  }

  async close(): Promise<void> {
    if (!this.broken) await this.pipe.close();
  }
}

/**
 * An engine that is another program. The program is started once a session; it gets one vector a line without d
 * and answers each, in order, with a line that has the same id and a d.
 * @throws EngineUnavailableError from `open` where the program does not start.
 */
export function execEngine(options: ExecOptions): Engine {
  const id = options.id ?? 'exec';
  const program = [options.command, ...(options.args ?? [])].join(' ');
  const supports = options.supports ?? (() => ({ ok: true, kernels: [KERNEL] }) as const);
  return {
    id,
    lineage: options.lineage ?? `exec:${program}`,
    placement: 'external',
    supports,
    async open(op: MmaOp, open: OpenOptions = {}): Promise<Session> {
      const support = supports(op);
      if (!support.ok) throw new UnsupportedError(`${id}: ${op.instruction}: ${support.reason}`);
      if (open.kernel !== undefined && open.kernel !== KERNEL)
        throw new UnsupportedError(`${id}: expected kernel ${KERNEL}, got ${open.kernel}`);
      const pipe = new Pipe(`${id} (${program})`, options, options.timeout ?? 30_000, open.signal);
      // A program that cannot start reports it before the next turn of the event loop ends.
      await new Promise((resolve) => setTimeout(resolve, 0));
      if (pipe.error !== null)
        throw new EngineUnavailableError(id, `${program} does not start: ${pipe.error}`, 'check the command');
      return new ExecSession(op, id, pipe);
    },
  };
}
