import type { Engine } from '@bitmma/core';
import type { CaseSet } from '@bitmma/core/conformance';

/** Not a multiple of any kernel's columns. */
const SIDE = 23;

/**
 * The first output of a tile of fp64 cases, rows of some against columns of others, that differs from the same kernel's dot
 * products, or null: these run one column at a time.
 */
export async function doubleTileMismatch(engine: Engine, set: CaseSet): Promise<string | null> {
  const { op, count, k } = set;
  const size = 2 * k;
  const [a, b] = [2 * SIDE * k, 2 * SIDE * k].map((length) => new Uint32Array(length));
  const words = () => new Uint32Array(2 * SIDE * SIDE);
  const [c, tile, dots] = [words(), words(), words()];
  const pairs = { a: new Uint32Array(SIDE * SIDE * size), b: new Uint32Array(SIDE * SIDE * size) };
  const operand = (from: CaseSet['a'], i: number) =>
    from.subarray((i % count) * size, ((i % count) + 1) * size);
  for (let i = 0; i < SIDE; i++) {
    a.set(operand(set.a, 41 * i), i * size);
    b.set(operand(set.b, 41 * i + 7 * (i % 2)), i * size);
  }
  for (let at = 0; at < SIDE * SIDE; at++) {
    const i = Math.floor(at / SIDE);
    pairs.a.set(a.subarray(i * size, (i + 1) * size), at * size);
    pairs.b.set(b.subarray((at % SIDE) * size, ((at % SIDE) + 1) * size), at * size);
    c.set(set.c.subarray(2 * ((at * 3) % count), 2 * ((at * 3) % count) + 2), 2 * at);
  }
  const session = await engine.open(op, { kernel: 'scalar' });
  const loaded = await session.load({
    ...{ m: SIDE, n: SIDE, k },
    a: { format: op.a, words: a, offset: 0, rowStride: k, colStride: 1 },
    b: { format: op.b, words: b, offset: 0, rowStride: 1, colStride: k },
  });
  const view = { format: op.d, offset: 0, rowStride: SIDE, colStride: 1 };
  await session.tile(loaded, {
    ...{ m0: 0, m1: SIDE, n0: 0, n1: SIDE, chain: [{ k0: 0, k1: k }] },
    c: { ...view, words: c },
    d: { ...view, words: tile },
  });
  for await (const _ of session.dots([{ count: SIDE * SIDE, k, ...pairs, c, d: dots }]));
  const other = tile.findIndex((word, at) => word !== dots[at]);
  return other < 0 ? null : `${set.source}: word ${other}`;
}
