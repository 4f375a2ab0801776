import type { MmaOp } from '../datapath/op.js';
import type { DotBatch, WordArray } from '../engine/engine.js';
import { InputError } from '../errors.js';
import {
  allocateWords,
  chunkPositions,
  formatWords,
  itemsPerWord,
  legalSelectors,
  scaleWords,
  sparseWords,
} from './words.js';

/**
 * Cases of one op, packed as the engine contract packs a batch of dots. `d` holds the expected words where they
 * are known. Arrays are indexed as DotBatch says.
 */
export interface CaseSet {
  readonly op: MmaOp;
  /** Where the cases come from: a file, a folder, a campaign and its seed. */
  readonly source: string;
  readonly count: number;
  /** k positions a case: the op's K, or more (a chain). */
  readonly k: number;
  readonly a: WordArray;
  readonly b: WordArray;
  readonly c: WordArray;
  readonly d?: WordArray;
  readonly scaleA?: Uint8Array;
  readonly scaleB?: Uint8Array;
  readonly sparse?: Uint32Array;
  /** Further words accepted as d of a case; the only permitted looseness. */
  readonly accept?: ReadonlyMap<number, WordArray>;
  /** Hard-case predicates that a case claims. */
  readonly claims?: ReadonlyMap<number, readonly string[]>;
  readonly evidence?: ReadonlyMap<number, string>;
  readonly notes?: ReadonlyMap<number, string>;
  readonly provenance?: Readonly<Record<string, string>>;
  /** Name of a case. */
  id(index: number): string;
}

/** Zeroed arrays for `count` cases. */
export function allocateCases(op: MmaOp, count: number, k = op.k) {
  const scales = scaleWords(op, k);
  const metadata = sparseWords(op, k);
  return {
    a: allocateWords(op.a, count * k),
    b: allocateWords(op.b, count * k),
    c: allocateWords(op.c, count),
    ...(scales > 0 ? { scaleA: new Uint8Array(count * scales), scaleB: new Uint8Array(count * scales) } : {}),
    ...(metadata > 0 ? { sparse: new Uint32Array(count * metadata) } : {}),
  };
}

/** Cases start..start+count of a set, as views. */
export function sliceCases(set: CaseSet, start: number, count: number): CaseSet {
  const { op, k } = set;
  const end = start + count;
  const scales = scaleWords(op, k);
  const metadata = sparseWords(op, k);
  const per = (words: WordArray, each: number) => words.subarray(start * each, end * each);
  const shift = <T>(map: ReadonlyMap<number, T>) =>
    new Map([...map].filter(([i]) => i >= start && i < end).map(([i, value]) => [i - start, value] as const));
  return {
    op,
    source: set.source,
    count,
    k,
    a: per(set.a, k * itemsPerWord(op.a)),
    b: per(set.b, k * itemsPerWord(op.b)),
    c: per(set.c, itemsPerWord(op.c)),
    ...(set.d ? { d: per(set.d, itemsPerWord(op.d)) } : {}),
    ...(set.scaleA && set.scaleB
      ? {
          scaleA: set.scaleA.subarray(start * scales, end * scales),
          scaleB: set.scaleB.subarray(start * scales, end * scales),
        }
      : {}),
    ...(set.sparse ? { sparse: set.sparse.subarray(start * metadata, end * metadata) } : {}),
    ...(set.accept ? { accept: shift(set.accept) } : {}),
    ...(set.claims ? { claims: shift(set.claims) } : {}),
    ...(set.evidence ? { evidence: shift(set.evidence) } : {}),
    ...(set.notes ? { notes: shift(set.notes) } : {}),
    ...(set.provenance ? { provenance: set.provenance } : {}),
    id: (index) => set.id(start + index),
  };
}

/** A deep copy whose arrays a caller may change. */
export function copyCases(set: CaseSet): CaseSet {
  return {
    ...set,
    a: set.a.slice(),
    b: set.b.slice(),
    c: set.c.slice(),
    ...(set.d ? { d: set.d.slice() } : {}),
    ...(set.scaleA ? { scaleA: set.scaleA.slice() } : {}),
    ...(set.scaleB ? { scaleB: set.scaleB.slice() } : {}),
    ...(set.sparse ? { sparse: set.sparse.slice() } : {}),
  };
}

/** The batch that an engine runs; d is fresh, filled with a pattern that no engine leaves behind unnoticed. */
export function batchOf(set: CaseSet): DotBatch {
  const d = allocateWords(set.op.d, set.count);
  d.fill(0xa5a5a5a5);
  return {
    count: set.count,
    k: set.k,
    a: set.a,
    b: set.b,
    c: set.c,
    d,
    ...(set.scaleA ? { scaleA: set.scaleA } : {}),
    ...(set.scaleB ? { scaleB: set.scaleB } : {}),
    ...(set.sparse ? { sparse: set.sparse } : {}),
  };
}

/**
 * Refuses a sparse selector outside the legal ones.
 * @throws InputError naming the chunk.
 */
export function checkSelectors(op: MmaOp, k: number, sparse: Uint32Array, field = 'sparse'): void {
  const legal = legalSelectors(op);
  const chunks = Math.ceil(k / chunkPositions(op));
  const words = sparseWords(op, k);
  for (let i = 0; i * words < sparse.length; i++)
    for (let chunk = 0; chunk < chunks; chunk++) {
      const selector = (sparse[i * words + (chunk >> 3)] >>> (4 * (chunk & 7))) & 15;
      if (!legal.includes(selector))
        throw new InputError(
          `${field}: expected a selector of ${legal.map((s) => s.toString(16)).join(', ')} in chunk ${chunk}, got ${selector.toString(16)}`,
        );
    }
}

/** One case in one line: what a mismatch prints. */
export function describeCase(set: CaseSet, index: number): string {
  const { op, k } = set;
  const scales = scaleWords(op, k);
  const metadata = sparseWords(op, k);
  const parts = [
    `a ${formatWords(op.a, set.a, index * k, k)}`,
    `b ${formatWords(op.b, set.b, index * k, k)}`,
    `c ${formatWords(op.c, set.c, index, 1)}`,
  ];
  if (set.scaleA && set.scaleB && op.scaling) {
    parts.push(`scaleA ${formatWords(op.scaling.format, set.scaleA, index * scales, scales)}`);
    parts.push(`scaleB ${formatWords(op.scaling.format, set.scaleB, index * scales, scales)}`);
  }
  if (set.sparse) {
    const words = set.sparse.subarray(index * metadata, (index + 1) * metadata);
    parts.push(`sparse ${[...words].map((w) => w.toString(16).padStart(8, '0')).join(' ')}`);
  }
  return parts.join(', ');
}
