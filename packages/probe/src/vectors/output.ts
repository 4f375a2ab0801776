import { at, bitsAt, pow, type Scope } from './scope.js';

/** The end of a block step: precision, rounding, carry out of the significand. c leads, one product below it. */
export function outputVectors(scope: Scope): void {
  const { d, add } = scope;
  const w = d.fraction;
  // c's exponent such that a product reaches two places below c's last one.
  const e = Math.min(Math.max(scope.middle, scope.low + w + 2), scope.c.top - 1);
  for (const sign of [1, -1] as const) {
    for (const other of [1, -1] as const)
      for (const [name, m, shift] of [
        ['half', 1, -1],
        ['three quarters', 3, -2],
        ['a quarter', 1, -2],
        ['one and a half', 3, -1],
        ['five quarters', 5, -2],
      ] as const)
        for (const [i, c] of [
          bitsAt(e, [], sign),
          bitsAt(e, [w], sign),
          { s: sign * (2 ** (w + 1) - 1), x: e - w },
        ].entries())
          add({
            group: 'output',
            ...(i === 1 && sign === other && { reading: [`last-place ${sign > 0 ? '+' : '-'}`, 4 * m * 2 ** shift] as const }),
            note: `c and ${name} of its last place`,
            terms: [{ slot: 0, ...at(other * m, e - w + shift) }],
            c,
          });
    for (let q = 1; q <= w; q++) {
      add({
        group: 'output',
        note: `c with bit ${q}`,
        terms: [],
        c: bitsAt(e, [q], sign),
        ...(sign > 0 && { reading: ['c-bit', q] as const }),
      });
      add({
        group: 'output',
        note: `c with bits ${q} and ${w}, a product half of the last place`,
        terms: [{ slot: 0, ...pow(e - w - 1, sign) }],
        c: bitsAt(e, q === w ? [w] : [q, w], sign),
      });
      if (q > 1)
        add({
          group: 'output',
          note: `c with bits ${q - 1} and ${q}`,
          terms: [{ slot: 0, ...pow(e - w - 1, sign) }],
          c: bitsAt(e, [q - 1, q], sign),
        });
    }
    // Products alone: their sum is rounded as a whole where a block holds both.
    const top = Math.min(scope.high - 1, scope.middle + 4);
    for (const depth of [w - 1, w, w + 1, w + 2])
      for (const [x, y] of [
        [0, 1],
        [0, 2],
        [0, 4],
      ] as const)
        for (const m of [1, 3])
          add({
            group: 'products',
            note: `products ${depth} places apart`,
            terms: [
              { slot: x, ...at(sign * 1, top) },
              { slot: y, ...at(sign * m, top - depth) },
            ],
          });
  }
}
