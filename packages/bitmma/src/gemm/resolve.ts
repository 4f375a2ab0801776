import {
  defaultOp,
  type FormatName,
  findFormat,
  findOp,
  InputError,
  type MmaOp,
  UnsupportedError,
} from '@bitmma/core';
import type { Dtype, StoredFormat } from '../files/dtype.js';
import { settleFormat } from '../files/dtype.js';

/** How a caller names an op: a device with an instruction or formats, or a datapath of their own. */
export interface OpRequest {
  readonly device?: string;
  readonly instruction?: string;
  /** An op of the caller's own, in place of a device. */
  readonly op?: MmaOp;
  readonly aFormat?: string;
  readonly bFormat?: string;
  /** Format of c and d. */
  readonly accumulate?: string;
  /** Scale format, where scales are given. */
  readonly scale?: 'ue8m0' | 'ue4m3';
}

export interface ResolvedOp {
  readonly op: MmaOp;
  /** What the words of the two files are before any cast. */
  readonly aStored: StoredFormat;
  readonly bStored: StoredFormat;
}

/** Formats that only a stated cast, or a device with their instruction, makes an operand of. */
const WIDE: readonly (StoredFormat | null)[] = ['fp32', 'fp64', 'int64', 's32', null];

/**
 * The op of a GEMM over two stored operands. Formats come from the statement, else from the files; where only one
 * side says a matrix format, the other follows it. Without an instruction the device's own default is taken.
 */
export function resolveOp(
  request: OpRequest,
  a: { name: string; dtype: Dtype },
  b: { name: string; dtype: Dtype },
): ResolvedOp {
  const where = request.device === undefined ? {} : { device: request.device };
  const stated = (name: string | undefined): FormatName | undefined =>
    name === undefined ? undefined : findFormat(name, where);
  const aStated = stated(request.aFormat);
  const bStated = stated(request.bFormat);
  const op = namedOp(request);
  if (op !== undefined) {
    for (const [side, format, own] of [
      ['a', aStated, op.a],
      ['b', bStated, op.b],
    ] as const)
      if (format !== undefined && format !== own)
        throw new InputError(
          `--${side}-format: expected ${own}, the operand of ${op.instruction}, got ${format}`,
        );
    return {
      op,
      aStored: settleFormat(a.name, a.dtype, aStated ?? rawFormat(a.dtype, op.a)),
      bStored: settleFormat(b.name, b.dtype, bStated ?? rawFormat(b.dtype, op.b)),
    };
  }
  if (request.device === undefined) throw new InputError('expected a device or a datapath, got neither');
  const aOwn = aStated ?? matrixFormat(a.dtype);
  const bOwn = bStated ?? matrixFormat(b.dtype);
  const aStored = settleFormat(a.name, a.dtype, aStated ?? (a.dtype.format === null ? bOwn : undefined));
  const bStored = settleFormat(b.name, b.dtype, bStated ?? (b.dtype.format === null ? aOwn : undefined));
  const own = [aOwn ?? bOwn ?? aStored, bOwn ?? aOwn ?? bStored] as const;
  // One side stated and no instruction for the mix: the other side follows the statement.
  const only = aStated === undefined ? bStated : bStated === undefined ? aStated : undefined;
  const mixes = only === undefined ? [own] : [own, [only, only] as const];
  const chosen = chooseDefault(request, mixes);
  return { op: chosen, aStored, bStored };
}

/** The op that a request names outright; undefined where formats must choose it. */
export function namedOp(request: OpRequest): MmaOp | undefined {
  if (request.op !== undefined) {
    if (request.device !== undefined || request.instruction !== undefined)
      throw new InputError('expected a device or a datapath of your own, got both');
    return request.op;
  }
  if (request.instruction === undefined) return undefined;
  if (request.device === undefined)
    throw new InputError('expected a device beside the instruction, got none');
  const op = findOp(request.device, request.instruction);
  const accumulate = request.accumulate === undefined ? undefined : findFormat(request.accumulate);
  if (accumulate !== undefined && accumulate !== op.d)
    throw new InputError(
      `--accumulate: expected ${op.d}, the output of ${op.instruction}, got ${accumulate}`,
    );
  return op;
}

/** The default op of the first pair of formats that the device has; the first pair's error where it has none. */
function chooseDefault(request: OpRequest, mixes: readonly (readonly [StoredFormat, StoredFormat])[]): MmaOp {
  let refusal: UnsupportedError | undefined;
  for (const [a, b] of mixes) {
    if (a === 'int64' || b === 'int64')
      throw new InputError('64-bit integers are no matrix format; state s8 or u8 for the operand');
    try {
      return defaultOp(request.device!, {
        a,
        b,
        ...(request.accumulate !== undefined && { accumulate: findFormat(request.accumulate) }),
        ...(request.scale !== undefined && { scale: request.scale }),
      });
    } catch (error) {
      if (!(error instanceof UnsupportedError)) throw error;
      const wide = WIDE.includes(a) || WIDE.includes(b);
      refusal ??= wide
        ? new UnsupportedError(`${error.message}; state the operands' formats to cast them`)
        : error;
    }
  }
  throw refusal!;
}

const matrixFormat = (dtype: Dtype): FormatName | undefined =>
  WIDE.includes(dtype.format) ? undefined : (dtype.format as FormatName);

/** Raw words and restatable bytes take the instruction's own format where the width fits. */
const rawFormat = (dtype: Dtype, format: FormatName): FormatName | undefined =>
  dtype.format === null || (dtype.restatable && format !== 's8') ? format : undefined;
