/**
 * Every constant of the catalog, once: block lengths N, fraction bits F, floors, NaN words, output roundings.
 * The arch files choose among these and add instruction shapes. Section numbers are those of the numerics page.
 *
 * Where to look:
 *   NVIDIA windows (section 5)                 VOLTA, AMPERE, HOPPER, *_FP8
 *   FP8 by mma.sync on sm_90, sm_100 (section 7) hopperSplitFp8
 *   tcgen05 (section 6)                        TCGEN05, MX_FP8, NVFP4, MXFP4
 *   CDNA1, 2, 3 (sections 4.3 to 4.6)           cdna1Exact, cdna2Pairwise, cdna3Window, cdna3Fp8
 *   CDNA3's alignment of c                     CDNA3_ADDEND
 */
import type {
  Cdna3OddEven,
  Cdna3Window,
  Exact,
  FusedWindow,
  IntegerSum,
  LateAddend,
  Output,
  Pairwise,
  ScaledGroups,
  ScaledWindow,
  SequentialFma,
  SplitWindow,
} from '../datapath.js';

/** Section 3. fp64's word is derived on both vendors; the payload of AMD's fp32 word too. */
export const NAN_WORD = {
  nvidia: { fp16: '7fff', fp32: '7fffffff', fp64: 'fff8000000000000' },
  amd: { fp32: 'ffc00000', fp64: 'fff8000000000000' },
} as const;

/** NVIDIA fp32 out: RZ; `precision` 13 on the FP8 units of Ada and Hopper. */
export const nvidiaFp32 = (precision = 23): Output => ({
  format: 'fp32',
  rounding: 'RZ',
  precision,
  underflow: 'positive',
  nan: NAN_WORD.nvidia.fp32,
});

/** NVIDIA fp16 out: RNE; c is fp16 there too. */
export const NVIDIA_FP16: Output = {
  format: 'fp16',
  rounding: 'RNE',
  precision: 10,
  underflow: 'positive',
  nan: NAN_WORD.nvidia.fp16,
};

const AMD_FP32: Output = {
  format: 'fp32',
  rounding: 'RNE',
  precision: 23,
  underflow: 'signed',
  nan: NAN_WORD.amd.fp32,
};

const FP64: Output = {
  format: 'fp64',
  rounding: 'RNE',
  precision: 52,
  underflow: 'signed',
  nan: NAN_WORD.nvidia.fp64,
};

/** N, F, and the floor of the window's exponent for each output format. */
export interface WindowConstants {
  readonly block: number;
  readonly fraction: number;
  readonly floor: { readonly fp32: number | null; readonly fp16: number | null };
  /** Fraction bits of the fp32 output. */
  readonly precision?: number;
}

/** Section 5, v100. */
export const VOLTA_FP16: WindowConstants = { block: 4, fraction: 23, floor: { fp32: null, fp16: -19 } };

/** Section 5, t4 and a100, a2, a30 and Ada: fp16 and bf16 share N, tf32 has half of it. */
export const AMPERE_16BIT: WindowConstants = { block: 8, fraction: 24, floor: { fp32: -132, fp16: -20 } };
export const AMPERE_TF32: WindowConstants = { ...AMPERE_16BIT, block: 4 };

/** Section 5, Ada FP8: an FP8 floor can never bind, fp16 out has none. */
export const ADA_FP8: WindowConstants = {
  block: 16,
  fraction: 13,
  floor: { fp32: -132, fp16: null },
  precision: 13,
};

/** Section 5, h100, h200, b200 (mma.sync) and sm_120. */
export const HOPPER_16BIT: WindowConstants = { block: 16, fraction: 25, floor: { fp32: -133, fp16: -21 } };
export const HOPPER_TF32: WindowConstants = { ...HOPPER_16BIT, block: 8 };

/** Section 5, wgmma FP8. */
export const HOPPER_FP8: WindowConstants = {
  block: 32,
  fraction: 13,
  floor: { fp32: -133, fp16: null },
  precision: 13,
};

/** Section 6: one window over all K terms, F = 25, no floor. `block` is the instruction's K. */
export const tcgen05Window = (k: number): WindowConstants => ({
  block: k,
  fraction: 25,
  floor: { fp32: null, fp16: null },
});

/** Section 4.1. A block never spans two instructions: N is at most the instruction's K. */
export const fusedWindow = (w: WindowConstants, k: number, out: 'fp32' | 'fp16'): FusedWindow => ({
  kind: 'fused-window',
  block: Math.min(w.block, k),
  fraction: w.fraction,
  floor: w.floor[out],
  alignment: 'RZ',
  zeroAddendExponent: null,
  productOverflow: null,
  output: out === 'fp32' ? nvidiaFp32(w.precision) : NVIDIA_FP16,
});

/** Section 7: bit 1 of k picks the half; 16 terms a half; floors of HOPPER_16BIT; c by one IEEE addition. */
export const hopperSplitFp8 = (out: 'fp32' | 'fp16'): SplitWindow => ({
  kind: 'split-window',
  block: HOPPER_16BIT.block,
  fraction: HOPPER_16BIT.fraction,
  floor: HOPPER_16BIT.floor[out],
  alignment: 'RZ',
  selectBit: 1,
  output: out === 'fp32' ? nvidiaFp32() : NVIDIA_FP16,
  addition: 'RNE',
});

/** Section 6, mxf8f6f4: q = max(R, e_c) - 25. */
export const MX_FP8: ScaledWindow = { kind: 'scaled-window', fraction: 25, output: nvidiaFp32() };

const SCALED_GROUPS = {
  kind: 'scaled-groups',
  dominantFraction: 35,
  productFraction: 39,
  scaleFraction: 35,
  output: nvidiaFp32(),
} as const;

/** Section 6, nvfp4 (ue4m3 scales): groups of four, c-dominant sums over each scale block. */
export const nvfp4 = (scaleBlock: number): ScaledGroups => ({
  ...SCALED_GROUPS,
  group: 4,
  dominantGroup: scaleBlock,
  groupAddendFraction: null,
  leaveOut: null,
});

/** Section 6, mxf4 and mxf4nvf4 with ue8m0: groups of 16 whatever the scale block. */
export const MXFP4: ScaledGroups = {
  ...SCALED_GROUPS,
  group: 16,
  dominantGroup: 16,
  groupAddendFraction: 35,
  leaveOut: -174,
};

/** Section 4.7, subnormals kept. */
export const fmaFp64: SequentialFma = {
  kind: 'sequential-fma',
  flushInputs: false,
  flushResults: false,
  output: FP64,
};
export const amdFmaFp32: SequentialFma = { ...fmaFp64, output: AMD_FP32 };

/** Section 4.8. */
export const integerSum = (saturate: boolean): IntegerSum => ({
  kind: 'integer',
  overflow: saturate ? 'saturate' : 'wrap',
});

/** Section 4.3: N = 4 for fp16, 2 for bf16. */
export const cdna1Exact = (block: 4 | 2): Exact => ({ kind: 'exact', block, output: AMD_FP32 });

/** Section 4.4: N = 4 for fp16 and bf16 _1k, 2 for bf16 without _1k. */
export const cdna2Pairwise = (block: 4 | 2): Pairwise => ({
  kind: 'pairwise',
  block,
  flushInputs: true,
  flushResults: true,
  output: AMD_FP32,
});

/**
 * Section 4.5: CDNA3's alignment of c. c below the products: cut to 24 bits (RD). c above: the products' sum cut
 * to 32 bits (RD), the total to 31 bits below its leading bit (RD). c = 0 has exponent -126.
 */
export const CDNA3_ADDEND: LateAddend = {
  zeroAddendExponent: -126,
  productOverflow: 128,
  addendFraction: 24,
  addendRounding: 'RD',
  addendReach: null,
  sumFraction: 32,
  sumRounding: 'RD',
  normalFraction: 31,
  normalRounding: 'RD',
};

/** Section 4.5: N = 8 for fp16 and bf16 (K where smaller), 4 for xf32; products cut to 24 bits (RZ). */
export const cdna3Window = (block: number): Cdna3Window => ({
  kind: 'cdna3-window',
  block,
  fraction: 24,
  floor: null,
  alignment: 'RZ',
  ...CDNA3_ADDEND,
  output: AMD_FP32,
});

/** Section 4.6: 16 products in two interleaved windows; c is left out more than 25 below. */
export const CDNA3_FP8: Cdna3OddEven = {
  kind: 'cdna3-odd-even',
  block: 16,
  fraction: 24,
  floor: null,
  alignment: 'RZ',
  ...CDNA3_ADDEND,
  addendReach: 25,
  mergeFraction: 24,
  mergeRounding: 'RD',
  output: AMD_FP32,
};
