import { bitsAt, pow, type Scope } from './scope.js';
import type { Term } from './spec.js';

/** A sum of powers of two as products, one each; runs of bits are a difference of two. */
const products = (parts: readonly (readonly [sign: 1 | -1, e: number])[], stride: number): Term[] =>
  parts.map(([sign, e], i) => ({ slot: i * stride, ...pow(e, sign) }));

/** How c meets the sum of the products: cut where, rounded how, normalised or not (CDNA3's tests, any format). */
export function addendVectors(scope: Scope): void {
  const { add, d, low, high, slots } = scope;
  const w = d.fraction;
  const one = Math.min(Math.max(scope.middle, low + w + 16), scope.c.top - 2);
  const strides = slots > 4 ? [1, 2] : [1];
  for (const stride of strides)
    for (const sign of [1, -1] as const) {
      const opposite = sign === 1 ? -1 : 1;
      for (let j = w + 2; j <= w + 30; j++) {
        if (stride > 1 && (j < w + 6 || j > w + 12)) continue;
        const notes = `bit ${j} below`;
        const put = (name: string, c: ReturnType<typeof pow>, parts: readonly (readonly [1 | -1, number])[]) =>
          add({ group: 'addend', note: `${name}, ${notes}`, terms: products(parts, stride), c });
        const [half, quarter, bit] = [one - w - 1, one - w - 2, one - j];
        put('c = 1 and half a place plus', pow(one, sign), [
          [sign, half],
          [sign, bit],
        ]);
        // 2^-(w+1) + a run of ones from w+3 to j.
        put('c = 1 less half a place and a run', pow(one, sign), [
          [opposite, half],
          [opposite, quarter],
          [sign, bit],
        ]);
        put('c below 2 and a carry', bitsAt(one, Array.from({ length: w - 1 }, (_, i) => i + 1), sign), [
          [sign, one - w + 1],
          [sign, one - w],
          [sign, bit],
        ]);
        put('c above -2 less a run', bitsAt(one, Array.from({ length: w - 2 }, (_, i) => i + 1), sign), [
          [sign, one - w + 2],
          [sign, one - w + 1],
          [sign, one - w],
          [opposite, bit],
        ]);
        put('c = 1 less half a place plus', pow(one, sign), [
          [opposite, half],
          [sign, bit],
        ]);
      }
      const top = Math.min(high, Math.max(scope.middle, low + w + 4));
      for (let j = 0; j <= 40; j++) {
        if (stride > 1 && j > 6) continue;
        add({
          group: 'addend',
          note: `a product of 1, c of half a place plus bit ${w + 1 + j}`,
          terms: products([[sign, top]], stride),
          c: bitsAt(top - w - 1, j === 0 ? [] : [Math.min(j, w)], sign),
        });
        add({
          group: 'addend',
          note: `products of 1 and half a place, c at depth ${w + 1 + j}`,
          terms: products(
            [
              [sign, top],
              [sign, top - w - 1],
            ],
            stride,
          ),
          c: pow(top - w - 1 - j, sign),
        });
        add({
          group: 'addend',
          note: `products 1 - 1, c at depth ${j}`,
          terms: products(
            [
              [1, top],
              [-1, top],
            ],
            stride,
          ),
          c: bitsAt(top - j, [w], sign),
        });
      }
    }
}
