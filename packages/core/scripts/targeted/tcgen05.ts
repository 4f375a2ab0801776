/** The probe ladder and special values of the B200 study, for every format that it names. */

import type { VectorRecord } from '../../src/conformance/vector.js';
import type { MmaOp } from '../../src/datapath/op.js';
import type { FormatName } from '../../src/formats/table.js';
import {
  type Case,
  type Dyadic,
  encodable,
  NVIDIA_NAN,
  neg,
  ONE,
  op,
  type Product,
  SIGNS,
  signed,
  signName,
  sum,
  type TargetedFile,
  two,
  vector,
  ZERO,
} from './dsl.js';

const SOURCE = "Reverse-Engineering the B200's Tensor Core, One Bit at a Time";

const dense: readonly (readonly [string, string])[] = [
  ['tf32', 'tcgen05.mma.kind::tf32.f32.tf32.tf32'],
  ['bf16', 'tcgen05.mma.kind::f16.f32.bf16.bf16'],
  ['fp16', 'tcgen05.mma.kind::f16.f32.f16.f16'],
  ...['e4m3', 'e5m2', 'e2m3', 'e3m2', 'e2m1'].map(
    (type) => [type, `tcgen05.mma.kind::f8f6f4.f32.${type}.${type}`] as const,
  ),
];

const named = (target: MmaOp, cases: readonly Case[]): VectorRecord[] =>
  cases
    .filter((given) => encodable(target, given))
    .map((given) => vector(target, { ...given, id: `${given.id}-${target.instruction}` }));

/** Position independence: one lane at a time, and c alone. */
function positions(target: MmaOp): Case[] {
  const cases: Case[] = [];
  for (let i = 1; i <= target.k; i++)
    cases.push({
      id: `lane-${i}`,
      p: { [i]: { a: ONE, b: ONE } },
      d: ONE,
      note: 'Position independence: every lane alone contributes exactly 1',
    });
  cases.push({ id: 'c-only', c: ONE, d: ONE, note: 'Position independence: c alone' });
  return cases;
}

/** Input truncation near 1, bit by bit, for containers wider than what the multiplier keeps. */
function truncation(target: MmaOp): Case[] {
  if (target.a !== 'tf32') return [];
  const cases: Case[] = [];
  for (const side of ['a', 'b'] as const)
    for (let bit = 0; bit < 23; bit++) {
      const word = { word: (0x3f800000 + 2 ** bit).toString(16) };
      cases.push({
        id: `input-bit-${bit}-of-${side}`,
        p: { 1: side === 'a' ? { a: word, b: ONE } : { a: ONE, b: word } },
        d: bit < 13 ? ONE : sum(ONE, two(bit - 23)),
        note: `Input truncation: bit ${bit} ${bit < 13 ? 'changes nothing' : 'moves the result'}`,
      });
    }
  return cases;
}

/** Visible and internal precision; the three terms over c and the products. */
function precision(): Case[] {
  const cases: Case[] = [];
  for (let e = 1; e <= 24; e++) {
    const d = e <= 23 ? sum(ONE, two(-e)) : ONE;
    const note = `Visible precision: 1 + 2^-${e} ${e <= 23 ? 'is seen' : 'vanishes'}`;
    cases.push({ id: `visible-2^-${e}-product`, p: { 1: ONE, 2: two(-e) }, d, note });
    cases.push({ id: `visible-2^-${e}-c`, p: { 1: ONE }, c: two(-e), d, note });
  }
  for (let e = 1; e <= 26; e++) {
    const d = e <= 25 ? two(-e) : ZERO;
    const note = `Internal precision: -1 + 1 + 2^-${e} ${e <= 25 ? 'is exact' : 'vanishes'}`;
    cases.push({ id: `internal-2^-${e}-product`, p: { 1: neg(ONE), 2: ONE, 3: two(-e) }, d, note });
    cases.push({ id: `internal-2^-${e}-c`, p: { 1: neg(ONE), 2: ONE }, c: two(-e), d, note });
    cases.push({ id: `internal-2^-${e}-one-in-c`, p: { 1: neg(ONE), 2: two(-e) }, c: ONE, d, note });
  }
  const ulps: readonly (readonly [string, Dyadic])[] = [
    ['0.25', two(-25)],
    ['0.5', two(-24)],
    ['0.75', sum(two(-24), two(-25))],
  ];
  for (const [text, part] of ulps)
    for (const s of SIGNS)
      cases.push({
        id: `fraction-of-ulp-${text}-${signName(s)}`,
        p: { 1: signed(s, part) },
        c: signed(s, ONE),
        d: signed(s, ONE),
        note: `Fractional ulp about c: ${text} ulp is cut, nothing rounds to nearest`,
        claims: ['inexact', 'c-dominant'],
      });
  return cases;
}

/** Special values, from observation. */
function specials(target: MmaOp): Case[] {
  const cases: Case[] = [
    { id: 'zeros', d: ZERO, note: 'Special values: zero is +0' },
    { id: 'negative-zero-c', c: { word: '80000000' }, d: ZERO, note: 'Special values: zero is made +0' },
    { id: 'nan-c', c: 'nan', d: NVIDIA_NAN, note: 'Special values: NaN is 7fffffff' },
    {
      id: 'nan-c-payload',
      c: { word: 'ff800001' },
      d: NVIDIA_NAN,
      note: 'Special values: NaN is 7fffffff whatever its sign and payload',
    },
    { id: 'inf-c', c: 'inf', d: 'inf', note: 'Special values: infinity in c' },
    {
      id: 'cancels',
      p: { 1: ONE, 2: neg(ONE) },
      d: ZERO,
      note: 'Special values: a sum of zero is +0',
    },
    {
      id: 'cancels-from-negative',
      p: { 1: neg(ONE) },
      c: ONE,
      d: ZERO,
      note: 'Special values: a sum of zero is +0',
    },
  ];
  const hasInf = ['tf32', 'bf16', 'fp16', 'e5m2'].includes(target.a);
  const hasNan = hasInf || target.a === 'e4m3';
  if (hasNan)
    cases.push(
      { id: 'nan-a', p: { 1: { a: 'nan', b: ONE } }, d: NVIDIA_NAN, note: 'Special values: NaN is 7fffffff' },
      {
        id: 'nan-b-times-zero',
        p: { 1: { a: ZERO, b: 'nan' } },
        d: NVIDIA_NAN,
        note: 'Special values: NaN times zero',
      },
    );
  if (hasInf)
    cases.push(
      {
        id: 'inf-times-zero',
        p: { 1: { a: 'inf', b: ZERO } },
        d: NVIDIA_NAN,
        note: 'Special values: Inf * 0 is NaN',
      },
      { id: 'inf-pos', p: { 1: { a: 'inf', b: ONE } }, d: 'inf', note: 'Special values: infinity' },
      { id: 'inf-neg', p: { 1: { a: 'inf', b: neg(ONE) } }, d: '-inf', note: 'Special values: infinity' },
      {
        id: 'inf-both-signs',
        p: { 1: { a: 'inf', b: ONE }, 2: { a: '-inf', b: ONE } },
        d: NVIDIA_NAN,
        note: 'Special values: infinities of both signs give NaN',
      },
      {
        id: 'inf-and-opposite-c',
        p: { 1: { a: 'inf', b: ONE } },
        c: '-inf',
        d: NVIDIA_NAN,
        note: 'Special values: infinities of both signs give NaN',
      },
    );
  for (const s of SIGNS)
    cases.push({
      id: `underflow-${signName(s)}`,
      p: { 1: signed(s, two(-150)) },
      d: ZERO,
      note: 'Special values: finite underflow is +0',
      claims: ['inexact'],
    });
  if (target.a === 'tf32')
    for (const [sign, inf] of [
      ['7f', 'inf'],
      ['ff', '-inf'],
    ] as const)
      for (const low of ['800001', '801fff', '801000'])
        cases.push({
          id: `nan-payload-in-dropped-bits-${sign}${low}`,
          p: { 1: { a: { word: `${sign}${low}` }, b: ONE } },
          d: inf,
          note: 'Special values: inputs are cut before they are classified',
        });
  return cases;
}

const denseFiles: readonly TargetedFile[] = dense.map(([name, instruction]) => {
  const target = op('b200', instruction);
  return {
    path: `blackwell/tcgen05-${name}.jsonl`,
    source: `${SOURCE}: the probe ladder and special values`,
    vectors: named(target, [
      ...positions(target),
      ...truncation(target),
      ...precision(),
      ...specials(target),
    ]),
  };
});

/** kind::i8: exact sums that wrap or clamp. */
function integer(): VectorRecord[] {
  const lines: VectorRecord[] = [];
  const word = (hex: string) => ({ word: hex });
  for (const a of ['u8', 's8'] as const)
    for (const b of ['u8', 's8'] as const)
      for (const saturate of [false, true]) {
        const target = op('b200', `tcgen05.mma.kind::i8.s32.${a}.${b}${saturate ? '.satfinite' : ''}`);
        const read = (format: FormatName) => (format === 'u8' ? 255 : -1);
        const int = (n: number): Dyadic => ({ n: BigInt(n), e: 0 });
        const full: Product = { a: word('ff'), b: word('ff') };
        const product = read(a) * read(b);
        const all = Object.fromEntries(Array.from({ length: 32 }, (_, i) => [i + 1, full]));
        lines.push(
          ...named(target, [
            {
              id: 'signedness',
              p: { 1: full },
              d: int(product),
              note: 'Integer: operands are signed or unsigned as the descriptor says',
            },
            {
              id: 'exact-sum',
              p: all,
              c: int(-7),
              d: int(32 * product - 7),
              note: 'Integer: exact sum, no window',
            },
            {
              id: 'beyond-maximum',
              p: { 1: { a: int(1), b: int(1) } },
              c: word('7fffffff'),
              d: word(saturate ? '7fffffff' : '80000000'),
              note: `Integer: the sum ${saturate ? 'is clamped' : 'wraps'}`,
            },
            {
              id: 'back-below-maximum',
              p: {
                1: { a: int(1), b: int(1) },
                2: {
                  a: word(a === 's8' ? 'ff' : '01'),
                  b: word(a === 's8' ? '01' : b === 's8' ? 'ff' : '00'),
                },
              },
              c: word('7fffffff'),
              d: word(a === 's8' || b === 's8' ? '7fffffff' : saturate ? '7fffffff' : '80000000'),
              note: 'Integer: only the whole sum is clamped or wrapped',
            },
            ...(a === 's8' || b === 's8'
              ? [
                  {
                    id: 'beyond-minimum',
                    p: { 1: { a: word(a === 's8' ? 'ff' : '01'), b: word(a === 's8' ? '01' : 'ff') } },
                    c: word('80000000'),
                    d: word(saturate ? '80000000' : '7fffffff'),
                    note: `Integer: the sum ${saturate ? 'is clamped' : 'wraps'}`,
                  },
                ]
              : []),
          ]),
        );
      }
  return lines;
}

/** Mixed formats with fp16 output: rounded to nearest even. */
function mixed(): VectorRecord[] {
  const cases: Case[] = SIGNS.flatMap((s): Case[] => [
    {
      id: `f16-output-tie-to-even-${signName(s)}`,
      p: { 1: signed(s, two(1)), 2: signed(s, two(-10)) },
      d: signed(s, two(1)),
      note: 'Mixed formats: fp16 output rounds to nearest even; half an ulp above an even neighbour goes back',
    },
    {
      id: `f16-output-tie-to-odd-${signName(s)}`,
      p: { 1: signed(s, two(1)), 2: signed(s, two(-9)), 3: signed(s, two(-10)) },
      d: signed(s, sum(two(1), two(-8))),
      note: 'Mixed formats: fp16 output rounds to nearest even; half an ulp above an odd neighbour goes on',
    },
  ]);
  return [
    ['e4m3', 'e2m1'],
    ['e2m1', 'e4m3'],
  ].flatMap(([a, b]) => [
    ...named(op('b200', `tcgen05.mma.kind::f8f6f4.f16.${a}.${b}`), cases),
    ...named(op('b200', `tcgen05.mma.kind::f8f6f4.f32.${a}.${b}`), [
      {
        id: 'f32-output-kept',
        p: { 1: two(1), 2: two(-10) },
        d: sum(two(1), two(-10)),
        note: 'Mixed formats: the same operands with fp32 output',
      },
    ]),
  ]);
}

/** Sparse: a disabled lane takes no part, whatever it holds. */
function sparse(): VectorRecord[] {
  const forms: readonly (readonly [string, FormatName, string, number, readonly number[]])[] = [
    ['tf32.f32.tf32.tf32', 'tf32', '44444444', 2, [0]],
    ['tf32.f32.tf32.tf32', 'tf32', 'eeeeeeee', 2, [1]],
    ['f16.f32.bf16.bf16', 'bf16', '44444444', 4, [0, 1]],
    ['f16.f32.f16.f16', 'fp16', 'eeeeeeee', 4, [2, 3]],
    ['f8f6f4.f32.e4m3.e4m3', 'e4m3', '99999999', 4, [1, 2]],
    ['f8f6f4.f32.e5m2.e5m2', 'e5m2', 'cccccccc', 4, [0, 3]],
  ];
  return forms.flatMap(([kind, format, metadata, chunk, active]) => {
    const target = op('b200', `tcgen05.mma.sp.kind::${kind}`);
    const isActive = (i: number) => active.includes((i - 1) % chunk);
    const words = Math.ceil(target.k / (8 * chunk));
    const lanes = (fill: (i: number) => Product): Record<number, Product> =>
      Object.fromEntries(Array.from({ length: target.k }, (_, j) => [j + 1, fill(j + 1)]));
    const disabled: Product = { a: 'nan', b: format === 'e4m3' ? 'nan' : 'inf' };
    return named(target, [
      {
        id: `disabled-nan-${metadata}`,
        p: lanes((i) => (isActive(i) ? { a: ONE, b: ONE } : disabled)),
        d: { n: BigInt((target.k / chunk) * active.length), e: 0 },
        sparse: Array(words).fill(metadata),
        note: 'Sparse: disabled positions are removed before special values are classified',
      },
      {
        id: `active-nan-${metadata}`,
        p: lanes((i) => (isActive(i) ? { a: i <= chunk ? 'nan' : ONE, b: ONE } : { a: ONE, b: ONE })),
        d: NVIDIA_NAN,
        sparse: Array(words).fill(metadata),
        note: 'Sparse: an active NaN is a NaN',
      },
    ]);
  });
}

export const tcgen05: readonly TargetedFile[] = [
  ...denseFiles,
  { path: 'blackwell/tcgen05-integer.jsonl', source: `${SOURCE}: integer`, vectors: integer() },
  { path: 'blackwell/tcgen05-mixed.jsonl', source: `${SOURCE}: mixed formats`, vectors: mixed() },
  { path: 'blackwell/tcgen05-sparse.jsonl', source: `${SOURCE}: sparse`, vectors: sparse() },
];

export { SOURCE };
