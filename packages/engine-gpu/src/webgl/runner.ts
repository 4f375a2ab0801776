import type { KRange, MmaOp } from '@bitmma/core';
import type { LaneView } from '../host/lanes.js';
import type { GlContext, Kernel, Texture } from './context.js';
import { ABSENT_ELEMENT, elementTable, wordIndex, ZERO_ELEMENT } from './elements.js';
import { kernelSource, type Shape } from './kernel.js';
import type { StatePlanes } from './state.js';

export interface Limits {
  /** Elements of one operand texture; gpu.js computes their index in float32, so at most 2^24. */
  readonly textureElements: number;
  /** Results of one window. */
  readonly windowCells: number;
}

export const DEFAULT_LIMITS: Limits = { textureElements: 2 ** 22, windowCells: 2 ** 18 };

/** Multiply-adds of one draw: no draw takes a second on a GPU. */
const DRAW_TERMS = 2 ** 30;

/** Lanes first..last of an operand; bit k of a mask says whether position k is active. */
export interface Lanes {
  readonly format: MmaOp['a'];
  readonly view: LaneView;
  readonly first: number;
  readonly last: number;
  /** [k / 32][lane], lanes padded to a multiple of four. */
  readonly masks: Uint32Array | null;
}

const START = {
  source:
    'function start(sig, exponent, kind) { return [sig[this.thread.y][this.thread.x], exponent[this.thread.y][this.thread.x], kind[this.thread.y][this.thread.x], 0]; }',
  injected: '',
  functions: [],
};

/** The kernels of one op. */
export class Runner {
  private readonly start: Kernel;
  private readonly chain: Kernel;
  private readonly length: number;

  constructor(
    private readonly context: GlContext,
    private readonly op: MmaOp,
    shape: Shape,
    private readonly limits: Limits,
  ) {
    const source = kernelSource(op, shape);
    this.length = source.length;
    this.start = context.kernel(START);
    this.chain = context.kernel(source);
  }

  /** Element codes [lane][k], positions at or beyond k1 zero. */
  private elements(lanes: Lanes, k0: number, k1: number, width: number): Float32Array {
    const { format, view, first, last, masks } = lanes;
    const table = elementTable(format);
    const index = wordIndex(format);
    const out = new Float32Array((last - first) * width).fill(ZERO_ELEMENT);
    const padded = Math.ceil((last - first) / 4) * 4;
    for (let lane = first; lane < last; lane++) {
      let from = view.offset + lane * view.laneStride + k0 * view.kStride;
      const at = (lane - first) * width - k0;
      for (let k = k0; k < k1; k++) {
        const active = masks === null || ((masks[(k >> 5) * padded + lane - first] >>> (k & 31)) & 1) === 1;
        out[at + k] = active ? table[index(view.words[from])] : ABSENT_ELEMENT;
        from += view.kStride;
      }
    }
    return out;
  }

  /**
   * Runs a chain over width x height results from their state and reads them back once: four numbers a result. The
   * running words stay on the device between draws.
   */
  run(
    a: Lanes,
    b: Lanes,
    state: StatePlanes,
    width: number,
    height: number,
    chain: readonly KRange[],
  ): Float32Array {
    const { context, op } = this;
    const size = [width, height] as const;
    let running: Texture | null = this.start.run(
      size,
      [state.sig, state.exponent, state.kind].map((plane) => context.input(plane, size)),
    );
    try {
      for (const { k0, k1, kEnd } of this.segments(
        Math.max(a.last - a.first, b.last - b.first),
        width * height,
        chain,
      )) {
        const depth = kEnd - k0;
        const inputs = [a, b].map((lanes) =>
          context.input(this.elements(lanes, k0, k1, depth), [depth, lanes.last - lanes.first]),
        );
        const next = this.chain.run(size, [...inputs, running, depth / this.length]);
        context.free(running);
        running = next;
      }
      const texture = running;
      running = null;
      const values = context.read(texture);
      context.check(`${width} x ${height} results of ${op.instruction}`);
      return values;
    } finally {
      if (running) context.free(running);
    }
  }

  /** Ranges cut into whole instructions that fit a texture and a draw; a ragged end is padded to an instruction. */
  private segments(
    lanes: number,
    cells: number,
    chain: readonly KRange[],
  ): { k0: number; k1: number; kEnd: number }[] {
    const { k } = this.op;
    const most =
      Math.max(1, Math.floor(Math.min(this.limits.textureElements / lanes, DRAW_TERMS / cells) / k)) * k;
    const segments: { k0: number; k1: number; kEnd: number }[] = [];
    for (const { k0, k1 } of chain)
      for (let at = k0; at < k1; at += most) {
        const end = Math.min(at + most, k1);
        segments.push({ k0: at, k1: end, kEnd: at + Math.ceil((end - at) / k) * k });
      }
    return segments;
  }

  close(): void {
    this.start.destroy();
    this.chain.destroy();
  }
}
