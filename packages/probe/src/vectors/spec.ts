/** Vectors as sums of exact terms, and their words. */
import type { MmaOp } from '@bitmma/core';
import { allocateCases, type CaseSet } from '@bitmma/core/conformance';
import { FORMATS } from '@bitmma/core';
import { writeWord } from '@bitmma/core/formats';
import { floatOf, type Signature } from '../signature.js';
import { type Dyadic, exactWord, factorise } from './word.js';

/** What a vector is about; the fits of a model's axes look at the vectors of their groups first. */
export type Group =
  | 'special'
  | 'subnormal'
  | 'output'
  | 'window'
  | 'even'
  | 'split'
  | 'products'
  | 'order'
  | 'addend'
  | 'low'
  | 'high'
  | 'scale'
  | 'group'
  | 'dominant'
  | 'bottom'
  | 'mix';

/** One product: its exact value at the `slot`-th position that the op computes with. */
export interface Term extends Dyadic {
  readonly slot: number;
  /** The two factors, where the way that the product is made matters. */
  readonly factors?: readonly [Dyadic, Dyadic];
}

/** Words given as they are. */
export interface RawWords {
  readonly a?: readonly (readonly [slot: number, word: bigint])[];
  readonly b?: readonly (readonly [slot: number, word: bigint])[];
  readonly c?: bigint;
}

/** A vector that a reading looks for: the reading's name and the place of this vector in its series. */
export type Reading = readonly [name: string, at: number];

export interface Spec {
  readonly group: Group;
  readonly reading?: Reading;
  readonly note: string;
  readonly terms: readonly Term[];
  readonly c?: Dyadic;
  readonly raw?: RawWords;
  /** Exponent of scaleA * scaleB for each scale block; default 0. */
  readonly scales?: readonly number[];
  /** Scale words of both sides, in place of `scales`. */
  readonly scaleWords?: { readonly a: readonly number[]; readonly b: readonly number[] };
  /** Sparse selector of every chunk; default the first positions. */
  readonly selector?: number;
}

const CHUNK = { '1:2': 2, '2:4': 4, '4:8-pairs': 8 } as const;
const FIRST_SELECTOR = 0x4;

/** Logical positions of a chunk that a selector makes active. */
function activeInChunk(sparsity: NonNullable<MmaOp['sparsity']>, selector: number): number[] {
  if (sparsity === '1:2') return [selector === 0xe ? 1 : 0];
  const fields = [selector & 3, selector >> 2].sort((x, y) => x - y);
  return sparsity === '2:4' ? fields : fields.flatMap((f) => [2 * f, 2 * f + 1]);
}

/** Logical k of each slot: every position, or the active ones of a sparse op. */
export function slotPositions(signature: Signature, selector = FIRST_SELECTOR): number[] {
  const { k, sparsity } = signature;
  if (sparsity === null) return Array.from({ length: k }, (_, i) => i);
  const chunk = CHUNK[sparsity];
  const inside = activeInChunk(sparsity, selector);
  return Array.from({ length: k / chunk }, (_, i) => inside.map((p) => i * chunk + p)).flat();
}

/** Products that an op computes with: K, or the active ones. */
export const slotCount = (signature: Signature): number => slotPositions(signature).length;

const unitScale = (signature: Signature): number => (signature.scaling?.format === 'ue4m3' ? 0x38 : 127);

/** A scale word of value 2^e, or null. */
function scaleWord(signature: Signature, e: number): number | null {
  if (signature.scaling?.format === 'ue8m0') return e >= -127 && e <= 127 ? e + 127 : null;
  if (e >= -6 && e <= 8) return (e + 7) << 3;
  return e >= -9 ? 1 << (e + 9) : null;
}

/** Both sides' scale words of an exponent, halves each. */
function scalePair(signature: Signature, e: number): readonly [number, number] | null {
  const half = Math.trunc(e / 2);
  const a = scaleWord(signature, e - half);
  const b = scaleWord(signature, half);
  return a === null || b === null ? null : [a, b];
}

/** Collects vectors that a signature can express into packed cases. */
export class Cases {
  readonly specs: Spec[] = [];
  readonly #words: { a: Map<number, bigint>; b: Map<number, bigint>; c: bigint; scales: [number, number][] }[] = [];
  readonly #seen = new Set<string>();
  readonly #pairs = new Map<string, readonly [bigint, bigint] | null>();

  constructor(readonly signature: Signature) {}

  get count(): number {
    return this.specs.length;
  }

  #factorise(value: Dyadic): readonly [bigint, bigint] | null {
    const key = `${value.s} ${value.x}`;
    let pair = this.#pairs.get(key);
    if (pair === undefined) {
      pair = factorise(floatOf(this.signature.a), floatOf(this.signature.b), value);
      this.#pairs.set(key, pair);
    }
    return pair;
  }

  /** Adds a vector; false where the formats, K or scales cannot express it, or it is already there. */
  add(spec: Spec): boolean {
    const { signature } = this;
    const positions = slotPositions(signature, spec.selector);
    const block = signature.scaling?.block ?? signature.k;
    const scales: [number, number][] = [];
    if (signature.scaling)
      for (let i = 0; i < signature.k / block; i++) {
        const pair = spec.scaleWords
          ? ([spec.scaleWords.a[i] ?? unitScale(signature), spec.scaleWords.b[i] ?? unitScale(signature)] as const)
          : scalePair(signature, spec.scales?.[i] ?? 0);
        if (pair === null) return false;
        scales.push([pair[0], pair[1]]);
      }
    const a = new Map<number, bigint>();
    const b = new Map<number, bigint>();
    for (const term of spec.terms) {
      const k = positions[term.slot];
      if (k === undefined || a.has(k)) return false;
      const scale = spec.scales?.[Math.floor(k / block)] ?? 0;
      let pair: readonly [bigint | null, bigint | null] | null;
      if (term.factors)
        pair = [
          exactWord(floatOf(signature.a), term.factors[0]),
          exactWord(floatOf(signature.b), term.factors[1]),
        ];
      else pair = this.#factorise({ s: term.s, x: term.x - scale });
      if (pair === null || pair[0] === null || pair[1] === null) return false;
      a.set(k, pair[0]);
      b.set(k, pair[1]);
    }
    for (const side of ['a', 'b'] as const)
      for (const [slot, word] of spec.raw?.[side] ?? []) {
        const k = positions[slot];
        if (k === undefined) return false;
        (side === 'a' ? a : b).set(k, word);
      }
    const c = spec.raw?.c ?? exactWord(floatOf(signature.c), spec.c ?? { s: 0, x: 0 });
    if (c === null) return false;
    const key = `${[...a].join()}|${[...b].join()}|${c}|${scales.join()}|${spec.selector ?? ''}`;
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    this.specs.push(spec);
    this.#words.push({ a, b, c, scales });
    return true;
  }

  /** The cases from `start` on, packed. */
  build(op: MmaOp, start = 0): CaseSet {
    const { k } = op;
    const specs = this.specs.slice(start);
    const words = allocateCases(op, specs.length);
    const bits = (name: 'a' | 'b' | 'c') => FORMATS[op[name]].wordBits;
    const perWord = words.sparse ? words.sparse.length / Math.max(1, specs.length) : 0;
    specs.forEach((spec, i) => {
      const { a, b, c, scales } = this.#words[start + i];
      for (const [at, word] of a) writeWord(words.a, i * k + at, bits('a'), word);
      for (const [at, word] of b) writeWord(words.b, i * k + at, bits('b'), word);
      writeWord(words.c, i, bits('c'), c);
      scales.forEach(([x, y], j) => {
        words.scaleA![i * scales.length + j] = x;
        words.scaleB![i * scales.length + j] = y;
      });
      const nibble = spec.selector ?? FIRST_SELECTOR;
      const chunks = op.sparsity ? Math.ceil(k / CHUNK[op.sparsity]) : 0;
      for (let chunk = 0; chunk < chunks; chunk++) {
        const at = i * perWord + (chunk >> 3);
        words.sparse![at] = (words.sparse![at] | (nibble << (4 * (chunk & 7)))) >>> 0;
      }
    });
    return { op, source: 'probe', count: specs.length, k, ...words, id: (i) => `probe-${start + i}` };
  }
}
