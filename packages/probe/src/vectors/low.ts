import { exponentsOf } from '../signature.js';
import { leading } from './word.js';
import { at, bitsAt, pow, type Scope } from './scope.js';

/** The lowest exponents: subnormal operands and results, floors of the window, the exponent of c = 0, underflow. */
export function lowVectors(scope: Scope): void {
  const { add, d, c, low, slots } = scope;
  const stride = slots > 4 ? [1, 4] : [1];
  for (const sign of [1, -1] as const) {
    for (const e of [c.bottom, c.bottom + 1, c.emin - 1, c.emin, c.emin + 1])
      add({
        group: 'subnormal',
        note: `c = 2^${e}`,
        terms: [],
        c: pow(e, sign),
        ...(sign > 0 && { reading: ['small c', e] as const }),
      });
    for (const side of ['a', 'b'] as const) subnormalInput(scope, side, sign);
    for (let e = Math.max(low, d.bottom - 8); e <= d.emin + 1 && e <= scope.high; e += e < d.bottom + 4 ? 1 : 5) {
      add({
        group: 'subnormal',
        note: `one product of 2^${e}`,
        terms: [{ slot: 0, ...pow(e, sign) }],
        ...(sign > 0 && { reading: ['small product', e] as const }),
      });
      add({ group: 'subnormal', note: `one product of 3 * 2^${e}`, terms: [{ slot: 0, ...at(3 * sign, e) }] });
      add({
        group: 'subnormal',
        note: `two products of 2^${e}`,
        terms: [
          { slot: 0, ...pow(e, sign) },
          { slot: 1, ...pow(e, sign) },
        ],
      });
      add({
        group: 'subnormal',
        note: `c and a product of 2^${e}`,
        terms: [{ slot: 0, ...pow(e, sign) }],
        c: pow(Math.max(c.bottom, e), sign),
      });
      add({
        group: 'subnormal',
        note: `c less a product of 2^${e}`,
        terms: [{ slot: 0, ...pow(e, sign === 1 ? -1 : 1) }],
        c: at(3 * sign, Math.max(c.bottom, e)),
      });
    }
    for (let depth = 1; depth <= 44; depth++)
      for (const s of stride) {
        const bottom = d.bottom;
        if ((s > 1 || sign < 0) && depth > 12) continue;
        // Half of the smallest result and a term below it: visible where the mode looks at what is cut.
        add({
          group: 'low',
          ...(s === 1 && sign > 0 && { reading: ['half below', depth] as const }),
          note: `half of the smallest result and a product ${depth} below`,
          terms: [
            { slot: 0, ...pow(bottom - 1, sign) },
            { slot: s, ...pow(bottom - 1 - depth, sign) },
          ],
        });
        // All ones up to the smallest result and its last bit: visible in truncation.
        if (depth <= 20)
          for (const base of [bottom, d.emin, Math.min(scope.high - 1, d.emin + 6)])
            add({
              group: 'low',
              note: `2^${base} less its bit ${depth}, and that bit`,
              terms: [
                { slot: 0, s: sign * (2 ** depth - 1), x: base - depth },
                { slot: s, ...pow(base - depth, sign) },
              ],
            });
        add({
          group: 'low',
          note: `c, half of its place and a product ${depth} below`,
          terms: [
            { slot: 0, ...pow(bottom - 1, sign) },
            { slot: s, ...pow(bottom - 1 - depth, sign) },
          ],
          c: at(3, bottom),
        });
      }
  }
  // A power of two less one bit far below it: truncation shows whether the bit was kept.
  for (let depth = 1; depth <= 64; depth++)
    for (const base of [d.bottom, d.bottom + 3, d.emin])
      add({
        group: 'low',
        ...(base === d.bottom && { reading: ['less below', depth] as const }),
        note: `2^${base} less 2^${base - depth}`,
        terms: [
          { slot: 0, ...pow(base) },
          { slot: 1, ...pow(base - depth, -1) },
        ],
      });
  unnormalised(scope);
  // A pair that cancels sets the exponent: what of half the smallest result and a bit below it the cuts keep.
  for (let e = d.bottom + 6; e <= d.bottom + 26; e++)
    for (let depth = 5; depth <= 10; depth++)
      for (const sign of [1, -1] as const)
        add({
          group: 'low',
          note: `1 - 1 at 2^${e}, half of the smallest result and a product ${depth} below`,
          terms: [
            { slot: 0, ...pow(e) },
            { slot: 1, ...pow(e, -1) },
            { slot: 2, ...pow(d.bottom - 1, sign) },
            { slot: 3, ...pow(d.bottom - 1 - depth, sign) },
          ],
        });
  // The least products of all, many of them, with c zero and c the least.
  for (const m of [1, 3, 5])
    for (const n of [1, 2, Math.min(slots, 16), slots])
      for (const value of [undefined, pow(c.bottom), pow(c.emin)])
        for (const up of [0, 1, 3])
          add({
            group: 'low',
            note: `${n} products of ${m} * 2^${low + up}`,
            terms: Array.from({ length: n }, (_, slot) => ({ slot, ...at(m, low + up) })),
            ...(value && { c: value }),
          });
  // Near the floors of 16-bit results and below: sums that carry into the smallest result.
  for (let e = d.bottom - 28; e < d.bottom; e++)
    for (const n of [2, 4, 8, 16])
      if (e >= low && n <= slots)
        add({
          group: 'low',
          note: `2^${d.bottom} less ${n} * 2^${e}, and ${n} products of 2^${e}`,
          terms: [
            { slot: 0, s: 2 ** (d.bottom - e) - n + 1, x: e },
            ...Array.from({ length: n - 1 }, (_, i) => ({ slot: i + 1, ...pow(e) })),
          ],
        });
}

function subnormalInput(scope: Scope, own: 'a' | 'b', sign: 1 | -1): void {
  const { add, signature } = scope;
  const { bottom, emin } = exponentsOf(signature[own]);
  const other = exponentsOf(signature[own === 'a' ? 'b' : 'a']);
  for (const e of [bottom, emin - 1, emin]) {
    const small = pow(e, sign);
    for (const big of [0, Math.min(other.top, 8)]) {
      const factors = own === 'a' ? ([small, pow(big)] as const) : ([pow(big), small] as const);
      add({
        group: 'subnormal',
        ...(sign > 0 && big > 0 && { reading: [`small ${own}`, e] as const }),
        note: `${own} = 2^${e} times 2^${big}`,
        terms: [{ slot: 0, ...pow(leading(small) + big, sign), factors }],
        scales: signature.scaling ? [0] : [],
      });
    }
  }
  // A subnormal factor keeps the exponent of the least normal: alignment sees it.
  const tiny = bitsAt(bottom, []);
  const factors = own === 'a' ? ([tiny, pow(0)] as const) : ([pow(0), tiny] as const);
  for (const depth of [scope.d.fraction, scope.d.fraction + 1, scope.d.fraction + 2])
    add({
      group: 'subnormal',
      note: `${own} the least subnormal, c ${depth} below its exponent`,
      terms: [{ slot: 0, ...pow(bottom), factors }],
      c: pow(Math.max(scope.c.bottom, emin - depth)),
    });
}

/**
 * Products that are larger than their exponent says, so that sums of the smallest result have a window below it: the
 * smallest result made of (7/4)^2, (3/2)^2 and 3/2, less one bit.
 */
function unnormalised({ add, d }: Scope): void {
  const made = (e: number, count: number, first: number) => {
    const eb = Math.floor(e / 2);
    const factors = {
      49: [at(7, e - eb - 2), at(7, eb - 2)],
      9: [at(3, e - eb - 1), at(3, eb - 1)],
      3: [at(3, e - eb - 1), at(1, eb)],
    } as const;
    const one = (m: 49 | 9 | 3, slot: number) => ({ slot, ...pow(e), factors: factors[m] });
    const pattern: (49 | 9 | 3)[] = [
      ...Array.from({ length: 4 * count }, () => 49 as const),
      ...Array.from({ length: count }, () => 9 as const),
      ...Array.from({ length: count }, () => 3 as const),
    ];
    return pattern.map((m, i) => one(m, first + i));
  };
  for (const [e, count] of [
    [d.bottom - 4, 1],
    [d.bottom - 5, 2],
  ] as const)
    for (let depth = 12; depth <= 60; depth++)
      add({
        group: 'low',
        note: `the smallest result of products at 2^${e}, less a bit ${depth} below`,
        terms: [...made(e, count, 0), { slot: 6 * count, ...pow(e - depth, -1) }],
      });
}
