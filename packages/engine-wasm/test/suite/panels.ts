import { type Engine, FORMATS, type FormatName, type Inputs, type WordArray } from '@bitmma/core';
import type { CaseSet } from '@bitmma/core/conformance';

const COLUMNS = 16;

const wordsOf = (format: FormatName, count: number): WordArray =>
  FORMATS[format].wordBits === 16 ? new Uint16Array(count) : new Uint32Array(count);

/** Every case's `each` words `times` times in a row. */
function repeated<T extends WordArray>(words: T, each: number, times: number): T {
  const out = new (words.constructor as new (length: number) => T)(words.length * times);
  for (let from = 0; from < words.length; from += each)
    for (let t = 0; t < times; t++) out.set(words.subarray(from, from + each), from * times + t * each);
  return out;
}

/** Rows 2i and 2i + 1 are case i's, columns 16i to 16i + 15 too. */
function panelsOf({ op, count, k, a, b, scaleA, scaleB, sparse }: CaseSet): Inputs {
  const rows = (words: WordArray, each: number) => {
    return { words: repeated(words, each, 2), offset: 0, rowStride: each, colStride: 1 };
  };
  const columns = (words: WordArray, each: number) => {
    return { words: repeated(words, each, COLUMNS), offset: 0, rowStride: 1, colStride: each };
  };
  const scales = op.scaling ? k / op.scaling.block : 0;
  const format = op.scaling?.format;
  return {
    ...{ m: 2 * count, n: COLUMNS * count, k },
    a: { format: op.a, ...rows(a, k) },
    b: { format: op.b, ...columns(b, k) },
    ...(format && scaleA && { scaleA: { format, ...rows(scaleA, scales) } }),
    ...(format && scaleB && { scaleB: { format, ...columns(scaleB, scales) } }),
    ...(sparse && { sparse: { format: 's32', ...rows(sparse, sparse.length / count) } }),
  };
}

/** d of every `step`th case in its 16 columns, beside its own c in every lane and then beside the c of 16 cases. */
async function panelWords(engine: Engine, kernel: string, set: CaseSet, step: number): Promise<WordArray> {
  const { op, count, k, c } = set;
  const session = await engine.open(op, { kernel });
  const loaded = await session.load(panelsOf(set));
  // Case i's tile begins at 2i * 16 + 16i.
  const layout = { offset: 0, rowStride: COLUMNS, colStride: 1 };
  const addends = wordsOf(op.c, 3 * COLUMNS * count);
  const words = wordsOf(op.d, 3 * COLUMNS * count);
  for (let i = 0; i < count; i += step) {
    const at = 3 * COLUMNS * i;
    addends.fill(c[i], at, at + COLUMNS);
    for (let lane = 0; lane < COLUMNS; lane++) addends[at + COLUMNS + lane] = c[(i + lane) % count];
    await session.tile(loaded, {
      ...{ m0: 2 * i, m1: 2 * i + 2, n0: COLUMNS * i, n1: COLUMNS * (i + 1), chain: [{ k0: 0, k1: k }] },
      c: { format: op.c, words: addends, ...layout },
      d: { format: op.d, words, ...layout },
    });
  }
  loaded.release();
  return words;
}

/**
 * The first of every `step`th case of which kernel `simd` makes another panel than `scalar`, or null. A dot product has its lane among zero
 * columns: a step that asks something of every lane goes another way there.
 */
export async function panelMismatch(engine: Engine, set: CaseSet, step = 1): Promise<string | null> {
  const simd = await panelWords(engine, 'simd', set, step);
  const scalar = await panelWords(engine, 'scalar', set, step);
  const other = simd.findIndex((word, at) => word !== scalar[at]);
  return other < 0 ? null : `${set.source}: ${set.id(Math.floor(other / (3 * COLUMNS)))}`;
}
