import { CancelledError, type Engine, type MmaOp, type Operand, type WordArray } from '@bitmma/core';
import { resultOperand } from '../schedule/calibrate.js';
import { schedule } from '../schedule/schedule.js';

/** Words of m lines of k elements, line after line, in shared memory. */
export interface WordLines {
  readonly words: WordArray;
  /** First element of the first line. */
  readonly offset: number;
  /** Elements from one line to the next. */
  readonly stride: number;
}

/** One product on an emulated device: A is m lines along k, B is n lines along k (columns of the k x n operand). */
export interface ProductRequest {
  readonly op: MmaOp;
  readonly engine: Engine;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly a: WordLines;
  readonly b: WordLines;
  /** m x n words of op.c, row by row; absent: +0. */
  readonly c?: WordArray;
  readonly signal?: AbortSignal | undefined;
  /** Multiply-adds done by one step. */
  readonly onDone?: ((macs: number) => void) | undefined;
}

/**
 * k positions of one engine call. A chain that goes on from its own partial result has the words of one chain, so
 * the cut decides only how soon progress shows and a cancellation is heard. A multiple of every instruction's K.
 */
const STEP = 2 ** 16;

/** D = C + A B^T as the device's chain over all of k, m x n words of op.d, row by row. CancelledError on the signal. */
export async function deviceProduct(request: ProductRequest): Promise<WordArray> {
  const { op, engine, m, n, k, a, b, signal } = request;
  let from: Operand | undefined;
  if (request.c !== undefined)
    from = { format: op.c, words: request.c, offset: 0, rowStride: n, colStride: 1 };
  let to = resultOperand(op, m, n);
  let spare = resultOperand(op, m, n);
  for (let k0 = 0; k0 < k; k0 += STEP) {
    if (signal?.aborted) throw new CancelledError(`cancelled at k = ${k0} of ${k}`);
    const depth = Math.min(STEP, k - k0);
    const inputs = {
      m,
      n,
      k: depth,
      a: { format: op.a, words: a.words, offset: a.offset + k0, rowStride: a.stride, colStride: 1 },
      b: { format: op.b, words: b.words, offset: b.offset + k0, rowStride: 1, colStride: b.stride },
    };
    await schedule({
      op,
      engine,
      inputs,
      d: to,
      ...(from !== undefined && { c: from }),
      ...(signal !== undefined && { signal }),
    });
    request.onDone?.(m * n * depth);
    from = to;
    [to, spare] = [spare, to];
    // A synchronous engine leaves no turn of the event loop by itself.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return from?.words ?? to.words;
}

/** fp32 words as numbers, exactly. */
export const asSingles = (words: WordArray): Float32Array =>
  new Float32Array(words.buffer, words.byteOffset, words.length);
