import type { FormatName } from '@bitmma/core';
import { floatOf } from '../signature.js';
import { pow, type Scope } from './scope.js';
import type { RawWords } from './spec.js';

/** Words of a format that are no plain number. */
function specialWords(name: FormatName) {
  const f = floatOf(name);
  const width = BigInt(f.exponentBits + f.fractionBits);
  const dropped = BigInt(f.droppedBits);
  const sign = 1n << (width + dropped);
  const ones = ((1n << BigInt(f.exponentBits)) - 1n) << (BigInt(f.fractionBits) + dropped);
  const zero = f.specials === 'fnuz' ? [] : [sign];
  if (f.specials === 'ieee') {
    const quiet = 1n << (BigInt(f.fractionBits) + dropped - 1n);
    // A NaN whose payload lies only in dropped bits.
    const low = dropped > 0n ? [ones | 1n] : [];
    return { inf: [ones, ones | sign], nan: [ones | quiet, ones | sign | (1n << dropped), ...low], zero };
  }
  if (f.specials === 'nan-only') return { inf: [], nan: [(1n << width) - 1n], zero };
  if (f.specials === 'fnuz') return { inf: [], nan: [0x80n], zero };
  return { inf: [], nan: [], zero };
}

/** NaN and Inf rules and words, zero signs. */
export function specialVectors(scope: Scope): void {
  const { add, signature, slots } = scope;
  const a = specialWords(signature.a);
  const b = specialWords(signature.b);
  const c = specialWords(signature.c);
  const oneA = oneOf(signature.a);
  const oneB = oneOf(signature.b);
  const raw = (note: string, words: RawWords, reading?: string) =>
    add({ group: 'special', note, terms: [], raw: words, ...(reading && { reading: [reading, 0] as const }) });
  for (const word of [...c.nan, ...c.inf, ...c.zero]) {
    raw(`c = ${word.toString(16)}`, { c: word }, word === c.nan[0] ? 'NaN c' : word === c.zero[0] ? '-0 c' : undefined);
    raw(`c = ${word.toString(16)} and a product of 1`, { a: [[0, oneA]], b: [[0, oneB]], c: word });
  }
  for (const word of [...a.nan, ...a.inf]) {
    raw('a special', { a: [[0, word]], b: [[0, oneB]] });
    raw('a special times zero', { a: [[0, word]] }, word === a.inf[0] ? 'Inf * 0' : undefined);
    for (const other of c.inf) raw('a special, c infinite', { a: [[0, word]], b: [[0, oneB]], c: other });
    if (slots > 1)
      for (const slot of [1, slots - 1])
        for (const next of a.inf)
          raw(
            `a special at 0, infinite at ${slot}`,
            {
              a: [
                [0, word],
                [slot, next],
              ],
              b: [
                [0, oneB],
                [slot, oneB],
              ],
            },
            slot === 1 && word === a.inf[0] && next === a.inf[1] ? 'Inf - Inf' : undefined,
          );
  }
  for (const word of [...b.nan, ...b.inf]) {
    raw('b special', { a: [[0, oneA]], b: [[0, word]] });
    raw('b special times zero', { b: [[0, word]] });
    if (a.inf.length > 0) raw('a and b special', { a: [[0, a.inf[0]]], b: [[0, word]] });
  }
  const negativeA = a.zero[0];
  const negativeB = b.zero[0];
  for (const cWord of [undefined, ...c.zero]) {
    const withC = cWord === undefined ? {} : { c: cWord };
    raw('all zero', withC);
    const every = (word: bigint) => Array.from({ length: slots }, (_, i) => [i, word] as const);
    if (negativeA !== undefined) {
      raw('-0 * 0 everywhere', { a: every(negativeA), ...withC }, cWord === undefined ? undefined : '-0 everywhere');
      raw('-0 * 0 once', { a: [[0, negativeA]], ...withC });
      if (negativeB !== undefined) raw('-0 * -0', { a: every(negativeA), b: every(negativeB), ...withC });
    }
  }
  zeroSums(scope);
  if (signature.scaling) {
    const nan = signature.scaling.format === 'ue8m0' ? 0xff : 0x7f;
    const unit = signature.scaling.format === 'ue8m0' ? 0x7f : 0x38;
    const scales = signature.k / signature.scaling.block;
    const units: number[] = Array.from({ length: scales }, () => unit);
    for (let i = 0; i < scales; i++)
      for (const side of ['a', 'b'] as const) {
        const words = { a: [...units], b: [...units] };
        words[side][i] = nan;
        for (const full of [true, false])
          add({
            group: 'special',
            note: `NaN scale of ${side}, block ${i}`,
            terms: full ? [{ slot: 0, ...pow(0) }] : [],
            scaleWords: words,
          });
      }
  }
}

/** Exact cancellation, and products that underflow: +0 or -0. */
function zeroSums({ add, middle, d, low, slots, signature }: Scope): void {
  const negativeZero = 1n << BigInt(floatOf(signature.c).wordBits - 1);
  for (const sign of [1, -1] as const) {
    const other = sign === 1 ? -1 : 1;
    add({ group: 'special', note: 'c less c', terms: [{ slot: 0, ...pow(middle, other) }], c: pow(middle, sign) });
    if (slots > 1)
      add({
        group: 'special',
        ...(sign > 0 && { reading: ['1 - 1', 0] as const }),
        note: '1 - 1',
        terms: [
          { slot: 0, ...pow(middle, sign) },
          { slot: 1, ...pow(middle, other) },
        ],
      });
    for (const e of [low, d.bottom - 3, d.bottom - 2, d.bottom - 1])
      for (const slot of [0, 1, 2]) {
        const terms = [{ slot, ...pow(e, sign) }];
        if (slot === 0) add({ group: 'special', note: `a product of 2^${e} alone`, terms });
        add({ group: 'special', note: `a product of 2^${e} at ${slot}, c = -0`, terms, raw: { c: negativeZero } });
      }
    // c's lowest bit cut by the output's precision.
    add({ group: 'special', note: 'c the smallest number', terms: [], c: pow(d.bottom, sign) });
    add({
      group: 'special',
      note: 'the smallest c after 1 - 1',
      terms:
        slots > 1
          ? [
              { slot: 0, ...pow(Math.max(low, d.bottom + 1)) },
              { slot: 1, ...pow(Math.max(low, d.bottom + 1), -1) },
            ]
          : [],
      c: pow(d.bottom, sign),
    });
  }
}

const oneOf = (name: FormatName): bigint => {
  const f = floatOf(name);
  return BigInt(f.bias) << BigInt(f.fractionBits + f.droppedBits);
};
