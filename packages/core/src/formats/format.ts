/** How the codes beyond the finite numbers are spent. */
export type Specials =
  /** All-ones exponent: Inf and NaN as IEEE 754 has them. */
  | 'ieee'
  /** Only all-ones exponent with all-ones fraction is NaN; no Inf (OCP e4m3, ue4m3). */
  | 'nan-only'
  /** Only the sign bit alone is NaN; no Inf, no negative zero (AMD's fnuz pair). */
  | 'fnuz'
  /** Every code is a finite number (FP6, FP4). */
  | 'none';

/** A binary floating-point format. A finite element is sig * 2^lsb; see decode.ts. */
export interface FloatFormat {
  readonly kind: 'float';
  readonly name: string;
  readonly signed: boolean;
  readonly exponentBits: number;
  readonly fractionBits: number;
  readonly bias: number;
  readonly specials: Specials;
  /** Low bits of the word cleared before anything is classified (tf32 in an fp32 container: 13). */
  readonly droppedBits: number;
  /** Bits of the word that carries one element: 8, 16, 32 or 64. */
  readonly wordBits: WordBits;
}

/** A power-of-two scale, value 2^(x - bias) for every x; all ones is NaN. No zero, no sign. */
export interface ExponentFormat {
  readonly kind: 'exponent';
  readonly name: string;
  readonly bias: number;
  readonly wordBits: 8;
}

/** A two's complement or unsigned integer. */
export interface IntegerFormat {
  readonly kind: 'integer';
  readonly name: string;
  readonly signed: boolean;
  readonly wordBits: 8 | 32;
}

export type WordBits = 8 | 16 | 32 | 64;
export type Format = FloatFormat | ExponentFormat | IntegerFormat;
