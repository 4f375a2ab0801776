/** The axes of the datapath union: for each kind its fields, the values that a fit tries, and what informs them. */
import type { Datapath, DatapathKind } from '@bitmma/core';
import { exponentsOf, floatOf, productRange, type Signature } from '../signature.js';
import { type Group, slotCount } from '../vectors/spec.js';

export type Value = number | string | boolean | null;

export interface Axis {
  /** Field of the datapath, `output.rounding` for a nested one. */
  readonly name: string;
  /** Groups of vectors made for it. */
  readonly groups: readonly Group[];
  domain(signature: Signature): readonly Value[];
}

export function fieldOf(datapath: Datapath, name: string): Value {
  let inner: unknown = datapath;
  for (const key of name.split('.')) inner = (inner as Record<string, unknown>)[key];
  return inner as Value;
}

/** The datapath with one field changed. */
export function withValue(datapath: Datapath, name: string, value: Value): Datapath {
  const [outer, inner] = name.split('.');
  if (inner === undefined) return { ...datapath, [outer]: value } as Datapath;
  const nested = (datapath as unknown as Record<string, object>)[outer];
  return { ...datapath, [outer]: { ...nested, [inner]: value } } as Datapath;
}

const range = (low: number, high: number): number[] =>
  Array.from({ length: Math.max(0, high - low + 1) }, (_, i) => low + i);

const FRACTIONS = range(1, 72);
const CUTS = ['RZ', 'RD', 'RNE'] as const;
const ROUNDINGS = ['RZ', 'RNE', 'RD', 'RU'] as const;
const FLAGS = [false, true] as const;

const axis = (name: string, groups: readonly Group[], domain: Axis['domain']): Axis => ({
  name,
  groups,
  domain,
});

/** Block lengths up to K: every one up to 16, then powers of two and K itself. */
const blocks = ({ k }: Signature): number[] =>
  range(1, k).filter((n) => n <= 16 || (n & (n - 1)) === 0 || n === k);
const powers = ({ k }: Signature): number[] => range(1, k).filter((n) => (n & (n - 1)) === 0);
const divisors = ({ k }: Signature): number[] => range(1, k).filter((n) => k % n === 0);

/** Exponents that a lower bound on a window's exponent may have: those that products or c can lie below. */
function floors(signature: Signature): readonly Value[] {
  const { emin, emax } = productRange(signature);
  const d = exponentsOf(signature.d);
  // Wide operands: about the bottom of the result. Narrow ones lie far above it: their whole range.
  const top =
    emin + 1 > d.emin + 60 ? Math.min(emax, 8) : Math.min(emax, d.emin + 60, Math.max(8, d.emin + 8));
  return [null, ...range(Math.max(emin + 1, d.bottom - 40), top)];
}

/** Powers of two that products can reach. */
function overflows(signature: Signature): readonly Value[] {
  const { below } = productRange(signature);
  return [null, ...range(1, Math.min(below, 300))];
}

const OUTPUT: readonly Axis[] = [
  axis('output.rounding', ['output', 'low', 'subnormal', 'addend'], () => ROUNDINGS),
  axis('output.precision', ['output'], ({ d }) => range(1, exponentsOf(d).fraction)),
  axis('output.underflow', ['special', 'low', 'subnormal'], () => ['positive', 'signed']),
];

/** NaN words of a format: all fraction bits, the quiet bit alone, with the lowest bit; both signs. */
function nanWords({ d }: Signature): readonly string[] {
  const { fractionBits, exponentBits, wordBits } = floatOf(d);
  const ones = ((1n << BigInt(exponentBits)) - 1n) << BigInt(fractionBits);
  const quiet = 1n << BigInt(fractionBits - 1);
  const fractions = [(1n << BigInt(fractionBits)) - 1n, quiet, quiet | 1n];
  return [0n, 1n << BigInt(wordBits - 1)].flatMap((sign) =>
    fractions.map((fraction) => (sign | ones | fraction).toString(16).padStart(wordBits / 4, '0')),
  );
}

const NAN = axis('output.nan', ['special'], nanWords);
const IEEE_OUTPUT = [OUTPUT[0]];

const WINDOW: readonly Axis[] = [
  axis('fraction', ['even', 'window', 'order'], () => FRACTIONS),
  axis('alignment', ['window', 'low', 'addend'], () => CUTS),
  axis('block', ['order', 'window'], blocks),
  axis('floor', ['low', 'subnormal'], floors),
];

const ADDITION = axis('addition', ['addend', 'output', 'subnormal'], () => ROUNDINGS);
const OVERFLOW = axis('productOverflow', ['high'], overflows);

const LATE_ADDEND: readonly Axis[] = [
  OVERFLOW,
  axis('addendRounding', ['addend', 'window', 'output'], () => CUTS),
  axis('addendFraction', ['addend', 'window'], () => FRACTIONS),
  axis('addendReach', ['addend', 'window'], () => [null, ...range(0, 60)]),
  axis('sumRounding', ['addend', 'window'], () => CUTS),
  axis('sumFraction', ['addend', 'window'], () => FRACTIONS),
  axis('normalFraction', ['addend', 'output'], () => [null, ...range(20, 60)]),
  axis('normalRounding', ['addend', 'output'], () => CUTS),
  axis('zeroAddendExponent', ['low', 'subnormal'], (signature) =>
    floors(signature).filter((v) => v !== null),
  ),
];

const FLUSH: readonly Axis[] = [
  axis('flushInputs', ['subnormal', 'low'], () => FLAGS),
  axis('flushResults', ['subnormal', 'low'], () => FLAGS),
];

const OWN: Readonly<Record<Exclude<DatapathKind, 'integer'>, readonly Axis[]>> = {
  'fused-window': [...OUTPUT, ...WINDOW, axis('zeroAddendExponent', ['low', 'subnormal'], floors), OVERFLOW],
  'late-window': [...OUTPUT, ...WINDOW, ADDITION],
  'split-window': [
    ...OUTPUT,
    ...WINDOW,
    axis('selectBit', ['order', 'window'], ({ k }) => range(0, Math.max(0, Math.ceil(Math.log2(k)) - 1))),
    ADDITION,
  ],
  exact: [...OUTPUT, axis('block', ['order'], blocks)],
  pairwise: [...IEEE_OUTPUT, axis('block', ['order'], powers), ...FLUSH],
  'cdna3-window': [...OUTPUT, ...WINDOW, ...LATE_ADDEND],
  'cdna3-odd-even': [
    ...OUTPUT,
    ...WINDOW.filter(({ name }) => name !== 'block'),
    axis('block', ['order', 'window'], (s) => blocks(s).filter((n) => n % 2 === 0)),
    axis('mergeFraction', ['window', 'order', 'addend'], () => FRACTIONS),
    axis('mergeRounding', ['window', 'order', 'addend'], () => CUTS),
    ...LATE_ADDEND,
  ],
  'sequential-fma': [...IEEE_OUTPUT, ...FLUSH],
  'scaled-window': [...OUTPUT, axis('fraction', ['window', 'scale'], () => FRACTIONS)],
  'scaled-groups': [
    ...OUTPUT,
    axis('scaleFraction', ['scale', 'group'], () => FRACTIONS),
    axis('productFraction', ['scale', 'group'], () => FRACTIONS),
    axis('dominantFraction', ['dominant'], () => FRACTIONS),
    axis('groupAddendFraction', ['group', 'scale'], () => [null, ...FRACTIONS]),
    axis('group', ['group'], divisors),
    axis('dominantGroup', ['dominant'], divisors),
    axis('leaveOut', ['bottom'], () => [null, ...range(-220, -100)]),
  ],
};

/** Every kind's axes; the NaN word last. */
export const AXES = Object.fromEntries(
  Object.entries(OWN).map(([kind, axes]) => [kind, [...axes, NAN]]),
) as unknown as typeof OWN;

/** Kinds that an op of this signature may have. */
export function kindsFor(signature: Signature): Exclude<DatapathKind, 'integer'>[] {
  if (signature.scaling !== null) return ['scaled-window', 'scaled-groups'];
  const all: Exclude<DatapathKind, 'integer'>[] = [
    'fused-window',
    'exact',
    'sequential-fma',
    'pairwise',
    'cdna3-window',
    'split-window',
    'cdna3-odd-even',
    'late-window',
  ];
  const d = exponentsOf(signature.d);
  const holds = (name: Signature['a']) => {
    const f = exponentsOf(name);
    return f.fraction <= d.fraction && f.bottom >= d.bottom && f.top <= d.top;
  };
  return all.filter((kind) => {
    if (signature.c !== signature.d) return kind === 'fused-window';
    if (kind === 'split-window') return signature.sparsity === null && signature.k > 1;
    if (kind === 'cdna3-odd-even') return signature.sparsity === null && signature.k > 1;
    if (kind === 'sequential-fma') return holds(signature.a) && holds(signature.b);
    return true;
  });
}

/** Fields that are fitted together: a change in one hides behind the others. */
export const COUPLED: readonly (readonly string[])[] = [
  ['fraction', 'alignment'],
  ['sumFraction', 'sumRounding'],
  ['normalFraction', 'normalRounding'],
  ['addendFraction', 'addendRounding'],
  ['mergeFraction', 'mergeRounding'],
  ['fraction', 'output.precision'],
  ['fraction', 'floor'],
  ['block', 'fraction'],
  ['group', 'scaleFraction'],
  ['group', 'groupAddendFraction'],
  ['scaleFraction', 'groupAddendFraction'],
  ['productFraction', 'scaleFraction'],
  ['dominantFraction', 'dominantGroup'],
  ['flushInputs', 'flushResults'],
  ['block', 'output.rounding'],
  ['output.rounding', 'addition'],
  ['sumFraction', 'normalFraction', 'normalRounding'],
  ['fraction', 'alignment', 'mergeFraction', 'mergeRounding'],
];

export const widthOf = slotCount;
