import { InputError } from '@bitmma/core';
import { silent } from '../events.js';
import { type GemmOptions, type GemmResult, gemmLoaded } from '../gemm/gemm.js';
import { type GemmOperands, type LoadedOperands, loadOperands } from '../gemm/prepare.js';
import type { OpRequest } from '../gemm/resolve.js';
import { onceOnly } from '../gemm/warn.js';
import { type Difference, differenceOf } from './distance.js';

/** One contender: a device (with its own instruction or formats where needed) or a datapath of the caller's own. */
export interface Contender extends OpRequest {
  readonly label: string;
}

export interface Compared {
  readonly label: string;
  /** What named its op. */
  readonly request: OpRequest;
  readonly result: GemmResult;
}

export interface ComparedPair {
  readonly left: string;
  readonly right: string;
  readonly difference: Difference;
}

export interface Comparison {
  readonly results: readonly Compared[];
  /** The operands, as read once for all. */
  readonly loaded: LoadedOperands;
  readonly pairs: readonly ComparedPair[];
  /** Rows (batch included) and columns of every result. */
  readonly rows: number;
  readonly cols: number;
}

/**
 * The same product on several devices, and every pair's differing words. Operands are read once. InputError where
 * results have different formats.
 */
export async function compare(
  operands: GemmOperands,
  contenders: readonly Contender[],
  options: Omit<GemmOptions, keyof OpRequest>,
): Promise<Comparison> {
  if (contenders.length < 2)
    throw new InputError(`expected at least two devices to compare, got ${contenders.length}`);
  const on = onceOnly(options.on ?? silent);
  const results: Compared[] = [];
  const loaded = await loadOperands(operands, contenders[0]!, options.signal);
  for (const { label, ...request } of contenders)
    results.push({ label, request, result: await gemmLoaded(loaded, { ...options, ...request, on }) });
  const [first] = results as [Compared];
  for (const { label, result } of results)
    if (result.format !== first.result.format)
      throw new InputError(
        `expected results of one format, got ${first.result.format} on ${first.label} and ${result.format} on ${label}`,
      );
  const pairs = results.flatMap((x, i) =>
    results.slice(i + 1).map((y) => ({
      left: x.label,
      right: y.label,
      difference: differenceOf(x.result.words, y.result.words, first.result.format),
    })),
  );
  const { shape } = first.result;
  const cols = shape.at(-1)!;
  return { results, loaded, pairs, rows: shape.slice(0, -1).reduce((x, y) => x * y, 1), cols };
}
