import type { Engine } from '@bitmma/core';
import { addInto, canonicalise } from './combine.js';
import { epilogue } from './epilogue.js';

/** fp32 vectors over words: in JavaScript, or in Rust beside the native engine; the same words. */
export interface Fp32Vectors {
  addInto(sum: Uint32Array, part: Uint32Array): void;
  canonicalise(words: Uint32Array): void;
  /** alpha and scale are fp32 words. */
  epilogue(
    acc: Uint32Array,
    d: Uint8Array | Uint16Array | Uint32Array,
    out: string,
    alpha: number,
    scale?: number,
  ): void;
}

export const SCRIPT_VECTORS: Fp32Vectors = { addInto, canonicalise, epilogue };

/** The vectors that go with an engine. */
export async function vectorsFor(engine: Engine): Promise<Fp32Vectors> {
  if (engine.id !== 'native') return SCRIPT_VECTORS;
  const { nativeVectors } = await import('@bitmma/engine-native');
  return nativeVectors();
}
