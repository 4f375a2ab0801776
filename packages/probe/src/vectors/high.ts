import { exponentsOf, floatOf } from '../signature.js';
import { at, pow, type Scope } from './scope.js';

/** The highest exponents: overflow of products, of sums inside a block, and of the result. */
export function highVectors(scope: Scope): void {
  const { add, d, c, high, slots } = scope;
  const w = d.fraction;
  const largest = { s: 2 ** (w + 1) - 1, x: d.top - w };
  for (const sign of [1, -1] as const) {
    add({ group: 'high', note: 'c the largest number', terms: [], c: { s: sign * largest.s, x: largest.x } });
    for (let e = Math.min(high, d.top - w - 3); e <= Math.min(high, d.top + 1); e++)
      add({
        group: 'high',
        note: `c the largest number and 2^${e}`,
        terms: [{ slot: 0, ...pow(e, sign) }],
        c: { s: sign * largest.s, x: largest.x },
      });
    for (let e = d.top - 2; e <= Math.min(high + 1, d.top + 4); e++)
      overflowPairs(scope, e, sign);
    for (const e of [high - 1, high, high + 1]) overflowPairs(scope, e, sign);
  }
  if (high > d.top)
    for (let e = d.top; e <= high; e += Math.max(1, Math.floor((high - d.top) / 24))) overflowPairs(scope, e, 1);
  // Every overflow threshold that a product can cross, from far below the result's range upwards.
  const from = Math.max(1, Math.min(8, high));
  for (let e = from; e <= Math.min(high, 300); e += e < 40 || Math.abs(e - d.top) < 6 ? 1 : 8)
    add({
      group: 'high',
      reading: ['less itself', e],
      note: `one product of 2^${e} less itself`,
      terms: [
        { slot: 0, ...pow(e) },
        { slot: Math.min(1, slots - 1), ...pow(e, -1) },
      ],
    });
  greatestProducts(scope);
  if (c.top >= d.top)
    add({ group: 'high', note: 'the largest c against products', terms: [{ slot: 0, ...pow(d.top, -1) }], c: pow(d.top) });
}

function overflowPairs({ add, slots }: Scope, e: number, sign: 1 | -1): void {
  add({ group: 'high', note: `one product of 2^${e}`, terms: [{ slot: 0, ...pow(e, sign) }] });
  add({ group: 'high', note: `one product of 1.5 * 2^${e}`, terms: [{ slot: 0, ...at(3 * sign, e - 1) }] });
  for (const slot of [1, 2, 4, 8, slots - 1])
    if (slot > 0 && slot < slots) {
      add({
        group: 'high',
        note: `2^${e} - 2^${e} at 0 and ${slot}`,
        terms: [
          { slot: 0, ...pow(e, sign) },
          { slot, ...pow(e, sign === 1 ? -1 : 1) },
        ],
      });
      add({
        group: 'high',
        note: `2.25 * 2^${e} made of 1.5s, less itself, at 0 and ${slot}`,
        terms: [
          { slot: 0, ...at(9 * sign, e - 2), factors: [at(3 * sign, Math.ceil(e / 2) - 1), at(3, Math.floor(e / 2) - 1)] },
          { slot, ...at(-9 * sign, e - 2), factors: [at(-3 * sign, Math.ceil(e / 2) - 1), at(3, Math.floor(e / 2) - 1)] },
        ],
      });
      add({
        group: 'high',
        note: `2^${e} twice, at 0 and ${slot}`,
        terms: [
          { slot: 0, ...pow(e, sign) },
          { slot, ...pow(e, sign) },
        ],
      });
    }
}

/** The greatest products, made of the greatest factors and of 1.5s, against themselves. */
function greatestProducts({ add, signature, slots }: Scope): void {
  const greatest = (name: typeof signature.a, sign: 1 | -1) => {
    const { top, fraction } = exponentsOf(name);
    const units = 2 ** (fraction + 1) - (floatOf(name).specials === 'nan-only' ? 2 : 1);
    return at(sign * units, top - fraction);
  };
  const a = exponentsOf(signature.a);
  const b = exponentsOf(signature.b);
  for (const [note, left, right] of [
    ['the greatest product', (s: 1 | -1) => greatest(signature.a, s), greatest(signature.b, 1)],
    ['1.5 * 1.5 at the top', (s: 1 | -1) => at(3 * s, a.top - 1), at(3, b.top - 1)],
    ['1.5 * 1.5 below the top', (s: 1 | -1) => at(3 * s, a.top - 2), at(3, b.top - 1)],
  ] as const) {
    const term = (slot: number, s: 1 | -1) => ({ slot, ...at(s, 0), factors: [left(s), right] as const });
    add({ group: 'high', note, terms: [term(0, 1)] });
    for (const slot of [1, 2, 4, slots - 1])
      if (slot > 0 && slot < slots) add({ group: 'high', note: `${note} less itself`, terms: [term(0, 1), term(slot, -1)] });
  }
}
