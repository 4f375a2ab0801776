import { FORMATS, type MmaOp } from '@bitmma/core';
import { configureOperand, globalsOf, slotOrder } from './configure.js';
import type { Kernel } from './module.js';
import { layoutBytes, type Rule } from './rules.js';
import { Arena, bytesOf, chunks, type Job, type Runner } from './runner.js';
import type { Vectors } from './vectors.js';

/** Outputs of a job: 128 x 128 repeats each packing 128 times, and both panels of 1024 positions take 2 MiB. */
const SIDE = 128;
const POSITIONS = 1024;

/** Where one operand's packed vectors lie. */
interface Panel {
  readonly elements: number;
  readonly flags: number;
  readonly scales: number;
}

/** The integer path of every family: the scalar kernel, and the SIMD kernels' rare paths. */
export class ScalarRunner implements Runner {
  readonly rows = SIDE;
  readonly columns = SIDE;
  readonly wordBytes: 4 | 8;
  readonly state: number;
  readonly #op: MmaOp;
  readonly #rule: Rule;
  readonly #kernel: Kernel;
  readonly #globals: ReadonlyMap<string, number | bigint>;
  readonly #order: Int32Array | null;
  readonly #bytes: number;
  readonly #words: number;
  readonly #mask: number;
  readonly #scaleWords: number;
  readonly #slots: number;
  readonly #panels: { readonly a: Panel; readonly b: Panel };
  readonly #vectorBytes: number;
  readonly #scaleBytes: number;
  #nonFinite = 0;

  constructor(op: MmaOp, rule: Rule, kernel: Kernel, arena = new Arena(kernel.base)) {
    this.#op = op;
    this.#rule = rule;
    this.#kernel = kernel;
    this.#globals = globalsOf(op, rule);
    this.#order = slotOrder(op);
    this.wordBytes = FORMATS[op.d].wordBits === 64 ? 8 : 4;
    const positions = Math.max(POSITIONS, op.k);
    this.#bytes = layoutBytes(rule.layout);
    this.#vectorBytes = positions * this.#bytes;
    this.#scaleBytes = op.scaling ? Math.ceil(positions / op.scaling.block) * 4 : 0;
    this.#words = arena.take(positions * 8);
    this.#mask = arena.take(positions);
    this.#scaleWords = arena.take(positions);
    this.#slots = arena.take(op.k * 4);
    const panel = (): Panel => ({
      elements: arena.take(SIDE * this.#vectorBytes),
      flags: arena.take(SIDE),
      scales: arena.take(SIDE * this.#scaleBytes),
    });
    this.#panels = { a: panel(), b: panel() };
    this.state = arena.take(SIDE * SIDE * this.wordBytes);
    kernel.reserve(arena.size);
  }

  stride(job: Job): number {
    return job.diagonal ? 1 : job.columns;
  }

  run(job: Job): void {
    const { rule } = this.#rule;
    const kernel = this.#kernel;
    for (const [name, value] of this.#globals) kernel.set(name, value);
    if (this.#order) kernel.bytes.set(new Uint8Array(this.#order.buffer), this.#slots);
    const { a, b } = this.#panels;
    for (const { k0, k, padded } of chunks(job.chain, this.#op.k, POSITIONS)) {
      this.#pack('a', job.a, job.row, job.rows, k0, k, padded);
      this.#pack('b', job.b, job.column, job.columns, k0, k, padded);
      const outputs = [rule, job.rows, job.columns, Number(job.diagonal), padded];
      const left = [a.elements, this.#vectorBytes, a.flags];
      const right = [b.elements, this.#vectorBytes, b.flags];
      const words = [this.state, this.stride(job) * this.wordBytes, this.wordBytes];
      kernel.call('run', ...outputs, ...left, ...right, ...words, a.scales, b.scales, this.#scaleBytes);
    }
  }

  #pack(
    side: 'a' | 'b',
    vectors: Vectors,
    first: number,
    count: number,
    k0: number,
    k: number,
    padded: number,
  ) {
    const kernel = this.#kernel;
    const panel = this.#panels[side];
    const { scaling } = this.#op;
    const width = FORMATS[this.#op[side]].wordBits / 8;
    configureOperand(kernel, this.#op, side, this.#rule.layout);
    for (let v = 0; v < count; v++) {
      const from = (first + v) * vectors.stride + k0;
      kernel.bytes.set(bytesOf(vectors.words, width, from, k), this.#words);
      if (vectors.mask) kernel.bytes.set(vectors.mask.subarray(from, from + k), this.#mask);
      if (vectors.scales && scaling) {
        const at = (first + v) * vectors.scaleStride + k0 / scaling.block;
        const scales = vectors.scales.subarray(at, at + Math.ceil(k / scaling.block));
        kernel.bytes.set(scales, this.#scaleWords);
      }
      const special = kernel.call(
        'pack',
        this.#words,
        k,
        padded,
        panel.elements + v * this.#vectorBytes,
        this.#order ? this.#slots : 0,
        this.#op.k,
        vectors.mask ? this.#mask : 0,
        vectors.scales ? this.#scaleWords : 0,
        panel.scales + v * this.#scaleBytes,
      );
      kernel.bytes[panel.flags + v] = special;
      this.#nonFinite += special;
    }
  }

  rarePaths(): Readonly<Record<string, number>> {
    return { 'non-finite vectors': this.#nonFinite };
  }
}
