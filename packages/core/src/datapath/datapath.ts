/**
 * The datapath union: how one block step turns N products and an addend c into d.
 *
 * Each member is plain data, complete in itself: an engine is a function of (op, words). The rule of a
 * member is stated here in the terms of the numerics page; `src/reference/<kind>.ts` computes it.
 *
 * Terms. An element is (sig, lsb, e): value sig * 2^lsb, e its encoded exponent max(x - bias, emin).
 * A product is (sigA*sigB, lsbA+lsbB, eA+eB), never renormalised. A quantum 2^q is the unit that an
 * alignment keeps. `q = E - F` keeps F fraction bits below exponent E.
 */
export type Rounding = 'RZ' | 'RNE' | 'RD' | 'RU';

/** The conversion that ends a block step; its word is the accumulator of the next step. */
export interface Output {
  readonly format: 'fp16' | 'fp32' | 'fp64';
  readonly rounding: Rounding;
  /** Fraction bits kept below the leading bit; the format's own (10, 23, 52) or fewer. */
  readonly precision: number;
  /** A nonzero magnitude that rounds to zero: +0 ('positive', NVIDIA) or zero of its sign ('signed', AMD). */
  readonly underflow: 'positive' | 'signed';
  /** The word of every NaN result, hex digits of the format's width. */
  readonly nan: string;
}

/** One alignment window: products kept to `fraction` bits below the largest exponent. */
export interface Window {
  /** N: product terms of one block step. An instruction with K < N has a block of K. */
  readonly block: number;
  /** F: fraction bits kept below the window's exponent E. */
  readonly fraction: number;
  /** E is never below this exponent; null: no floor. */
  readonly floor: number | null;
  /** How a term is cut to the quantum: toward zero on every known device. */
  readonly alignment: 'RZ' | 'RD' | 'RNE';
}

/**
 * NVIDIA. Terms: the nonzero products, and c unless zero. E = max e, raised to floor;
 * S = sum of every term aligned to 2^(E-F); d = round(S). No terms: +0.
 * `zeroAddendExponent`: exponent that a zero c contributes to E; null: none (every known device).
 * `productOverflow`: a product with |p| >= 2^this is Inf of its sign; null: products never overflow.
 */
export interface FusedWindow extends Window {
  readonly kind: 'fused-window';
  readonly zeroAddendExponent: number | null;
  readonly productOverflow: number | null;
  readonly output: Output;
}

/** s = fused window of the products alone, rounded by `output`; d = s + c as one IEEE addition, `addition`. */
export interface LateWindow extends Window {
  readonly kind: 'late-window';
  readonly output: Output;
  readonly addition: Rounding;
}

/**
 * NVIDIA FP8 mma.sync on sm_90 and sm_100 (numerics section 7): k with bit `selectBit` clear form the first
 * fused-window step from +0, k with it set the second, whose c is the first result; the instruction's own c
 * is added last as one IEEE addition. `block` counts the terms of one half's step.
 */
export interface SplitWindow extends Window {
  readonly kind: 'split-window';
  readonly selectBit: number;
  readonly output: Output;
  readonly addition: Rounding;
}

/** AMD CDNA1 fp16, bf16: d = round(exact sum of products and c). */
export interface Exact {
  readonly kind: 'exact';
  readonly block: number;
  readonly output: Output;
}

/**
 * AMD CDNA2 fp16, bf16. Each product rounded to the output format, summed as a balanced binary tree, then
 * c + tree; every operation rounds by `output.rounding` in IEEE arithmetic. `flushInputs`: subnormal a, b, c become zero of
 * their sign before anything else; `flushResults`: so does every subnormal result.
 */
export interface Pairwise {
  readonly kind: 'pairwise';
  /** A power of two. */
  readonly block: number;
  readonly flushInputs: boolean;
  readonly flushResults: boolean;
  readonly output: Output;
}

/**
 * How CDNA3 adds c to the sum S of the products, whose window has exponent E (numerics 4.5).
 * e_c < = E: A = S + c cut to 2^(E - addendFraction) by `addendRounding`.
 * e_c > E or no product: S cut to 2^(e_c - sumFraction) by `sumRounding`; A = that + c; normalised (leading
 * exponent n, at least -126), then cut to 2^(n - normalFraction) by `normalRounding`.
 */
export interface LateAddend {
  /** Exponent of c = 0. */
  readonly zeroAddendExponent: number;
  /** A product with |p| >= 2^this is Inf of its sign; null: products never overflow. */
  readonly productOverflow: number | null;
  readonly addendFraction: number;
  readonly addendRounding: 'RZ' | 'RD' | 'RNE';
  /** c is left out where E - e_c exceeds this; null: never. */
  readonly addendReach: number | null;
  readonly sumFraction: number;
  readonly sumRounding: 'RZ' | 'RD' | 'RNE';
  /** null: no cut after normalisation. */
  readonly normalFraction: number | null;
  readonly normalRounding: 'RZ' | 'RD' | 'RNE';
}

/** AMD CDNA3 fp16, bf16, xf32 (numerics 4.5). `floor` bounds the products' exponent from below. */
export interface Cdna3Window extends Window, LateAddend {
  readonly kind: 'cdna3-window';
  readonly output: Output;
}

/**
 * AMD CDNA3 FP8 (numerics 4.6): even- and odd-indexed products form two windows, each with its own exponent;
 * both sums are cut to 2^(max - mergeFraction) by `mergeRounding` and added; then c as LateAddend says.
 */
export interface Cdna3OddEven extends Window, LateAddend {
  readonly kind: 'cdna3-odd-even';
  readonly mergeFraction: number;
  readonly mergeRounding: 'RZ' | 'RD' | 'RNE';
  readonly output: Output;
}

/** One IEEE fused multiply-add per term, in order; format and rounding of `output`. */
export interface SequentialFma {
  readonly kind: 'sequential-fma';
  readonly flushInputs: boolean;
  readonly flushResults: boolean;
  readonly output: Output;
}

/** Exact sum over integers; s32 result, wrapped modulo 2^32 or clamped once at the instruction's end. */
export interface IntegerSum {
  readonly kind: 'integer';
  readonly overflow: 'wrap' | 'saturate';
}

/**
 * tcgen05 mxf8f6f4 (numerics section 6): a product is a*b*scaleA*scaleB. q = max(R, e_c) - fraction, every
 * product and c cut to 2^q toward zero. Every product zero: d is c's own word.
 */
export interface ScaledWindow {
  readonly kind: 'scaled-window';
  readonly fraction: number;
  readonly output: Output;
}

/**
 * tcgen05 mxf4, mxf4nvf4 (numerics section 6). R = max e of nonzero products, S = max scale exponent over them.
 * c nonzero and e_c >= R: q = e_c - dominantFraction; exact sums of `dominantGroup` products, cut to 2^q; plus c.
 * Else q = max(max(R, e_c) - productFraction, S - scaleFraction); exact sums of `group` products cut to 2^q,
 * plus c cut. `groupAddendFraction`: a group whose own largest product exponent is not above e_c is cut to
 * 2^max(q, e_c - this); null: no such rule.
 * `leaveOut`: c = 0, q < this and a nonzero subnormal result: groups whose scale exponent is below S and whose
 * cut sum is smaller than 2^this are left out, and the sum converted again; null: no such rule.
 * All cuts toward zero. Every product zero: d is c's own word.
 */
export interface ScaledGroups {
  readonly kind: 'scaled-groups';
  /** Consecutive products (logical k positions) summed exactly before the cut. */
  readonly group: number;
  readonly dominantGroup: number;
  readonly dominantFraction: number;
  readonly productFraction: number;
  readonly scaleFraction: number;
  readonly groupAddendFraction: number | null;
  readonly leaveOut: number | null;
  readonly output: Output;
}

export type Datapath =
  | FusedWindow
  | LateWindow
  | SplitWindow
  | Exact
  | Pairwise
  | Cdna3Window
  | Cdna3OddEven
  | SequentialFma
  | IntegerSum
  | ScaledWindow
  | ScaledGroups;

export type DatapathKind = Datapath['kind'];
