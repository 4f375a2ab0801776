import { BitmmaError } from '@bitmma/core';
import { describe, expect, test } from 'vitest';
import { type Fp32Vectors, SCRIPT_VECTORS, vectorsFor } from '../../src/cublas/vectors.js';
import { ENGINES } from '../../src/engines.js';
import { w32 } from './matrices.js';

async function nativeOrNull(): Promise<Fp32Vectors | null> {
  try {
    return await vectorsFor(await ENGINES.open('native'));
  } catch (error) {
    if (!(error instanceof BitmmaError)) throw error;
    return null;
  }
}

/** Every exponent and sign with fractions around ties and ends. */
const WORDS = Uint32Array.from({ length: 512 * 64 }, (_, i) => {
  const low = [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff, 0x0fff, 0x1000][i & 7]!;
  const top = (i >> 3) & 7;
  return (((i >> 6) << 23) + (top << 20) + low * ((i & 1) + 1)) >>> 0;
});

describe('fp32 vectors in Rust give the words of those in JavaScript', async () => {
  const native = await nativeOrNull();

  test.skipIf(native === null)('addInto and canonicalise', () => {
    for (const shift of [1, 4097, 16001]) {
      const part = Uint32Array.from(WORDS, (_, i) => WORDS[(i * 7 + shift) % WORDS.length]!);
      const [x, y] = [WORDS.slice(), WORDS.slice()];
      for (const [sum, vectors] of [
        [x, native!],
        [y, SCRIPT_VECTORS],
      ] as const) {
        vectors.addInto(sum, part);
        vectors.canonicalise(sum);
      }
      expect(x).toEqual(y);
    }
  });

  test.skipIf(native === null).each([
    ['fp32', Uint32Array],
    ['bf16', Uint16Array],
    ['fp16', Uint16Array],
    ['e4m3', Uint8Array],
    ['e5m2', Uint8Array],
  ] as const)('the epilogue to %s', (out, Words) => {
    for (const alpha of [1, -0.75, 3e-5, 2 ** 100, 0, Number.NaN].map(w32))
      for (const scale of [undefined, w32(0.3), w32(-2)]) {
        const [x, y] = [new Words(WORDS.length), new Words(WORDS.length)];
        native!.epilogue(WORDS, x, out, alpha, scale);
        SCRIPT_VECTORS.epilogue(WORDS, y, out, alpha, scale);
        expect(x).toEqual(y);
      }
  });

  test.skipIf(native === null)('arrays that do not fit are refused', () => {
    expect(() => native!.addInto(new Uint32Array(2), new Uint32Array(3))).toThrow(/part: expected 2 items/);
    expect(() => native!.epilogue(new Uint32Array(2), new Uint8Array(2), 'fp17', 0)).toThrow(
      /out: expected fp32/,
    );
  });
});
