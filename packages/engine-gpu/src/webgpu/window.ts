import type { FormatName } from '@bitmma/core';
import { type Rows, termLoop } from './step.js';
import { CODE_BIAS, floatFormat, NAN_CODE, NONZERO_SUM, SIGNIFICAND_BITS } from './wgsl/decode.js';

export type Alignment = 'RZ' | 'RD' | 'RNE';

/**
 * How the products of a window are summed. A product lies below 4 * 2^e, so a term cut to 2^(E - F) lies below
 * 2^(F + 2). `narrow`: significands are stored times 2^(F - wa - wb), the term is one i32 shifted right, and at most
 * `chunk` terms are added in i32 before they go to two limbs. Otherwise every term is shifted in two limbs.
 */
export interface WindowPlan {
  readonly fraction: number;
  readonly narrow: boolean;
  readonly prescaleA: number;
  readonly prescaleB: number;
  /** Extra right shift where F is below the products' own fraction bits. */
  readonly extra: number;
  readonly chunk: number;
}

export function planWindow(a: FormatName, b: FormatName, fraction: number): WindowPlan {
  const wa = floatFormat(a)?.fractionBits ?? 0;
  const wb = floatFormat(b)?.fractionBits ?? 0;
  const up = Math.max(0, fraction - wa - wb);
  const roomA = SIGNIFICAND_BITS - (wa + 1);
  const roomB = SIGNIFICAND_BITS - (wb + 1);
  const narrow = up <= roomA + roomB && fraction + 2 <= 28;
  const prescaleA = narrow ? Math.min(up, roomA) : 0;
  return {
    fraction,
    narrow,
    prescaleA,
    prescaleB: narrow ? up - prescaleA : 0,
    extra: Math.max(0, wa + wb - fraction),
    chunk: narrow ? 2 ** (31 - (fraction + 2)) : 1,
  };
}

/** Bits of a window's signed sum of `terms` products and one addend; two limbs hold 63. */
export const windowBits = (fraction: number, terms: number): number =>
  fraction + 2 + Math.ceil(Math.log2(terms + 1)) + 1;

/**
 * Whether a sum and its addend fit one limb: N products below 2^(F + 2) in an i32, and with an addend below 2^(F + 1)
 * a magnitude below 2^32.
 */
export const fitsSingle = (plan: WindowPlan, alignment: Alignment, terms: number): boolean =>
  plan.narrow && alignment === 'RZ' && terms <= plan.chunk && (4 * terms + 2) * 2 ** plan.fraction <= 2 ** 32;

const CUT: Readonly<Record<Alignment, (t: string, d: string) => string>> = {
  RZ: (t, d) => `let m = vec4i(vec4u(abs(${t})) >> ${d}); let cut = select(m, -m, ${t} < vec4i(0));`,
  RD: (t, d) => `let cut = ${t} >> ${d};`,
  // Half up from the floor, then back down by one for a tie that landed on an odd number.
  RNE: (t, d) => `let low = (vec4u(1u) << ${d}) - vec4u(1u);
    let rest = vec4u(${t}) & low;
    let half = (low >> vec4u(1u)) + vec4u(1u);
    let odd = vec4u(${t} >> ${d}) & vec4u(1u);
    let up = (${d} > vec4u(0u)) & ((rest > half) | ((rest == half) & (odd == vec4u(1u))));
    let cut = (${t} >> ${d}) + select(vec4i(0), vec4i(1), up);`,
};

const largest = (rows: Rows, name: string): string =>
  rows.indices.map((i) => `${name}${i}`).reduce((all, one) => `max(${all}, ${one})`);

/** `found`, one value a row, from one call in a loop: a rare path is compiled once. */
const rareRows = (rows: Rows, type: string, call: (row: string) => string): string =>
  rows.indices.length === 1
    ? `var found: array<${type}, 1>; found[0] = ${call(rows.row(rows.indices[0]))};`
    : `var found: array<${type}, ${rows.indices.length}>;
      for (var i = 0u; i < ${rows.indices.length}u; i++) { found[i] = ${call('i')}; }`;

/** Pass 1: p_i, the largest code sum of the products, and x_i, their classes (0 where all are finite). */
export function exponentPass(rows: Rows, terms: number, part: string): string {
  const each = (make: (i: number) => string): string => rows.indices.map(make).join('\n    ');
  return `${each((i) => `var p${i} = vec4u(0u); var x${i} = vec4u(0u);`)}
    ${termLoop(
      '0u',
      `${terms}u`,
      part,
      each((i) => `p${i} = max(p${i}, ${rows.a(i)} + vb);`),
    )}
    ${each((i) => `p${i} = p${i} >> vec4u(16u);`)}
    if (any(${largest(rows, 'p')} >= vec4u(${NAN_CODE}u))) {
      ${rareRows(rows, 'Special', (row) => `special(base, 0u, ${terms}u, ${part}, ${row})`)}
      ${rows.indices.map((i, at) => `p${i} = found[${at}].sum; x${i} = found[${at}].classes;`).join('\n      ')}
    }`;
}

/**
 * Pass 2: l_i, h_i, the limbs of the signed sum of the products cut to 2^(w_i - 2 * CODE_BIAS - F), w_i the window's
 * exponent as a code sum, at least every p_i of a nonzero product. A product of zero has a small code sum, so a long
 * shift, and a significand of zero. A cut of more than 31 bits is one of 31: terms have at most 30. `single`: the sum
 * stays in s_i, an i32.
 */
export function sumPass(
  rows: Rows,
  plan: WindowPlan,
  alignment: Alignment,
  terms: number,
  part: string,
  single = false,
): string {
  const each = (make: (i: number) => string): string => rows.indices.map(make).join('\n    ');
  const signed = (v: string): string => `(vec4i(${v} << vec4u(17u)) >> vec4u(17u))`;
  const start = each((i) => `var l${i} = vec4u(0u); var h${i} = vec4u(0u);`);
  if (!plan.narrow) {
    return `${start}
    ${termLoop(
      '0u',
      `${terms}u`,
      part,
      `let sb = ${signed('vb')};
    ${each(
      (i) => `{
      let t = ${signed(rows.a(i))} * sb;
      let d = vec4i(w${i}) - vec4i((${rows.a(i)} + vb) >> vec4u(16u));
      for (var lane = 0u; lane < 4u; lane++) {
        let s = add64(vec2u(l${i}[lane], h${i}[lane]), wideTerm(t[lane], d[lane]));
        l${i}[lane] = s.x; h${i}[lane] = s.y;
      }
    }`,
    )}`,
    )}`;
  }
  const flush = each(
    (i) => `{ let low = l${i} + vec4u(s${i});
      h${i} += vec4u(s${i} >> vec4u(31u)) + select(vec4u(0u), vec4u(1u), low < l${i});
      l${i} = low; s${i} = vec4i(0); }`,
  );
  const body = (first: string, last: string): string =>
    termLoop(
      first,
      last,
      part,
      `let sb = ${signed('vb')};
    ${each(
      (i) => `{
      let t = ${signed(rows.a(i))} * sb;
      let d = min((e${i} - (${rows.a(i)} + vb)) >> vec4u(16u), vec4u(31u));
      ${CUT[alignment]('t', 'd')}
      s${i} += cut;
    }`,
    )}`,
    );
  const sums = each(
    (i) =>
      `var s${i} = vec4i(0); let e${i} = ((w${i} + vec4u(${plan.extra}u)) << vec4u(16u)) | vec4u(0xffffu);`,
  );
  if (single) return `${sums}\n    ${body('0u', `${terms}u`)}`;
  const chunks =
    terms <= plan.chunk
      ? `${body('0u', `${terms}u`)}\n    ${flush}`
      : `for (var first = 0u; first < ${terms}u; first += ${plan.chunk}u) {
      ${body('first', `min(first + ${plan.chunk}u, ${terms}u)`)}
      ${flush}
    }`;
  return `${start}
    ${sums}
    ${chunks}`;
}

/** `wideTerm(t, d)`: the product t * 2^-(wa + wb) lying d below the window, in units of the quantum, two limbs. */
export function wideTermFunction(a: FormatName, b: FormatName, fraction: number): string {
  const own = (floatFormat(a)?.fractionBits ?? 0) + (floatFormat(b)?.fractionBits ?? 0);
  return `fn wideTerm(t: i32, d: i32) -> vec2u {
  if (t == 0) { return vec2u(0u, 0u); }
  return alignTerm(extend64(t), ${fraction - own} - d);
}
`;
}

/**
 * Products of at least 2^limit in magnitude: classes 8 (positive) and 16 (negative), which count only where section 3
 * found nothing. A product reaches 2^limit only with an exponent of at least limit - 1.
 */
export function overflowSource(
  limit: number | null,
  a: FormatName,
  b: FormatName,
  plan: WindowPlan,
  terms: number,
) {
  const own = (floatFormat(a)?.fractionBits ?? 0) + (floatFormat(b)?.fractionBits ?? 0);
  const unit = own + plan.prescaleA + plan.prescaleB + 2 * CODE_BIAS;
  if (limit === null) return { functions: '', check: (): string => '' };
  const threshold = 2 * CODE_BIAS + limit - 1;
  return {
    functions: `fn overflow(base: u32, part: u32, row: u32) -> vec4u {
  var classes = vec4u(0u);
  ${termLoop(
    '0u',
    `${terms}u`,
    'part',
    `let a = rowOf(va, row);
    let t = (vec4i(a << vec4u(17u)) >> vec4u(17u)) * (vec4i(vb << vec4u(17u)) >> vec4u(17u));
    let sum = (a >> vec4u(16u)) + (vb >> vec4u(16u));
    let lead = vec4i(31) - vec4i(countLeadingZeros(vec4u(abs(t)) | vec4u(1u)));
    let over = (t != vec4i(0)) & (sum < vec4u(${NAN_CODE}u)) & (lead + vec4i(sum) - vec4i(${unit}) >= vec4i(${limit}));
    classes |= select(vec4u(0u), select(vec4u(8u), vec4u(16u), t < vec4i(0)), over);`,
  )}
  return classes;
}
`,
    check: (rows: Rows, part: string): string =>
      `if (any(${largest(rows, 'p')} >= vec4u(${Math.max(threshold, NONZERO_SUM)}u))) {
      ${rareRows(rows, 'vec4u', (row) => `overflow(base, ${part}, ${row})`)}
      ${rows.indices.map((i, at) => `x${i} |= found[${at}];`).join('\n      ')}
    }`,
  };
}

/** acc_i = call(i), a rowFunction's. */
export const finishRows = (rows: Rows, call: (i: number) => string): string =>
  rows.indices.map((i) => `acc${i} = ${call(i)};`).join('\n    ');
