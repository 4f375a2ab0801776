/**
 * Hard cases by name. What a case shows is never taken on trust: it is worked out again from the words and the
 * reference's trace whenever a vector claims it.
 */
import type { MmaOp } from '../datapath/op.js';
import { decode } from '../formats/decode.js';
import { type Element, minExponent, type Word } from '../formats/element.js';
import type { FloatFormat } from '../formats/format.js';
import { bitLength } from '../formats/round.js';
import { FORMATS, type FormatName } from '../formats/table.js';
import { readWord } from '../formats/words.js';
import type { BlockTrace, Exact, Stage } from '../reference/index.js';
import { referenceDot } from '../reference/index.js';
import { batchOf, type CaseSet, sliceCases } from './cases.js';

/** Every predicate, with what it says of a case. */
export const PREDICATES = Object.freeze({
  tie: 'a rounding to nearest met a value exactly between two neighbours',
  truncation: 'an alignment or a cut dropped set bits of a term or a sum',
  inexact: 'a final rounding or an IEEE operation dropped set bits',
  cancellation: 'a sum lies 2^8 or more below its largest term, or is zero though terms are not',
  carry: 'a sum has a leading bit above that of every term',
  'rounding-carry': 'a rounding went up into the next binade',
  'subnormal-input': 'an operand or c is subnormal',
  'subnormal-result': 'the result is subnormal',
  floor: "the window's floor, not a term, set its exponent",
  'c-dominant': 'c is nonzero and its exponent is above that of every product of its step',
  overflow: 'the result is infinite though no input is',
  nan: 'the result is NaN',
  inf: 'an operand or c is infinite',
  'negative-zero': 'the result is -0',
});

export type Predicate = keyof typeof PREDICATES;

const magnitude = (n: bigint) => (n < 0n ? -n : n);

/** Exponent of the leading bit; -Infinity for zero. */
const lead = ({ signed, lsb }: Exact): number =>
  signed === 0n ? Number.NEGATIVE_INFINITY : bitLength(magnitude(signed)) - 1 + lsb;

const add = (x: Exact, y: Exact): Exact => {
  if (x.signed === 0n) return y;
  if (y.signed === 0n) return x;
  const lsb = Math.min(x.lsb, y.lsb);
  return { signed: (x.signed << BigInt(x.lsb - lsb)) + (y.signed << BigInt(y.lsb - lsb)), lsb };
};

const exactOf = (x: Element): Exact => ({ signed: BigInt(x.signed), lsb: x.lsb });

const isSubnormal = (format: FloatFormat, x: Element) =>
  x.kind === 'finite' && x.sig !== 0 && x.e === minExponent(format) && x.sig < 2 ** format.fractionBits;

/** What a rounding of `value` to `precision` bits of `format` drops, and whether it ends in a higher binade. */
function rounding(
  value: Exact,
  format: FloatFormat,
  precision: number,
  word: Word,
  nearest: boolean,
  into: Set<Predicate>,
) {
  if (value.signed === 0n) return;
  const top = lead(value);
  const unit = Math.max(top, minExponent(format)) - precision;
  if (unit > value.lsb) {
    const shift = BigInt(unit - value.lsb);
    const rest = magnitude(value.signed) & ((1n << shift) - 1n);
    if (rest !== 0n) into.add('inexact');
    if (nearest && rest === 1n << (shift - 1n)) into.add('tie');
  }
  const result = decode(format, word);
  if (result.kind === 'finite' && lead(exactOf(result)) > top) into.add('rounding-carry');
}

function windowTerms(stage: Extract<Stage, { stage: 'window' }>, into: Set<Predicate>) {
  if (stage.floorActive) into.add('floor');
  const terms = stage.terms.filter((term) => term.value.signed !== 0n);
  if (terms.length === 0) return;
  if (terms.some((term) => !term.exact)) into.add('truncation');
  sums(
    stage.sum,
    terms.map((term) => term.value),
    into,
  );
}

function sums(sum: Exact, terms: readonly Exact[], into: Set<Predicate>) {
  const top = Math.max(...terms.map(lead));
  if (top === Number.NEGATIVE_INFINITY) return;
  if (lead(sum) <= top - 8) into.add('cancellation');
  if (lead(sum) > top) into.add('carry');
}

const same = (x: Exact, y: Exact) => add(x, { signed: -y.signed, lsb: y.lsb }).signed === 0n;

/** The operands of one traced IEEE operation as exact values; null where one is not finite. */
function operands(
  stage: Extract<Stage, { stage: 'ieee' }>,
  op: MmaOp,
  set: CaseSet,
): readonly Exact[] | null {
  const d = FORMATS[op.d];
  const elements =
    stage.operation === 'fma'
      ? [
          elementAt(op.a, set.a, Number(stage.operands[0])),
          elementAt(op.b, set.b, Number(stage.operands[0])),
          decode(d, stage.operands[1]),
        ]
      : stage.operands.map((word) => decode(d, word));
  if (elements.some((x) => x.kind !== 'finite')) return null;
  if (stage.operation !== 'fma') return elements.map(exactOf);
  const [x, y, z] = elements;
  return [{ signed: BigInt(x.signed) * BigInt(y.signed), lsb: x.lsb + y.lsb }, exactOf(z)];
}

/** A K padding position lies beyond the words and is +0. */
function elementAt(format: FormatName, words: CaseSet['a'], index: number): Element {
  const f = FORMATS[format];
  const count = words.length / (f.wordBits === 64 ? 2 : 1);
  return decode(f, index < count ? readWord(words, index, f.wordBits) : f.wordBits === 64 ? 0n : 0);
}

function ofBlock(op: MmaOp, set: CaseSet, block: BlockTrace, cFormat: FormatName, into: Set<Predicate>) {
  const format = FORMATS[op.d];
  const c = decode(FORMATS[cFormat], block.c);
  const exponents: number[] = [];
  for (const stage of block.stages)
    switch (stage.stage) {
      case 'window':
        windowTerms(stage, into);
        exponents.push(...stage.terms.filter(({ term }) => term !== 'c').map(({ exponent }) => exponent));
        break;
      case 'cut':
        if (!same(stage.before, stage.after)) into.add('truncation');
        break;
      case 'round':
        if (format.kind === 'float')
          rounding(stage.value, format, stage.precision, stage.word, stage.rounding === 'RNE', into);
        break;
      case 'ieee': {
        const terms = format.kind === 'float' ? operands(stage, op, set) : null;
        if (format.kind === 'float' && terms) {
          const sum = terms.reduce(add);
          rounding(sum, format, format.fractionBits, stage.word, stage.rounding === 'RNE', into);
          sums(sum, terms, into);
        }
        break;
      }
      case 'sum':
      case 'special':
      case 'pass':
        break;
    }
  if (c.kind === 'finite' && c.sig !== 0 && exponents.length > 0 && c.e > Math.max(...exponents))
    into.add('c-dominant');
}

/** The exact family has no window in its trace: its terms come from the words. */
function exactSums(op: MmaOp, set: CaseSet, block: BlockTrace, into: Set<Predicate>) {
  const sum = block.stages.find((stage) => stage.stage === 'sum');
  if (block.kind !== 'exact' || !sum) return;
  const terms: Exact[] = [exactOf(decode(FORMATS[op.d], block.c))];
  for (let k = block.k0; k < block.k1; k++) {
    const x = elementAt(op.a, set.a, k);
    const y = elementAt(op.b, set.b, k);
    terms.push({ signed: BigInt(x.signed) * BigInt(y.signed), lsb: x.lsb + y.lsb });
  }
  sums(sum.value, terms, into);
}

/** The predicates that hold for case `index`. */
export function predicatesOf(whole: CaseSet, index: number): ReadonlySet<Predicate> {
  const set = sliceCases(whole, index, 1);
  const { op } = set;
  const into = new Set<Predicate>();
  let first = true;
  const { count: _, d: __, ...words } = batchOf(set);
  const word = referenceDot(op, words, (block) => {
    ofBlock(op, set, block, first ? op.c : op.d, into);
    exactSums(op, set, block, into);
    first = false;
  });
  const inputs = [
    ...Array.from({ length: set.k }, (_unused, i) => [op.a, elementAt(op.a, set.a, i)] as const),
    ...Array.from({ length: set.k }, (_unused, i) => [op.b, elementAt(op.b, set.b, i)] as const),
    [op.c, elementAt(op.c, set.c, 0)] as const,
  ];
  for (const [name, x] of inputs) {
    const format = FORMATS[name];
    if (x.kind === 'inf') into.add('inf');
    if (format.kind === 'float' && isSubnormal(format, x)) into.add('subnormal-input');
  }
  const format = FORMATS[op.d];
  if (format.kind === 'float') {
    const result = decode(format, word);
    if (isSubnormal(format, result)) into.add('subnormal-result');
    if (result.kind === 'nan') into.add('nan');
    if (result.kind === 'inf' && inputs.every(([, x]) => x.kind === 'finite')) into.add('overflow');
    if (result.kind === 'finite' && result.sig === 0 && result.negative) into.add('negative-zero');
  }
  return into;
}

/** Claims of a set that do not hold, one sentence each. An unknown predicate does not hold. */
export function unprovedClaims(set: CaseSet): string[] {
  const wrong: string[] = [];
  for (const [index, claims] of set.claims ?? []) {
    const holding = predicatesOf(set, index);
    for (const claim of claims)
      if (!(holding as ReadonlySet<string>).has(claim))
        wrong.push(
          `${set.source}: ${set.id(index)}: expected ${claim in PREDICATES ? `the claim ${claim} to hold` : `a claim of ${Object.keys(PREDICATES).join(', ')}`}, got ${claim in PREDICATES ? `${[...holding].join(', ') || 'none'}` : claim}`,
        );
  }
  return wrong;
}
