import type { Engine, MmaOp, OpenOptions, Support } from '@bitmma/core';
import { loadBinding } from './load-binding.js';
import { NativeEngineSession } from './session.js';

/**
 * The native engine: Rust through Node-API. Every op of the catalog and custom ones; micro-kernels where the machine
 * has them. A kernel is forced by `OpenOptions.kernel`, else by the environment variable BITMMA_KERNEL.
 * @throws EngineUnavailableError where the .node file is absent or does not load; its `cause` is the original error.
 */
export async function nativeEngine(): Promise<Engine> {
  const binding = loadBinding();
  return Object.freeze({
    id: 'native',
    lineage: 'rust',
    placement: 'worker' as const,

    supports(op: MmaOp): Support {
      const { kernels, reason } = binding.supports(JSON.stringify(op));
      return reason === undefined || reason === null ? { ok: true, kernels } : { ok: false, reason };
    },

    /** @throws UnsupportedError for an op or kernel that this build or machine does not run. */
    async open(op: MmaOp, options: OpenOptions = {}) {
      const kernel = options.kernel ?? (process.env.BITMMA_KERNEL || undefined);
      return new NativeEngineSession(binding, op, kernel, options.signal);
    },
  });
}

/** fp32 vectors in Rust: what combines partial GEMM results and scales them. Words in, words out. */
export interface NativeVectors {
  /** sum += part, elementwise, fp32 RNE; a NaN stays some NaN. */
  addInto(sum: Uint32Array, part: Uint32Array): void;
  /** Every NaN word becomes 0x7FFFFFFF. */
  canonicalise(words: Uint32Array): void;
  /** d = out(RN32(acc * alpha)), times `scale` for FP8 outputs; alpha and scale are fp32 words. */
  epilogue(
    acc: Uint32Array,
    d: Uint8Array | Uint16Array | Uint32Array,
    out: string,
    alpha: number,
    scale?: number,
  ): void;
}

/** @throws EngineUnavailableError where the .node file is absent or does not load. */
export function nativeVectors(): NativeVectors {
  const { addInto, canonicalise, epilogue } = loadBinding();
  return { addInto, canonicalise, epilogue };
}
