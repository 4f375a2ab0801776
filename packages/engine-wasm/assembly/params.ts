// The op as plain integers; the host sets every one of them before a call (src/configure.ts).

/** Positions of one instruction and of one block step. */
export let instruction: i32 = 0;
export let block: i32 = 0;
/** F, and the lowest exponent that the window may have; NONE: no floor. */
export let fraction: i32 = 0;
export let floor: i32 = 0;
/** Rounding codes: 0 RZ, 1 RNE, 2 RD, 3 RU. */
export let alignment: i32 = 0;
export let addition: i32 = 0;
/** Exponent of c = 0; a product with |p| >= 2^this is infinite. NONE: no such rule. */
export let zeroAddendExponent: i32 = 0;
export let productOverflow: i32 = 0;
/** 1: every window sum of the op fits 62 bits (host: src/narrow.ts); 0: limbs. */
export let narrow: i32 = 0;

export let addendFraction: i32 = 0;
export let addendRounding: i32 = 0;
export let addendReach: i32 = 0;
export let sumFraction: i32 = 0;
export let sumRounding: i32 = 0;
export let normalFraction: i32 = 0;
export let normalRounding: i32 = 0;
export let mergeFraction: i32 = 0;
export let mergeRounding: i32 = 0;
/** split-window: positions of the first half of an instruction; the host orders the halves one after the other. */
export let firstHalf: i32 = 0;

export let group: i32 = 0;
export let dominantGroup: i32 = 0;
export let dominantFraction: i32 = 0;
export let productFraction: i32 = 0;
export let scaleFraction: i32 = 0;
export let groupAddendFraction: i32 = 0;
export let leaveOut: i32 = 0;
/** scaled-groups: largest difference of two product exponents in a group. */
export let groupSpread: i32 = 0;
/** Positions that share a scale. */
export let scaleBlock: i32 = 0;

export let flushInputs: i32 = 0;
export let flushResults: i32 = 0;
export let saturate: i32 = 0;

/** Fraction bits of a product: lsb = e - productBits. */
export let productBits: i32 = 0;

/** Output format, its precision p and conversion. */
export let outExponentBits: i32 = 0;
export let outFractionBits: i32 = 0;
export let precision: i32 = 0;
export let rounding: i32 = 0;
export let signedUnderflow: i32 = 0;
export let nan: u64 = 0;

/** Host's null. */
export const NONE: i32 = -0x40000000;

export const RZ: i32 = 0;
export const RNE: i32 = 1;
export const RD: i32 = 2;
export const RU: i32 = 3;

/** The SIMD kernels' slow path hands fp32 values to the integer path. */
export function setProductBits(bits: i32): void {
  productBits = bits;
}
