import {
  type DotBatch,
  FORMATS,
  type FormatName,
  InputError,
  type MmaOp,
  type WordArray,
} from '@bitmma/core';
import { allocateWords, readWord, writeWord } from '@bitmma/core/formats';
import { chooseEngine } from '../engines.js';
import { silent } from '../events.js';
import type { GemmOptions } from '../gemm/gemm.js';
import type { CastNote, Matrices } from '../gemm/operand.js';
import { type GemmOperands, loadOperands, type PreparedGemm, prepareGemm } from '../gemm/prepare.js';
import { onceOnly, warnOfEvidence } from '../gemm/warn.js';

/** The words of one element of a GEMM: everything its dot product reads. */
export interface DotCase {
  readonly op: MmaOp;
  readonly row: number;
  readonly col: number;
  readonly batch: number;
  /** DotBatch of one case; d is there to be written. */
  readonly words: DotBatch;
  readonly casts: readonly CastNote[];
}

export interface DotOptions extends GemmOptions {
  /** Element of the result; may be left out where it has one. */
  readonly row?: number;
  readonly col?: number;
  readonly batch?: number;
}

/** Loads the operands and takes the row of A and the column of B that one element needs. */
export async function dotCase(operands: GemmOperands, options: DotOptions): Promise<DotCase> {
  const listen = onceOnly(options.on ?? silent);
  const loaded = await loadOperands(operands, options, options.signal);
  const prepared = prepareGemm(options, loaded, options.cast ?? {});
  warnOfEvidence(prepared.op, prepared.c !== null || prepared.k > prepared.op.k, listen);
  return elementCase(prepared, options);
}

export interface DotResult {
  readonly op: MmaOp;
  readonly engine: string;
  readonly kernel: string;
  readonly format: FormatName;
  /** One word (fp64: two items, low half first). */
  readonly d: WordArray;
}

/** One dot product, or one element of a GEMM; on the reference unless an engine is named. */
export async function dot(operands: GemmOperands, options: DotOptions): Promise<DotResult> {
  const { op, words } = await dotCase(operands, options);
  const engine = await chooseEngine(
    options.engine ?? process.env.BITMMA_ENGINE ?? 'reference',
    op,
    options.on ?? silent,
  );
  const kernel = options.kernel ?? process.env.BITMMA_KERNEL;
  const session = await engine.open(op, {
    ...(kernel !== undefined && { kernel }),
    ...(options.signal !== undefined && { signal: options.signal }),
  });
  try {
    for await (const batch of session.dots([words]))
      return { op, engine: engine.id, kernel: session.kernel, format: op.d, d: batch.d };
    throw new InputError(`engine ${engine.id} returned no result`);
  } finally {
    await session.close();
  }
}

/** Picks an element; InputError where it lies outside, or where several could be meant. */
export function elementCase(
  prepared: PreparedGemm,
  place: { row?: number; col?: number; batch?: number },
): DotCase {
  const { op, m, n, k } = prepared;
  const count = prepared.batch.reduce((x, y) => x * y, 1);
  const row = pick('row', place.row, m);
  const col = pick('column', place.col, n);
  const batch = pick('batch index', place.batch, count);
  const along = (matrices: Matrices, axis: 'row' | 'col', at: number, length: number): WordArray => {
    const { wordBits } = FORMATS[matrices.format];
    const words = allocateWords(wordBits, length);
    const base = matrices.offsets[matrices.offsets.length === 1 ? 0 : batch]!;
    for (let i = 0; i < length; i++) {
      const [r, c] = axis === 'row' ? [at, i] : [i, at];
      const index = base + r * matrices.rowStride + c * matrices.colStride;
      writeWord(words, i, wordBits, readWord(matrices.words, index, wordBits));
    }
    return words;
  };
  const c =
    prepared.c &&
    along(
      { ...prepared.c, offsets: prepared.c.offsets.map((offset) => offset + col * prepared.c!.colStride) },
      'row',
      row,
      1,
    );
  const scales = op.scaling === null ? 0 : Math.ceil(k / op.scaling.block);
  return {
    op,
    row,
    col,
    batch,
    casts: prepared.casts,
    words: {
      count: 1,
      k,
      a: along(prepared.a, 'row', row, k),
      b: along(prepared.b, 'col', col, k),
      ...(c !== null && { c }),
      ...(prepared.scaleA !== null && { scaleA: along(prepared.scaleA, 'row', row, scales) as Uint8Array }),
      ...(prepared.scaleB !== null && { scaleB: along(prepared.scaleB, 'row', col, scales) as Uint8Array }),
      ...(prepared.sparse !== null && {
        sparse: along(prepared.sparse, 'row', row, prepared.sparse.cols) as Uint32Array,
      }),
      d: allocateWords(FORMATS[op.d].wordBits, 1),
    },
  };
}

function pick(what: string, value: number | undefined, limit: number): number {
  if (value === undefined) {
    if (limit === 1) return 0;
    throw new InputError(`expected a ${what} of 0 to ${limit - 1}, got none`);
  }
  if (!Number.isInteger(value) || value < 0 || value >= limit)
    throw new InputError(`expected a ${what} of 0 to ${limit - 1}, got ${value}`);
  return value;
}
