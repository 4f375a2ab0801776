import type { Engine } from '@bitmma/core';
import { referenceDot } from '@bitmma/core/reference';
import { isFp8 } from './accumulate.js';
import { NAN32 } from './combine.js';
import { ContractTypeError, ContractValueError, type OnWarning } from './errors.js';
import type { Fp8 } from './presets.js';
import { findPreset } from './presets.js';

export interface DotOptions {
  /** fp32 word of the addend; default +0. */
  readonly c?: number;
  /** Default ada, as the contract has it. */
  readonly preset?: string;
  /** Formats of the words. */
  readonly formatA: string;
  readonly formatB?: string;
  readonly engine?: Engine;
  readonly onWarning?: OnWarning;
}

/**
 * One chain of a preset over all k of two FP8 vectors, from c: the fp32 word. Throws ContractTypeError for a format
 * that is not FP8, ContractValueError where the lengths differ.
 */
export async function dot(a: Uint8Array, b: Uint8Array, options: DotOptions): Promise<number> {
  const formatB = options.formatB ?? options.formatA;
  for (const [name, format] of Object.entries({ a: options.formatA, b: formatB }))
    if (!isFp8(format)) throw new ContractTypeError(`${name}: expected e4m3 or e5m2, got ${format}`);
  if (a.length !== b.length)
    throw new ContractValueError(`K: expected a and b of one length, got ${a.length} and ${b.length}`);
  const preset = findPreset(options.preset ?? 'ada');
  if (preset.maturity === 'experimental')
    options.onWarning?.({ kind: 'experimental', message: `preset ${preset.name} is experimental` });
  const op = preset.op(options.formatA as Fp8, formatB as Fp8);
  const batch = { count: 1, k: a.length, a, b, c: Uint32Array.of(options.c ?? 0), d: new Uint32Array(1) };
  if (!options.engine) return canonical(Number(referenceDot(op, batch)));
  const session = await options.engine.open(op);
  try {
    for await (const done of session.dots([batch])) return canonical(done.d[0]!);
  } finally {
    await session.close();
  }
  throw new ContractValueError('the engine answered no dot product');
}

const canonical = (word: number): number => ((word & 0x7fffffff) > 0x7f800000 ? NAN32 : word);
