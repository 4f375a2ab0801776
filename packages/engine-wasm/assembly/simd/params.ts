// What the SIMD kernels take beyond params.ts; set by the host (src/simd-plan.ts).

/** Byte codes: product code = e + codeBias, at least 128; zero operands give less. 16-bit codes: 0. */
export let codeBias: i32 = 0;
/**
 * Lowest window exponent E: where 2^(F-E) and 2^(E-F) are normal fp32 numbers and a window's sum is no subnormal, or the
 * op's floor where that is higher.
 */
export let lowestExponent: i32 = 0;
/** Positions whose products one i32 accumulator holds (host: src/simd-plan.ts proves it). */
export let accumulated: i32 = 0;
/** Positions between two late additions of c. */
export let lateSpan: i32 = 0;
/** 1: the output is fp16 rounded RNE; 0: fp32 rounded RZ to `precision`. */
export let halfOutput: i32 = 0;
/** Bits of the 16 columns that count; the slow paths leave the others alone. */
export let lanes: i32 = 0;
export function setLanes(mask: i32): void {
  lanes = mask;
}
/** Block steps of one output that left the range of 16-bit codes and took the integer path. */
export let rangeSteps: i32 = 0;
export function countRangeStep(): void {
  rangeSteps++;
}
