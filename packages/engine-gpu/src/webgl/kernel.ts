import type { MmaOp } from '@bitmma/core';
import { cdna3Window, cdna3WindowLimit } from './datapath/cdna3-window.js';
import { exponentOffset, fusedWindow, fusedWindowLimit, productFraction } from './datapath/fused-window.js';
import { CODE, floatFormat, OFFSET, UNIT } from './elements.js';
import { LIMBS, MAGNITUDE, type NativeFunction, SPECIAL } from './glsl.js';

/**
 * What a kind contributes: bmWindow(p, cs, ce), the window's exponent as a code sum; bmTerm(t, below), a product cut
 * to the quantum, in limbs; bmFinish(high, low, w, p, cs, ce, kind), the step's result.
 */
export interface StepFunctions {
  /** GLSL that the others call. */
  readonly helpers: readonly NativeFunction[];
  /** GLSL that the kernel calls. */
  readonly functions: readonly NativeFunction[];
  readonly productOverflow: number | null;
}

export interface KernelSource {
  /** The kernel in gpu.js's JavaScript: chain(a, b, state, steps). */
  readonly source: string;
  /** GLSL ahead of the kernel. */
  readonly injected: string;
  readonly functions: readonly NativeFunction[];
  /** k positions of one step. */
  readonly length: number;
}

export type Shape = 'gemm' | 'dots';

function stepFunctions(op: MmaOp): StepFunctions {
  switch (op.datapath.kind) {
    case 'fused-window':
      return fusedWindow(op, op.datapath);
    case 'cdna3-window':
      return cdna3Window(op, op.datapath);
    default:
      throw new RangeError(`expected a supported datapath, got ${op.datapath.kind}`);
  }
}

/**
 * Products of at least 2^limit: t * 2^(sum - offset - own) with |t| in [2^lead, 2^(lead + 1)). Only exponents of at
 * least limit - 1 reach it.
 */
function overflowCheck(op: MmaOp, limit: number | null, row: string, col: string, length: number): string {
  if (limit === null) return '';
  const unit = exponentOffset(op) + productFraction(op);
  return `if (p >= ${Math.max(2 * CODE.finite, limit - 1 + exponentOffset(op))}) {
      for (let j = 0; j < ${length}; j++) {
        ${load(row, col, length)}
        const t = sa * sb;
        if (t !== 0 && ca + cb < ${CODE.nan}) {
          if (bmMagnitude(t) + ca + cb - ${unit} >= ${limit}) {
            if (t > 0) { over = 1; } else { under = 1; }
          }
        }
      }
    }`;
}

const load = (row: string, col: string, length: number): string => `const va = a[${row}][s * ${length} + j];
        const vb = b[${col}][s * ${length} + j];
        const ca = Math.floor(va * ${1 / UNIT});
        const cb = Math.floor(vb * ${1 / UNIT});
        const sa = va - ca * ${UNIT} - ${OFFSET};
        const sb = vb - cb * ${UNIT} - ${OFFSET};`;

/** The kernel of one op: steps in order, the running word in registers, one result a thread. */
export function kernelSource(op: MmaOp, shape: Shape): KernelSource {
  const step = stepFunctions(op);
  const length = stepLength(op);
  const row = shape === 'gemm' ? 'this.thread.y' : 'this.thread.x';
  const col = 'this.thread.x';
  return {
    length,
    injected: [...LIMBS, ...step.helpers].map((native) => native.source).join('\n'),
    functions: [...step.functions, SPECIAL, MAGNITUDE],
    source: `function chain(a, b, state, steps) {
  const held = state[this.thread.y][this.thread.x];
  let cs = held[0];
  let ce = held[1];
  let cc = held[2];
  for (let s = 0; s < steps; s++) {
    let p = 0;
    let nan = 0;
    let plus = 0;
    let minus = 0;
    let over = 0;
    let under = 0;
    for (let j = 0; j < ${length}; j++) {
      const sum = Math.floor(a[${row}][s * ${length} + j] * ${1 / UNIT}) + Math.floor(b[${col}][s * ${length} + j] * ${1 / UNIT});
      p = Math.max(p, sum);
    }
    if (p >= ${CODE.nan}) {
      p = 0;
      for (let j = 0; j < ${length}; j++) {
        ${load(row, col, length)}
        if (ca !== ${CODE.absent}) {
          if (ca + cb < ${CODE.nan}) { p = Math.max(p, ca + cb); }
          else if (ca === ${CODE.nan} || cb === ${CODE.nan} || ca === 0 || cb === 0) { nan = 1; }
          else if (sa * sb > 0) { plus = 1; }
          else { minus = 1; }
        }
      }
    }
    ${overflowCheck(op, step.productOverflow, row, col, length)}
    const w = bmWindow(p, cs, ce);
    let high = 0;
    let low = 0;
    for (let j = 0; j < ${length}; j++) {
      ${load(row, col, length)}
      const t = bmTerm(sa * sb, w - ca - cb);
      high = high + t[0];
      low = low + t[1];
    }
    const r = bmFinish(high, low, w, p, cs, ce, bmSpecial(nan, plus, minus, over, under, cc));
    cs = r[0];
    ce = r[1];
    cc = r[2];
  }
  return [cs, ce, cc, 0];
}`,
  };
}

export const stepLength = (op: MmaOp): number =>
  'block' in op.datapath ? Math.min(op.datapath.block, op.k) : op.k;

/** Why this engine cannot compute an op, in one sentence; null: it can. */
export function unsupportedReason(op: MmaOp): string | null {
  const { datapath } = op;
  if (datapath.kind !== 'fused-window' && datapath.kind !== 'cdna3-window')
    return `float32 limbs are written for fused-window and cdna3-window, not ${datapath.kind}`;
  for (const name of [op.a, op.b]) {
    const format = floatFormat(name);
    if (format === null || !format.signed || format.fractionBits > 10)
      return `${name} significands exceed the 11 bits whose products float32 holds`;
    const range = 2 ** format.exponentBits;
    if (range > 256) return `${name} exponents exceed fp32's`;
  }
  const { format, precision } = datapath.output;
  if (format === 'fp64') return 'fp64 words do not fit float32 limbs';
  if (op.d !== format || (op.c !== op.d && !(op.c === 'fp16' && op.d === 'fp32')))
    return `an addend in ${op.c} with a result in ${op.d} is not exact in ${format}`;
  if (precision > (format === 'fp16' ? 10 : 23)) return `${precision} fraction bits exceed ${format}'s`;
  if (op.scaling !== null) return `${datapath.kind} takes no scales`;
  if (op.k % stepLength(op) !== 0) return `K = ${op.k} is not a multiple of its block of ${datapath.block}`;
  return datapath.kind === 'fused-window' ? fusedWindowLimit(datapath) : cdna3WindowLimit(datapath);
}
