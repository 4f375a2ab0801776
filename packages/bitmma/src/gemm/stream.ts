import { createHash } from 'node:crypto';
import { FORMATS, findFormat, InputError, type MmaOp, type Operand } from '@bitmma/core';
import { allocateWords } from '@bitmma/core/formats';
import { silent } from '../events.js';
import { readBlock } from '../files/block.js';
import type { StoredFormat } from '../files/dtype.js';
import { openTensor } from '../files/open.js';
import type { StoredTensor, Tensor } from '../files/tensor.js';
import { npyParts, writeThrough } from '../files/write.js';
import { schedule } from '../schedule/schedule.js';
import { engineFor } from './engine-for.js';
import type { GemmOptions } from './gemm.js';
import { castTensor } from './operand.js';
import { resolveOp } from './resolve.js';
import { onceOnly, warnOfEvidence } from './warn.js';

export interface StreamOptions extends GemmOptions {
  /** Result file, .npy. */
  readonly out: string;
  /** Bytes for operand strips and result strip together; an engine's packed panels take about as much again. */
  readonly memory: number;
  readonly transB?: boolean;
}

export interface StreamResult {
  readonly op: MmaOp;
  readonly engine: string;
  readonly shape: readonly [number, number];
  readonly k: number;
  /** Rows and columns of a strip. */
  readonly strip: readonly [number, number];
  readonly seconds: number;
  readonly macs: number;
  /** SHA-256 of the result words, row by row: that of the same GEMM in memory. */
  readonly sha256: string;
}

const UNIT = 64;

/**
 * Rows and columns of the strips whose words fit `memory`: x rows of A and x columns of B over all of K, as stored and
 * as operands, and x * x result words. Throws InputError where not even one unit fits.
 */
export function stripSize(
  m: number,
  n: number,
  bytesPerRow: number,
  dBytes: number,
  memory: number,
): [number, number] {
  // x * bytesPerRow + x^2 * dBytes <= memory
  const x = (Math.sqrt(bytesPerRow ** 2 + 4 * dBytes * memory) - bytesPerRow) / (2 * dBytes);
  const units = Math.floor(x / UNIT) * UNIT;
  if (units < UNIT)
    throw new InputError(
      `--memory: expected at least ${UNIT * bytesPerRow + UNIT * UNIT * dBytes} bytes for strips of ${UNIT} rows and columns over this K, got ${memory}`,
    );
  return [Math.min(m, units), Math.min(n, units)];
}

/**
 * A GEMM from file to file within a memory budget: strips of B's columns, and for each strips of A's rows, over all of
 * K. The words are those of gemm(). Dense, unscaled ops without C.
 */
export async function streamGemm(
  aFile: string,
  bFile: string,
  options: StreamOptions,
): Promise<StreamResult> {
  const listen = onceOnly(options.on ?? silent);
  if (!/\.npy$/i.test(options.out))
    throw new InputError(`--out: expected a .npy file for a streamed GEMM, got ${options.out}`);
  const stated = (name: string | undefined) => (name === undefined ? undefined : findFormat(name));
  const a = await openTensor(aFile, stated(options.aFormat));
  try {
    const b = await openTensor(bFile, stated(options.bFormat ?? options.aFormat));
    try {
      return await streamOpen(a, b, options, listen);
    } finally {
      await b.data.close();
    }
  } finally {
    await a.data.close();
  }
}

async function streamOpen(
  a: StoredTensor,
  b: StoredTensor,
  options: StreamOptions,
  listen: ReturnType<typeof onceOnly>,
): Promise<StreamResult> {
  const { op, aStored, bStored } = resolveOp(options, a, b);
  if (op.scaling !== null || op.sparsity !== null)
    throw new InputError(`${op.instruction}: expected a dense, unscaled instruction for a streamed GEMM`);
  if (options.outFormat !== undefined)
    throw new InputError('--out-format: expected none for a streamed GEMM');
  for (const x of [a, b])
    if (x.shape.length !== 2)
      throw new InputError(`${x.name}: expected a matrix, got the shape [${x.shape.join(', ')}]`);
  const [m, k] = a.shape as [number, number];
  const [bRows, bColumns] = b.shape as [number, number];
  const n = options.transB ? bRows : bColumns;
  const bK = options.transB ? bColumns : bRows;
  if (k !== bK) throw new InputError(`${b.name}: expected ${k} rows, A's columns, got ${bK}`);
  warnOfEvidence(op, k > op.k, listen);
  const bytes = (stored: StoredTensor, format: MmaOp['a']) =>
    stored.dtype.bits / 8 + FORMATS[format].wordBits / 8;
  const dBytes = FORMATS[op.d].wordBits / 8;
  const [mb, nb] = stripSize(m, n, k * (bytes(a, op.a) + bytes(b, op.b)), dBytes, options.memory);
  const { engine, threads, speed } = await engineFor(options, op, { m: mb, n: nb, k }, listen);
  const kernel = options.kernel ?? process.env.BITMMA_KERNEL;
  const read = options.signal === undefined ? {} : { signal: options.signal };
  const start = process.hrtime.bigint();
  const total = m * n * Math.max(k, 1);
  let done = 0;
  await writeThrough(options.out, async (file) => {
    const [header] = npyParts({ format: op.d, words: new Uint8Array(0), shape: [m, n] });
    await file.write(header!, 0, header!.byteLength, 0);
    for (let n0 = 0; n0 < n; n0 += nb) {
      const n1 = Math.min(n, n0 + nb);
      const range = options.transB ? { r0: n0, r1: n1, c0: 0, c1: k } : { r0: 0, r1: k, c0: n0, c1: n1 };
      const bWords = operandOf(b, await readBlock(b, range, read), bStored, op.b, options);
      const bOperand = options.transB
        ? { ...bWords, rowStride: 1, colStride: k }
        : { ...bWords, rowStride: n1 - n0, colStride: 1 };
      for (let m0 = 0; m0 < m; m0 += mb) {
        const m1 = Math.min(m, m0 + mb);
        const aWords = operandOf(
          a,
          await readBlock(a, { r0: m0, r1: m1, c0: 0, c1: k }, read),
          aStored,
          op.a,
          options,
        );
        const [rows, columns] = [m1 - m0, n1 - n0];
        const words = allocateWords(FORMATS[op.d].wordBits, rows * columns, true);
        await schedule({
          op,
          engine,
          inputs: { m: rows, n: columns, k, a: { ...aWords, rowStride: k, colStride: 1 }, b: bOperand },
          d: { format: op.d, words, offset: 0, rowStride: columns, colStride: 1 },
          threads,
          ...(speed !== undefined && { speed }),
          ...(kernel !== undefined && { kernel }),
          ...(options.signal !== undefined && { signal: options.signal }),
          onProgress: (part) => listen({ kind: 'progress', phase: op.device, done: done + part, total }),
        });
        done += rows * columns * Math.max(k, 1);
        const data = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
        for (let row = 0; row < rows; row++) {
          const line = data.subarray(row * columns * dBytes, (row + 1) * columns * dBytes);
          const position = header!.byteLength + ((m0 + row) * n + n0) * dBytes;
          for (let at = 0; at < line.byteLength; )
            at += (await file.write(line, at, line.byteLength - at, position + at)).bytesWritten;
        }
      }
    }
    await file.sync();
  });
  return {
    op,
    engine: engine.id,
    shape: [m, n],
    k,
    strip: [mb, nb],
    seconds: Number(process.hrtime.bigint() - start) / 1e9,
    macs: m * n * k,
    sha256: await hashResult(options.out, m * n * dBytes),
  };
}

/** A block's words in the operand's format, contiguous. */
function operandOf(
  stored: StoredTensor,
  words: Tensor['words'],
  from: StoredFormat,
  to: MmaOp['a'],
  options: StreamOptions,
): Pick<Operand, 'format' | 'words' | 'offset'> {
  const tensor: Tensor = {
    name: stored.name,
    dtype: stored.dtype,
    words,
    shape: stored.shape,
    strides: [0, 0],
  };
  return { format: to, words: castTensor(tensor, '', from, to, options.cast ?? {}).tensor.words, offset: 0 };
}

/** SHA-256 of a .npy file's data, read in pieces. */
async function hashResult(path: string, length: number): Promise<string> {
  const stored = await openTensor(path);
  const hash = createHash('sha256');
  const piece = new Uint8Array(2 ** 24);
  try {
    for (let at = 0; at < length; at += piece.length) {
      const part = piece.subarray(0, Math.min(piece.length, length - at));
      await stored.data.read(part, at);
      hash.update(part);
    }
  } finally {
    await stored.data.close();
  }
  return hash.digest('hex');
}
