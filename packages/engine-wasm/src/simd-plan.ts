// Which ops the SIMD kernels compute, and the numbers that prove a kernel's range holds them.
import { type FloatFormat, FORMATS, type FormatName, type MmaOp, type Output } from '@bitmma/core';

/** Kernels of assembly/simd/run.ts. */
export const SIMD = {
  f32: 0,
  i32: 1,
  i32Shorts: 2,
  cdna3: 3,
  cdna3Shorts: 4,
  late: 5,
  integer: 6,
  pairwise: 7,
  fma: 8,
  cdna3OddEven: 9,
} as const;

export interface SimdPlan {
  readonly kernel: (typeof SIMD)[keyof typeof SIMD];
  /** Bytes of an exponent code: 1 for formats of at most 64 exponents, 2 for fp32's range. */
  readonly codeBytes: 1 | 2;
  readonly codeBias: number;
  readonly lowestExponent: number;
  readonly accumulated: number;
  readonly halfOutput: boolean;
  /** Positions between two late additions of c; 0: c is in the window. */
  readonly lateSpan: number;
  /** fp32 word: a nonzero addend of smaller magnitude goes to the integer path. */
  readonly leastAddend: number;
}

const LEAST_CODE = 64;
/** A block's positions that the slow path has room for, assembly/simd/slow-step.ts. */
const MOST_TERMS = 64;

const float = (name: FormatName): FloatFormat | null => {
  const format = FORMATS[name];
  return format.kind === 'float' ? format : null;
};

const emin = ({ bias }: FloatFormat): number => 1 - bias;

/** Significand of the largest magnitude, as a number in [1, 2). */
const largestSignificand = (f: FloatFormat): number =>
  2 - 2 ** -f.fractionBits * (f.specials === 'nan-only' ? 2 : 1);

/** The SIMD plan of an op, or null where only the scalar kernel computes it. */
export function simdPlan(op: MmaOp): SimdPlan | null {
  const { datapath } = op;
  if (datapath.kind === 'integer')
    return op.k % 2 === 0 ? { ...PLAIN, kernel: SIMD.integer, codeBytes: 1 } : null;
  const a = float(op.a);
  const b = float(op.b);
  if (a && b && (datapath.kind === 'pairwise' || datapath.kind === 'sequential-fma'))
    return ieeePlan(op, a, b);
  if (!a || !b || !WINDOWS.includes(datapath.kind) || !('alignment' in datapath)) return null;
  const wide = [a, b].filter(({ exponentBits }) => exponentBits === 8).length;
  // Both operands of one code width; fp32's 24-bit significands make products that fp32 rounds.
  if (wide === 1 || a.fractionBits + b.fractionBits + 2 > 22) return null;
  const codeBytes = wide === 2 ? 2 : 1;
  if (codeBytes === 1 && (a.exponentBits > 5 || b.exponentBits > 5)) return null;
  const block = Math.min(datapath.block, op.k);
  const multiple = codeBytes === 1 ? 4 : 2;
  if (op.k % block !== 0 || block % multiple !== 0 || block > MOST_TERMS || datapath.alignment !== 'RZ')
    return null;
  const codeBias = codeBytes === 1 ? 2 * LEAST_CODE - emin(a) - emin(b) : 0;
  const product = largestSignificand(a) * largestSignificand(b);
  const shape = { codeBytes, codeBias, halfOutput: op.d === 'fp16' } as const;
  switch (datapath.kind) {
    case 'fused-window':
      return fusedPlan(op, block, product, shape);
    case 'cdna3-window':
    case 'cdna3-odd-even':
      return cdna3Plan(op, block, product, shape);
    case 'late-window':
    case 'split-window':
      return latePlan(op, block, product, shape);
    default:
      return null;
  }
}

/** What kernels without a window read. */
const PLAIN = {
  ...{ codeBias: 0, lowestExponent: 0, accumulated: 0 },
  ...{ halfOutput: false, lateSpan: 0, leastAddend: 0 },
} as const;

/** fp32 rounded RNE, on fp32 values; NaN results are unified, so any word of NaN will do. */
function ieeePlan(op: MmaOp, a: FloatFormat, b: FloatFormat): SimdPlan | null {
  const { datapath } = op;
  if (datapath.kind !== 'pairwise' && datapath.kind !== 'sequential-fma') return null;
  const { output, flushInputs, flushResults } = datapath;
  if (output.format !== 'fp32' || output.rounding !== 'RNE' || op.sparsity) return null;
  const widths = [a, b].map(packedWidth);
  if (widths[0] === null || widths[0] !== widths[1]) return null;
  const codeBytes = widths[0];
  if (datapath.kind === 'sequential-fma')
    return flushInputs || flushResults ? null : { ...PLAIN, kernel: SIMD.fma, codeBytes };
  const block = Math.min(datapath.block, op.k);
  const known = (block === 2 || block === 4) && op.k % block === 0 && flushInputs && flushResults;
  return known && a.wordBits > 8 && b.wordBits > 8 ? { ...PLAIN, kernel: SIMD.pairwise, codeBytes } : null;
}

/** Bytes of the codes that packing writes for a format, or null where packing does not know it. */
const packedWidth = ({ exponentBits, wordBits }: FloatFormat): 1 | 2 | null =>
  exponentBits === 8 ? 2 : exponentBits <= 5 && wordBits <= 16 ? 1 : null;

const WINDOWS = ['fused-window', 'cdna3-window', 'cdna3-odd-even', 'late-window', 'split-window'];

type Shape = Pick<SimdPlan, 'codeBytes' | 'codeBias' | 'halfOutput'>;

/** The window of late-window and split-window is fused-window's without its options; c joins by one RNE addition. */
function latePlan(op: MmaOp, block: number, product: number, shape: Shape): SimdPlan | null {
  const { datapath } = op;
  if ((datapath.kind !== 'late-window' && datapath.kind !== 'split-window') || shape.codeBytes === 2)
    return null;
  const { block: n, fraction, floor, alignment, output, addition } = datapath;
  if (addition !== 'RNE') return null;
  const options = { zeroAddendExponent: null, productOverflow: null };
  const window = { kind: 'fused-window', block: n, fraction, floor, alignment, output, ...options } as const;
  const plan = fusedPlan({ ...op, datapath: window }, block, product, shape);
  // Every half of an instruction is made of whole blocks: selectBit splits k evenly where 2^(selectBit+1) divides it.
  const whole =
    datapath.kind === 'late-window' ||
    (op.k % 2 ** (datapath.selectBit + 1) === 0 && (op.k / 2) % block === 0);
  if (!plan || !whole || (plan.kernel !== SIMD.i32 && output.precision !== 23)) return null;
  const lateSpan = datapath.kind === 'late-window' ? block : op.k;
  return {
    ...plan,
    kernel: SIMD.late,
    accumulated: Math.min(plan.accumulated, block),
    leastAddend: 0,
    lateSpan,
  };
}

/** Truncation toward zero on fp32 output, to nearest on fp16; zero results +0. */
function isNvidia({ format, rounding, underflow, precision }: Output): boolean {
  if (underflow !== 'positive') return false;
  return format === 'fp32' ? rounding === 'RZ' : format === 'fp16' && rounding === 'RNE' && precision === 10;
}

function fusedPlan(op: MmaOp, block: number, product: number, shape: Shape): SimdPlan | null {
  const { datapath } = op;
  if (datapath.kind !== 'fused-window' || !isNvidia(datapath.output)) return null;
  const { fraction, floor, output } = datapath;
  if (datapath.zeroAddendExponent !== null || datapath.productOverflow !== null) return null;
  if (fraction < 10 || fraction > 25) return null;
  const fp32 = output.format === 'fp32';
  // 2^(F-E) and 2^(E-F) are normal fp32 numbers, and a window's unit no smaller than fp32's least normal.
  const least = fraction - 125;
  // fp32 windows below `least` go to the integer path: a lower floor never acts in the kernel.
  if (fp32 && floor !== null && floor > least) return null;
  if (!fp32 && shape.codeBytes === 2) return null;
  const plan = {
    ...shape,
    lateSpan: 0,
    lowestExponent: fp32 ? least : Math.max(least, floor ?? least),
    leastAddend: ((least + 127) << 23) >>> 0,
  };
  const active = op.sparsity ? block / 2 : block;
  const quanta = product * 2 ** fraction;
  // fp32 sums: every product and c exact, at most 24 bits, and `precision` bits kept by masking.
  if (shape.codeBytes === 1 && active * quanta + 2 ** (fraction + 1) < 2 ** 24)
    return { ...plan, kernel: SIMD.f32, accumulated: block };
  // The i32 kernels keep 24 bits, the conversion's own.
  if (fp32 && output.precision !== 23) return null;
  const halves = active * quanta < 2 ** 31 ? 1 : 2;
  if ((active / halves) * quanta >= 2 ** 31 || (halves === 2 && shape.codeBytes === 2)) return null;
  // Two runs and c in halves: (2 * 2^31 + 2^26) / 2 must stay below 2^31.
  if (halves === 2 && active * quanta + 2 ** 26 >= 2 ** 32) return null;
  const kernel = shape.codeBytes === 1 ? SIMD.i32 : SIMD.i32Shorts;
  return { ...plan, kernel, accumulated: block / halves };
}

/** cdna3-odd-even: a block is two whole windows of byte codes. */
function cdna3Kernel({ datapath, sparsity }: MmaOp, block: number, shape: Shape): SimdPlan['kernel'] | null {
  if (datapath.kind === 'cdna3-window')
    return datapath.addendReach !== null ? null : shape.codeBytes === 1 ? SIMD.cdna3 : SIMD.cdna3Shorts;
  if (datapath.kind !== 'cdna3-odd-even') return null;
  const { addendReach, mergeFraction, mergeRounding } = datapath;
  const standard = addendReach === 25 && mergeFraction === 24 && mergeRounding === 'RD';
  return standard && !sparsity && shape.codeBytes === 1 && block % 8 === 0 ? SIMD.cdna3OddEven : null;
}

/** Numerics 4.5 and 4.6 as every CDNA3 instruction has them; a custom variant runs on the scalar kernel. */
function cdna3Plan(op: MmaOp, block: number, product: number, shape: Shape): SimdPlan | null {
  const { datapath } = op;
  if (datapath.kind !== 'cdna3-window' && datapath.kind !== 'cdna3-odd-even') return null;
  const { output, fraction } = datapath;
  const standard =
    fraction === 24 &&
    datapath.floor === null &&
    datapath.zeroAddendExponent === -126 &&
    (datapath.productOverflow === 128 || (datapath.productOverflow === null && shape.codeBytes === 1)) &&
    datapath.addendFraction === 24 &&
    datapath.addendRounding === 'RD' &&
    datapath.sumFraction === 32 &&
    datapath.sumRounding === 'RD' &&
    datapath.normalFraction === 31 &&
    datapath.normalRounding === 'RD' &&
    output.format === 'fp32' &&
    output.rounding === 'RNE' &&
    output.precision === 23 &&
    output.underflow === 'signed';
  const kernel = cdna3Kernel(op, block, shape);
  if (!standard || kernel === null || block * product * 2 ** fraction >= 2 ** 30) return null;
  return {
    ...shape,
    kernel,
    // Units e_p - 24 and e_c - 32, e_c > e_p, are normal fp32 numbers. Narrow formats without a product have this e_p:
    // its unit divides every c that is taken.
    lowestExponent: shape.codeBytes === 1 ? -96 : -90,
    accumulated: block,
    lateSpan: 0,
    // The same where only c is there: chains of narrow formats make no smaller one.
    leastAddend: ((-94 + 127) << 23) >>> 0,
  };
}
