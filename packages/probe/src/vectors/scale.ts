import { scaleRange } from '../signature.js';
import { at, pow, type Scope } from './scope.js';

/** Block scales: two blocks of different scale, c about the largest product, results at the bottom of the range. */
export function scaleVectors(scope: Scope): void {
  const { signature, add, low, high, slots, c } = scope;
  if (signature.scaling === null) return;
  const blocks = signature.k / signature.scaling.block;
  const perBlock = slots / blocks;
  const range = scaleRange(signature);
  const limit = 2 * range.high;
  const set = (first: number, other: number) => Array.from({ length: blocks }, (_, i) => (i === 0 ? first : other));
  const second = blocks > 1 ? perBlock : Math.min(16, slots - 1);
  const bases = signature.scaling.format === 'ue8m0' ? [0, -60, -100, -140] : [0, 16];
  groupVectors(scope, blocks > 1 ? perBlock : slots);
  bottomVectors(scope, perBlock);
  for (const base of bases)
    for (let depth = 0; depth <= 52; depth++) {
      const other = blocks > 1 ? base - depth : base;
      if (Math.abs(other) > limit) continue;
      const scales = set(base, other);
      const top = base + high - 1;
      const bottom = other + low;
      for (const sign of [1, -1] as const) {
        add({
          group: 'scale',
          note: `1 - 1 in a block of scale 2^${base}, the least product in one of 2^${other}`,
          terms: [
            { slot: 0, ...pow(top) },
            { slot: 1, ...pow(top, -1) },
            { slot: second, ...at(sign, bottom) },
          ],
          scales,
        });
        if (depth % 2 === 0)
          add({
            group: 'dominant',
            note: `a run of the least products under scale 2^${other}, c ${depth} above`,
            terms: Array.from({ length: Math.min(4, slots) }, (_, i) => ({ slot: i, ...at(3 * sign, base + low) })),
            scales: set(base, base),
            c: at(sign === 1 ? 1 : 3, Math.min(c.top - 1, Math.max(c.bottom, base + low + depth))),
          });
        add({
          group: 'scale',
          note: `1 - 1 in a block of scale 2^${base}, c ${depth} below`,
          terms: [
            { slot: 0, ...pow(top) },
            { slot: second, ...pow(base + low, -1) },
            { slot: 1, ...pow(top, -1) },
          ],
          scales: set(base, base),
          c: at(3 * sign, Math.max(c.bottom, top - depth)),
        });
      }
    }
}

/** Which small products are summed before they are cut: two of them a distance apart, c or a pair leading. */
function groupVectors({ signature, add, low, high, slots }: Scope, perBlock: number): void {
  const scaling = signature.scaling!;
  const blocks = signature.k / scaling.block;
  if (blocks < 2) return;
  const first = scaling.format === 'ue8m0' ? 0 : 16;
  const least = scaling.format === 'ue8m0' ? -254 : -18;
  const top = first + high - 1;
  // A group of small products within the second scale block and beyond it.
  const far = Array.from({ length: slots - perBlock - 1 }, (_, i) => i + 1).filter((i) => (i & (i - 1)) === 0 || i === 3);
  for (let depth = 28; depth <= 44; depth++) {
    const other = Math.max(least, first - depth);
    const scales = Array.from({ length: blocks }, (_, i) => (i === 0 ? first : other));
    for (const lead of [first, first + 2, top])
      for (const m of [1, 3])
        add({
          group: 'dominant',
          note: `c = 2^${lead} less itself, one product ${first - other} below`,
          terms: [
            { slot: 0, ...pow(lead, -1) },
            { slot: perBlock, ...at(m, other + low) },
          ],
          scales,
          c: pow(lead),
        });
    for (const distance of depth >= 31 && depth <= 38 ? far : far.slice(0, 1))
      for (const [m, up] of [
        [1, 0],
        [3, 0],
      ] as const) {
        const small = [0, distance].map((d) => ({ slot: perBlock + d, ...at(m, other + low + up) }));
        for (const lead of [top, first])
          add({
            group: 'group',
            note: `1 - 1 at 2^${lead}, two products ${first - other} below, ${distance} apart`,
            terms: [{ slot: 0, ...pow(lead) }, { slot: 1, ...pow(lead, -1) }, ...small],
            scales,
          });
        for (const lead of [first, first + 2, top])
            add({
              group: 'dominant',
              note: `c = 2^${lead} less itself, two products ${first - other} below, ${distance} apart`,
              terms: [{ slot: 0, ...pow(lead, -1) }, ...small],
              scales,
              c: pow(lead),
            });
      }
    // c below the largest product of its block: c, a pair and -c, small products elsewhere.
    for (let j = 0; j < high; j++)
      for (const m of [1, 3])
        add({
          group: 'group',
          note: `a pair at 2^${first + high}, c = 2^${first + j} less itself, a product ${first - other} below`,
          terms: [
            { slot: 0, ...pow(first + high) },
            { slot: 1, ...pow(first + high, -1) },
            { slot: 2, ...pow(first + j, -1) },
            { slot: perBlock, ...at(m, other + low) },
          ],
          scales,
          c: pow(first + j),
        });
  }
}

/** Subnormal results of scaled products with c = 0: what groups of smaller scale still count. */
function bottomVectors({ signature, add, d, low, slots }: Scope, perBlock: number): void {
  if (signature.scaling!.format !== 'ue8m0' || perBlock >= slots) return;
  const blocks = signature.k / signature.scaling!.block;
  for (const first of [d.bottom + 8, d.bottom + 4, d.bottom, d.bottom - 4])
    for (let e = d.bottom - 40; e <= d.bottom - 2; e++) {
      const other = e - low;
      const scales = Array.from({ length: blocks }, (_, i) => (i === 0 ? first : other));
      for (const sign of [1, -1] as const)
        for (const lead of [d.bottom, d.bottom + 1, d.bottom + 4])
          add({
            group: 'bottom',
            note: `2^${lead} and a product of 2^${e} under a scale of 2^${other}`,
            terms: [
              { slot: 0, ...pow(lead, sign) },
              { slot: perBlock, ...pow(e, sign === 1 ? -1 : 1) },
            ],
            scales,
          });
    }
}
