import { at, pow, type Scope, trios } from './scope.js';

const DEEPEST = 72;

/** Alignment: a small term at every depth below a large one that cancels, or that stays. */
export function windowVectors(scope: Scope): void {
  const { add, low, high } = scope;
  for (let depth = 1; depth <= DEEPEST; depth++) {
    const tops = new Set([Math.min(high, Math.max(scope.middle, low + depth)), high]);
    const [usual] = tops;
    for (const e of tops)
      for (const sign of [1, -1] as const) {
        for (const [m, shift] of depth < 10 || depth > 30 ? ([[1, 0]] as const) : ([[1, 0], [3, -1], [7, -2]] as const)) {
          const small = at(sign * m, e - depth + shift);
          if (scope.slots > 1)
            add({
              group: 'window',
              note: `1 - 1 + c at depth ${depth}`,
              ...(m === 1 && sign > 0 && e === usual && { reading: ['survivor c', depth] as const }),
              terms: [
                { slot: 0, ...pow(e) },
                { slot: 1, ...pow(e, -1) },
              ],
              c: small,
            });
          for (const [x, y, z] of trios(scope)) {
            add({
              group: y === 2 ? 'even' : z === 4 ? 'split' : 'window',
              note: `1 - 1 + product at depth ${depth}`,
              ...(m === 1 && sign > 0 && e === usual && { reading: [`survivor ${x} ${y} ${z}`, depth] as const }),
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
function denormalised({ add, middle, low }: Scope): void {
  for (let depth = 8; depth <= 64; depth++)
    for (const [name, x, y] of [
      ['1.5 * 1.5', 3, 3],
      ['2.25 * 1', 9, 1],
    ] as const) {
      const e = Math.max(middle, low + depth);
      const eb = Math.floor(e / 2);
      const bitsOfX = x === 9 ? 2 : 1;
      const factors = (sign: 1 | -1) => [at(sign * x, e - eb - bitsOfX), at(y, eb - (y === 3 ? 1 : 0))] as const;
      add({
        group: 'window',
        reading: [name, depth],
        note: `${name} less itself, a product ${depth} below`,
        terms: [
          { slot: 0, ...pow(e), factors: factors(1) },
          { slot: 1, ...pow(e - depth) },
          { slot: 4, ...pow(e), factors: factors(-1) },
        ],
      });
    }
}
