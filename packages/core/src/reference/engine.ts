import type { MmaOp } from '../datapath/op.js';
import { checkDots, checkInputs, checkTile, scaleWordCount, sparseWordCount } from '../engine/check.js';
import type {
  DotBatch,
  Engine,
  Inputs,
  Loaded,
  OpenOptions,
  RunReport,
  Session,
  Tile,
  Token,
  WordArray,
} from '../engine/engine.js';
import { CancelledError, UnsupportedError } from '../errors.js';
import type { Word } from '../formats/element.js';
import { FORMATS } from '../formats/table.js';
import { readWord, writeWord } from '../formats/words.js';
import { chainBlocks, chainRunner } from './chain.js';
import { decodeColumn, decodeRow, decodeVector } from './decode-vector.js';
import { activePositions } from './sparse.js';
import type { Terms } from './terms.js';
import { POSITIVE_ZERO } from './terms.js';
import type { Trace } from './trace.js';

const KERNEL = 'bigint';

/** The reference engine: every op, in integers, written to be read beside the numerics page. */
export function referenceEngine(): Engine {
  return {
    id: 'reference',
    lineage: 'typescript-bigint',
    placement: 'worker',
    supports: () => ({ ok: true, kernels: [KERNEL] }),
    open: async (op, options) => new ReferenceSession(op, options),
  };
}

interface ReferenceLoaded extends Loaded {
  readonly inputs: Inputs;
}

class ReferenceSession implements Session {
  readonly kernel = KERNEL;
  readonly #run;
  readonly #signal: AbortSignal | undefined;
  #elements = 0;

  constructor(
    readonly op: MmaOp,
    options: OpenOptions = {},
  ) {
    if (options.kernel !== undefined && options.kernel !== KERNEL)
      throw new UnsupportedError(`reference has the kernel ${KERNEL}, got ${options.kernel}`);
    this.#signal = options.signal;
    this.#run = chainRunner(op);
  }

  async load(inputs: Inputs): Promise<ReferenceLoaded> {
    checkInputs(this.op, inputs);
    const token = { engine: 'reference', op: this.op.instruction, payload: inputs };
    return { inputs, token, release() {} };
  }

  async attach(token: Token): Promise<ReferenceLoaded> {
    return this.load(token.payload as Inputs);
  }

  async tile(loaded: Loaded, tile: Tile): Promise<void> {
    const { op } = this;
    const inputs = (loaded as ReferenceLoaded).inputs;
    checkTile(op, inputs, tile);
    const { k } = inputs;
    const scales = scaleWordCount(op, k);
    const scale = op.scaling && FORMATS[op.scaling.format];
    const columns: Terms['b'][] = [];
    const columnScales: Terms['b'][] = [];
    for (let j = tile.n0; j < tile.n1; j++) {
      columns.push([...decodeColumn(FORMATS[op.b], inputs.b, j, k), POSITIVE_ZERO]);
      columnScales.push(scale ? decodeColumn(scale, inputs.scaleB!, j, scales) : []);
    }
    const blocks = chainBlocks(op, tile.chain, k);
    const cBits = FORMATS[op.c].wordBits;
    const dBits = FORMATS[op.d].wordBits;
    for (let i = tile.m0; i < tile.m1; i++) {
      if (this.#signal?.aborted) throw new CancelledError(`cancelled at row ${i}`);
      const a = [...decodeRow(FORMATS[op.a], inputs.a, i, k), POSITIVE_ZERO];
      const scaleA = scale ? decodeRow(scale, inputs.scaleA!, i, scales) : [];
      const rowBlocks = op.sparsity ? this.#active(blocks, this.#metadata(inputs, i), k, `row ${i}`) : blocks;
      for (let j = tile.n0; j < tile.n1; j++) {
        const terms = { a, b: columns[j - tile.n0], scaleA, scaleB: columnScales[j - tile.n0] };
        const c = tile.c ? readWord(tile.c.words, elementIndex(tile.c, i, j), cBits) : zeroWord(cBits);
        const d = this.#run(terms, rowBlocks, c);
        writeWord(tile.d.words, elementIndex(tile.d, i, j), dBits, d);
      }
    }
    this.#elements += (tile.m1 - tile.m0) * (tile.n1 - tile.n0);
  }

  async settle(): Promise<void> {}

  async *dots(batches: AsyncIterable<DotBatch> | Iterable<DotBatch>): AsyncIterable<DotBatch> {
    for await (const batch of batches) {
      if (this.#signal?.aborted) throw new CancelledError('cancelled between batches');
      checkDots(this.op, batch);
      for (let i = 0; i < batch.count; i++)
        writeWord(batch.d, i, FORMATS[this.op.d].wordBits, this.#dot(batch, i));
      this.#elements += batch.count;
      yield batch;
    }
  }

  /** Case i of a batch; the trace receives its block steps. */
  #dot(batch: DotBatch, i: number, trace?: Trace): Word {
    const { op } = this;
    const { k } = batch;
    const vector = (name: MmaOp['a'], words: WordArray, length: number) =>
      decodeVector(FORMATS[name], words, i * length, 1, length);
    const scales = scaleWordCount(op, k);
    const terms: Terms = {
      a: [...vector(op.a, batch.a, k), POSITIVE_ZERO],
      b: [...vector(op.b, batch.b, k), POSITIVE_ZERO],
      ...(op.scaling && {
        scaleA: vector(op.scaling.format, batch.scaleA!, scales),
        scaleB: vector(op.scaling.format, batch.scaleB!, scales),
      }),
    };
    let blocks = chainBlocks(op, [{ k0: 0, k1: k }], k);
    if (op.sparsity) {
      const words = sparseWordCount(op.sparsity, k);
      blocks = this.#active(blocks, batch.sparse!.subarray(i * words, (i + 1) * words), k, `case ${i}`);
    }
    const cBits = FORMATS[op.c].wordBits;
    return this.#run(terms, blocks, batch.c ? readWord(batch.c, i, cBits) : zeroWord(cBits), trace);
  }

  /** The one dot product of a batch of one, traced. */
  traced(batch: DotBatch, trace?: Trace): Word {
    checkDots(this.op, batch);
    return this.#dot(batch, 0, trace);
  }

  #active(blocks: readonly number[][], metadata: ArrayLike<number>, k: number, where: string): number[][] {
    const active = activePositions(this.op, metadata, k, where);
    return blocks.map((block) => block.filter((position) => active[position] === 1));
  }

  #metadata({ sparse, k }: Inputs, row: number): Uint32Array {
    const count = sparseWordCount(this.op.sparsity!, k);
    return Uint32Array.from({ length: count }, (_, w) => sparse!.words[elementIndex(sparse!, row, w)]);
  }

  report(): RunReport {
    return { kernels: { [KERNEL]: this.#elements }, rarePaths: {} };
  }

  async close(): Promise<void> {}
}

const elementIndex = (
  o: { offset: number; rowStride: number; colStride: number },
  row: number,
  col: number,
): number => o.offset + row * o.rowStride + col * o.colStride;

const zeroWord = (wordBits: number): Word => (wordBits === 64 ? 0n : 0);

/** Operand words of one dot product, as in DotBatch. */
export type DotWords = Omit<DotBatch, 'count' | 'd'>;

/**
 * One dot product on the reference: the d word. `trace` receives every block step; without it nothing is recorded.
 * Throws InputError where the words do not fit the op.
 */
export function referenceDot(op: MmaOp, words: DotWords, trace?: Trace): Word {
  const bits = FORMATS[op.d].wordBits;
  const d = bits === 8 ? new Uint8Array(1) : bits === 16 ? new Uint16Array(1) : new Uint32Array(bits / 32);
  return new ReferenceSession(op).traced({ ...words, count: 1, d }, trace);
}
