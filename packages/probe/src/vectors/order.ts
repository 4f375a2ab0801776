import { at, pow, type Scope } from './scope.js';

/** Slots to try as the far end of a block: all up to 40, then those about multiples of 16. */
function ends(slots: number): number[] {
  return Array.from({ length: slots }, (_, i) => i).filter((i) => i > 0 && (i < 40 || i % 16 <= 1 || i % 16 === 15));
}

/** Which products share one sum, and in which order sums meet: one product fixed, one that moves. */
export function orderVectors(scope: Scope): void {
  const { add, d, low, high, slots } = scope;
  const w = d.fraction;
  const wide = Math.min(high, scope.middle + 8);
  // c large enough that products reach half of its last place.
  const e = Math.min(Math.max(scope.middle, low + w + 3), scope.c.top - 1);
  for (const j of ends(slots)) {
    for (const depth of [w + 12, 2 * w + 8, wide - low])
      add({
        group: 'order',
        ...(depth === w + 12 && { reading: ['c - c then', j] as const }),
        note: `c - c in the first product, a product ${depth} below at ${j}`,
        terms: [
          { slot: 0, ...pow(wide, -1) },
          { slot: j, ...pow(wide - depth) },
        ],
        c: pow(wide),
      });
    for (const sign of [1, -1] as const) {
      for (const [m, shift] of [
        [1, -1],
        [3, -1],
        [3, -2],
        [1, 0],
      ] as const) {
        const half = at(sign * m, e - w + shift);
        add({
          group: 'order',
          ...(sign > 0 && { reading: [`two of ${m}/${2 ** -shift}`, j] as const }),
          note: `c and two products of ${m}/${2 ** -shift} of its last place, at 0 and ${j}`,
          terms: [
            { slot: 0, ...half },
            { slot: j, ...half },
          ],
          c: pow(e, sign),
        });
        if (j % 3 === 1)
          add({
            group: 'order',
            note: `all-ones c and products at 0 and ${j}`,
            terms: [
              { slot: 0, ...half },
              { slot: j, ...half },
            ],
            c: { s: sign * (2 ** (w + 1) - 1), x: e - w },
          });
      }
      if (j + 1 < slots)
        add({
          group: 'order',
          note: `a large product at ${j}, two of three quarters of its last place`,
          terms: [
            { slot: 0, ...at(sign * 3, wide - w - 2) },
            { slot: j, ...pow(wide, sign) },
            { slot: j + 1, ...at(sign * 3, wide - w - 2) },
          ],
        });
      add({
        group: 'order',
        note: `1 at 0, -1 at ${j}, c far below`,
        terms: [
          { slot: 0, ...pow(wide, sign) },
          { slot: j, ...pow(wide, sign === 1 ? -1 : 1) },
        ],
        c: pow(Math.max(scope.c.bottom, wide - w - 12)),
      });
    }
  }
  for (let i = 0; i < Math.min(slots, 8); i++)
    for (let j = 0; j < Math.min(slots, 8); j++)
      for (let l = j + 1; l < Math.min(slots, 8); l++)
        if (i !== j && i !== l)
          add({
            group: 'order',
            reading: ['permuted', 64 * i + 8 * j + l],
            note: `1 at ${i}, three quarters of its last place at ${j} and ${l}`,
            terms: [
              { slot: i, ...pow(wide) },
              { slot: j, ...at(3, wide - w - 2) },
              { slot: l, ...at(3, wide - w - 2) },
            ],
          });
}
