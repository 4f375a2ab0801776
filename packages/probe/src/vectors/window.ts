import { at, pow, type Scope, trios } from './scope.js';

const DEEPEST = 72;

/** Alignment: a small term at every depth below a large one that cancels, or that stays. */
export function windowVectors(scope: Scope): void {
  const { add, low, high } = scope;
  for (let depth = 1; depth <= DEEPEST; depth++) {
    const tops = new Set([Math.min(high, Math.max(scope.middle, low + depth)), high]);
    for (const e of tops)
      for (const sign of [1, -1] as const) {
        for (const [m, shift] of depth < 10 || depth > 30 ? ([[1, 0]] as const) : ([[1, 0], [3, -1], [7, -2]] as const)) {
          const small = at(sign * m, e - depth + shift);
          if (scope.slots > 1)
            add({
              group: 'window',
              note: `1 - 1 + c at depth ${depth}`,
              terms: [
                { slot: 0, ...pow(e) },
                { slot: 1, ...pow(e, -1) },
              ],
              c: small,
            });
          for (const [x, y, z] of trios(scope)) {
            add({
              group: y === 2 ? 'even' : 'window',
              note: `1 - 1 + product at depth ${depth}`,
              terms: [
                { slot: x, ...pow(e) },
                { slot: y, ...small },
                { slot: z, ...pow(e, -1) },
              ],
            });
          }
          add({
            group: 'window',
            note: `c - c + product at depth ${depth}`,
            terms: [
              { slot: 0, ...pow(e, -1) },
              { slot: 1, ...small },
            ],
            c: pow(e),
          });
        }
        // A cut toward minus infinity leaves one quantum of a negative term, far below too.
        add({
          group: 'window',
          note: `1 and c at depth ${depth}`,
          terms: [{ slot: 0, ...pow(e, sign) }],
          c: at(3 * sign, e - depth),
        });
      }
  }
  denormalised(scope);
}

/** Products are not normalised: 1.5 * 1.5 aligns one place lower than 2.25 * 1. */
function denormalised({ add, middle, d }: Scope): void {
  const w = d.fraction;
  for (const depth of [w - 1, w, w + 1, w + 2, w + 3])
    for (const factors of [
      [at(3, -1), at(3, middle - 1)],
      [at(9, -2), at(1, middle)],
      [at(1, middle), at(9, -2)],
    ] as const)
      for (const [y, z] of [
        [1, 4],
        [2, 4],
      ] as const)
        add({
          group: 'window',
          note: `2.25 made of ${factors[0].s === 3 ? '1.5 * 1.5' : '2.25 * 1'} and two terms at depth ${depth}`,
          terms: [
            { slot: 0, ...at(9, middle - 2), factors },
            { slot: y, ...pow(middle - depth) },
            { slot: z, ...pow(middle - depth) },
          ],
        });
}
