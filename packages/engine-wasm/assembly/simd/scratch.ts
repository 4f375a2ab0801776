// One block of 16 columns between its phases: 16 lanes of 4 bytes each.

/** Window exponents E as product codes. */
export const EXPONENTS: usize = memory.data(64, 16);
/** 2^(F-E) in fp32. */
export const SCALES: usize = memory.data(64, 16);
/** Sums of one or two runs of products. */
export const SUMS: usize = memory.data(128, 16);
/** c of the step. */
export const CARRIED: usize = memory.data(64, 16);
/** The chain's c while a late addition waits. */
export const HELD: usize = memory.data(64, 16);
/** Exponents of cdna3-odd-even's two windows. */
export const WINDOWS: usize = memory.data(128, 16);
