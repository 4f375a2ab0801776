import { chunkLength, type FormatName, findFormat, InputError, type Inputs, type MmaOp } from '@bitmma/core';
import { settleFormat } from '../files/dtype.js';
import { loadTensor } from '../files/open.js';
import type { Tensor } from '../files/tensor.js';
import {
  asMatrices,
  type CastNote,
  type CastOptions,
  castTensor,
  commonBatch,
  type Matrices,
  operandAt,
} from './operand.js';
import { type OpRequest, resolveOp } from './resolve.js';
import { expandCompressed, metadataWords } from './sparse.js';

/** A file argument (`A.npy`, `m.safetensors:w`), or words already in memory. */
export type TensorInput = string | Tensor;

/** The operands of a GEMM as a caller has them. */
export interface GemmOperands {
  /** [..., M, K]; with transA [..., K, M]. */
  readonly a: TensorInput;
  /** [..., K, N]; with transB [..., N, K], torch's weight layout. */
  readonly b: TensorInput;
  /** [..., M, N]. Absent: +0. */
  readonly c?: TensorInput;
  readonly transA?: boolean;
  readonly transB?: boolean;
  /** [M, ceil(K / block)]. */
  readonly scaleA?: TensorInput;
  /** [N, ceil(K / block)]: one row a column of B. */
  readonly scaleB?: TensorInput;
  /** [M, metadata words of K]. A may then be compressed (half its columns). */
  readonly sparseMeta?: TensorInput;
}

/** Loaded, cast, checked: what an engine needs and what the report says of it. */
export interface PreparedGemm {
  readonly op: MmaOp;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly batch: readonly number[];
  readonly a: Matrices;
  readonly b: Matrices;
  readonly c: Matrices | null;
  readonly scaleA: Matrices | null;
  readonly scaleB: Matrices | null;
  readonly sparse: Matrices | null;
  readonly casts: readonly CastNote[];
}

/** The operands' words, read once; several devices may then be prepared from them. */
export interface LoadedOperands {
  readonly a: Tensor;
  readonly b: Tensor;
  readonly c: Tensor | null;
  readonly scaleA: Tensor | null;
  readonly scaleB: Tensor | null;
  readonly sparseMeta: Tensor | null;
  readonly transA: boolean;
  readonly transB: boolean;
}

/** Reads every operand. Hex text takes its format from the request. */
export async function loadOperands(
  operands: GemmOperands,
  request: OpRequest,
  signal?: AbortSignal,
): Promise<LoadedOperands> {
  const hex = (name: string | undefined): FormatName | undefined =>
    name === undefined
      ? undefined
      : findFormat(name, request.device === undefined ? {} : { device: request.device });
  const load = async (input: TensorInput, format: FormatName | undefined): Promise<Tensor> =>
    typeof input !== 'string' ? input : loadTensor(input, format, signal === undefined ? {} : { signal });
  const optional = async (input: TensorInput | undefined, format: FormatName | undefined) =>
    input === undefined ? null : load(input, format);
  const scale = request.scale ?? 'ue8m0';
  return {
    a: await load(operands.a, hex(request.aFormat)),
    b: await load(operands.b, hex(request.bFormat ?? request.aFormat)),
    c: await optional(operands.c, hex(request.accumulate ?? 'fp32')),
    scaleA: await optional(operands.scaleA, scale),
    scaleB: await optional(operands.scaleB, scale),
    sparseMeta: await optional(operands.sparseMeta, 's32'),
    transA: operands.transA ?? false,
    transB: operands.transB ?? false,
  };
}

/**
 * Chooses the op, casts the operands into its formats and checks every shape. InputError says which operand, what
 * was expected and what came.
 */
export function prepareGemm(request: OpRequest, loaded: LoadedOperands, cast: CastOptions): PreparedGemm {
  const scale = scaleFormat(request, loaded);
  const { op, aStored, bStored } = resolveOp(
    scale === undefined ? request : { ...request, scale },
    loaded.a,
    loaded.b,
  );
  checkPresence(op, loaded);
  const casts: CastNote[] = [];
  const take = (
    tensor: Tensor,
    role: string,
    from: Parameters<typeof castTensor>[2],
    to: FormatName,
  ): Tensor => {
    const { tensor: converted, note } = castTensor(tensor, role, from, to, cast);
    if (note !== null) casts.push(note);
    return converted;
  };
  const b = asMatrices(take(loaded.b, 'B', bStored, op.b), op.b, loaded.transB);
  const k = b.rows;
  const sparse = loaded.sparseMeta && sparseOperand(op, loaded.sparseMeta, k);
  let aTensor = take(loaded.a, 'A', aStored, op.a);
  if (sparse !== null && isCompressed(op, aTensor, loaded.transA, k)) {
    if (loaded.transA) throw new InputError(`${aTensor.name}: compressed A cannot be transposed`);
    aTensor = expandCompressed(op, aTensor, sparse, k);
  }
  const a = asMatrices(aTensor, op.a, loaded.transA);
  if (a.cols !== k)
    throw new InputError(
      `${a.name} is ${a.rows} x ${a.cols} and ${b.name} ${b.rows} x ${b.cols}: expected A's columns to equal B's rows`,
    );
  const [m, n] = [a.rows, b.cols];
  const c = loaded.c && addend(op, loaded.c, take);
  const scaleA = loaded.scaleA && scaleOperand(op, loaded.scaleA, m, k, 'A');
  const scaleB = loaded.scaleB && scaleOperand(op, loaded.scaleB, n, k, 'B');
  if (c !== null) checkShape(c, m, n, 'C');
  if (sparse !== null) checkShape(sparse, m, metadataWords(op, k), 'sparse metadata');
  const batch = commonBatch([a, b, c, scaleA, scaleB, sparse].filter((item) => item !== null));
  return { op, m, n, k, batch, a, b, c, scaleA, scaleB, sparse, casts };
}

/** The contract's operands of every batch index. */
export function contractInputs(gemm: PreparedGemm): Inputs[] {
  const { m, n, k, a, b, scaleA, scaleB, sparse } = gemm;
  return Array.from({ length: gemm.batch.reduce((x, y) => x * y, 1) }, (_, index) => ({
    m,
    n,
    k,
    a: operandAt(a, index),
    b: operandAt(b, index),
    ...(scaleA !== null && { scaleA: operandAt(scaleA, index) }),
    ...(scaleB !== null && { scaleB: transpose(operandAt(scaleB, index)) }),
    ...(sparse !== null && { sparse: operandAt(sparse, index) }),
  }));
}

const transpose = (operand: ReturnType<typeof operandAt>) => ({
  ...operand,
  rowStride: operand.colStride,
  colStride: operand.rowStride,
});

function scaleFormat(request: OpRequest, { scaleA }: LoadedOperands): 'ue8m0' | 'ue4m3' | undefined {
  if (request.scale !== undefined || scaleA === null) return request.scale;
  const { format } = scaleA.dtype;
  if (format === 'ue8m0') return 'ue8m0';
  if (format === 'e4m3' || format === 'ue4m3') return 'ue4m3';
  if (request.op !== undefined || request.instruction !== undefined) return undefined;
  throw new InputError(
    `${scaleA.name}: its element type ${scaleA.dtype.name} may be ue8m0 or ue4m3 scales; state the scale format`,
  );
}

function checkPresence(op: MmaOp, { scaleA, scaleB, sparseMeta }: LoadedOperands): void {
  if (op.scaling !== null && (scaleA === null || scaleB === null))
    throw new InputError(
      `${op.instruction}: expected scales of A and of B, got ${scaleA || scaleB ? 'one of them' : 'none'}`,
    );
  if (op.scaling === null && (scaleA !== null || scaleB !== null))
    throw new InputError(`${op.instruction} is not block-scaled: expected no scales, got some`);
  if (op.sparsity !== null && sparseMeta === null)
    throw new InputError(`${op.instruction} is sparse: expected sparse metadata, got none`);
  if (op.sparsity === null && sparseMeta !== null)
    throw new InputError(`${op.instruction} is dense: expected no sparse metadata, got ${sparseMeta.name}`);
}

function addend(
  op: MmaOp,
  tensor: Tensor,
  take: (tensor: Tensor, role: string, from: Parameters<typeof castTensor>[2], to: FormatName) => Tensor,
): Matrices {
  const stored = settleFormat(tensor.name, tensor.dtype, tensor.dtype.format === null ? op.c : undefined);
  return asMatrices(take(tensor, 'C', stored, op.c), op.c);
}

function scaleOperand(op: MmaOp, tensor: Tensor, rows: number, k: number, side: 'A' | 'B'): Matrices {
  const { format, block } = op.scaling!;
  if (tensor.dtype.bits !== 8)
    throw new InputError(`${tensor.name}: expected ${format} scales of 8 bits, got ${tensor.dtype.name}`);
  const stored = tensor.dtype.format;
  const fits =
    stored === null || stored === 'u8' || stored === format || (format === 'ue4m3' && stored === 'e4m3');
  if (!fits) throw new InputError(`${tensor.name}: expected ${format} scales, got ${tensor.dtype.name}`);
  const matrices = asMatrices(tensor, format);
  checkShape(matrices, rows, Math.ceil(k / block), `the scales of ${side} (one a block of ${block})`);
  return matrices;
}

function sparseOperand(op: MmaOp, tensor: Tensor, k: number): Matrices {
  if (tensor.dtype.bits !== 32 || tensor.dtype.format === 'fp32')
    throw new InputError(`${tensor.name}: expected 32-bit metadata words, got ${tensor.dtype.name}`);
  if (tensor.shape.at(-1) !== metadataWords(op, k))
    throw new InputError(
      `${tensor.name}: expected ${metadataWords(op, k)} metadata words a row for K = ${k} (eight chunks of ${chunkLength(op.sparsity!)} a word), got the shape [${tensor.shape.join(', ')}]`,
    );
  return asMatrices(tensor, 's32');
}

/** A holds the active elements alone where it is a plain matrix of half of B's rows. */
const isCompressed = (op: MmaOp, a: Tensor, transposed: boolean, k: number): boolean =>
  op.sparsity !== null && a.shape.length === 2 && a.shape[transposed ? 0 : 1] === k / 2;

function checkShape(matrices: Matrices, rows: number, cols: number, what: string): void {
  if (matrices.rows !== rows || matrices.cols !== cols)
    throw new InputError(
      `${matrices.name}: expected ${what} to be ${rows} x ${cols}, got ${matrices.rows} x ${matrices.cols}`,
    );
}
