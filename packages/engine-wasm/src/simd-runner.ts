import { FORMATS, type MmaOp } from '@bitmma/core';
import { configureOperand, globalsOf, simdSlotOrder } from './configure.js';
import type { Kernel } from './module.js';
import { LAYOUT, type Rule } from './rules.js';
import { Arena, bytesOf, chunks, type Job, type Runner } from './runner.js';
import { ScalarRunner } from './scalar-runner.js';
import { SIMD, type SimdPlan } from './simd-plan.js';
import type { Vectors } from './vectors.js';

/** Columns of a panel. */
const LANES = 16;
/** Outputs of a job: each packing is used 1024 times. */
const SIDE = 1024;
/** Positions packed at once: a panel's 512 x 16 values and codes stay in a 48 KiB first cache. */
const POSITIONS = 512;
/** Side of the squares whose marked outputs go to the integer path together. */
const SQUARE = 64;

/** Kernels whose own arithmetic may make a NaN; the others write only the op's. */
const NAN_KERNELS: readonly number[] = [
  ...[SIMD.cdna3, SIMD.cdna3Shorts, SIMD.cdna3OddEven, SIMD.late, SIMD.pairwise, SIMD.fma],
];

interface Panel {
  readonly values: number;
  readonly codes: number;
}

/** The SIMD kernels, and the integer path for the outputs that they do not take. */
export class SimdRunner implements Runner {
  readonly rows = SIDE;
  readonly columns = SIDE;
  readonly wordBytes = 4;
  readonly state: number;
  readonly #op: MmaOp;
  readonly #plan: SimdPlan;
  readonly #kernel: Kernel;
  readonly #integers: boolean;
  readonly #globals: ReadonlyMap<string, number | bigint>;
  readonly #scalar: ScalarRunner;
  readonly #positions: number;
  readonly #words: number;
  readonly #mask: number;
  readonly #order: Int32Array | null;
  readonly #slots: number;
  readonly #a: Panel;
  readonly #b: Panel;
  readonly #saved: number;
  readonly #marks: number;
  readonly #rowFlags = new Uint8Array(SIDE);
  readonly #columnFlags = new Uint8Array(SIDE);
  #nonFinite = 0;
  #addends = 0;
  #rangeSteps = 0;

  constructor(op: MmaOp, rule: Rule, plan: SimdPlan, kernel: Kernel) {
    this.#op = op;
    this.#plan = plan;
    this.#kernel = kernel;
    this.#integers = plan.kernel === SIMD.integer;
    this.#globals = new Map<string, number | bigint>([
      ...globalsOf(op, rule),
      ['codeBias', plan.codeBias],
      ['lowestExponent', plan.lowestExponent],
      ['accumulated', plan.accumulated],
      ['halfOutput', Number(plan.halfOutput)],
      ['lateSpan', plan.lateSpan],
    ]);
    const arena = new Arena(kernel.base);
    this.#positions = Math.max(POSITIONS, op.k);
    this.#words = arena.take(this.#positions * 4);
    this.#mask = arena.take(this.#positions);
    this.#order = simdSlotOrder(op);
    this.#slots = this.#order ? arena.take(op.k * 4) : 0;
    const panel = (): Panel => ({
      values: arena.take(SIDE * this.#positions * 4),
      codes: arena.take(SIDE * this.#positions * plan.codeBytes),
    });
    this.#a = panel();
    this.#b = panel();
    this.state = arena.take(SIDE * SIDE * 4);
    this.#saved = arena.take(SIDE * SIDE * 4);
    this.#marks = arena.take(SIDE * SIDE);
    kernel.reserve(arena.size);
    this.#scalar = new ScalarRunner(op, rule, kernel, arena);
  }

  /** State words of a row: whole panels. */
  stride(job: Job): number {
    return job.diagonal ? 1 : Math.ceil(job.columns / LANES) * LANES;
  }

  run(job: Job): void {
    const kernel = this.#kernel;
    const { codeBytes, halfOutput, leastAddend } = this.#plan;
    for (const [name, value] of this.#globals) kernel.set(name, value);
    if (this.#order) kernel.bytes.set(new Uint8Array(this.#order.buffer), this.#slots);
    const stride = this.stride(job);
    const count = job.rows * stride;
    kernel.bytes.copyWithin(this.#saved, this.state, this.state + count * 4);
    if (halfOutput) kernel.call('widenWords', this.state, count);
    // No c, or integers: nothing to mark.
    const plain = this.#integers || job.zero;
    if (plain) kernel.bytes.fill(0, this.#marks, this.#marks + count);
    const addends = plain ? 0 : kernel.call('markAddends', this.state, count, leastAddend, this.#marks);
    this.#rowFlags.fill(0, 0, job.rows);
    this.#columnFlags.fill(0, 0, job.columns);
    const before = kernel.get('rangeSteps');
    for (const { k0, k, padded } of chunks(job.chain, this.#op.k, this.#positions)) {
      if (job.diagonal) this.#runDiagonal(job, k0, k, padded);
      else {
        this.#packRows(job, k0, k, padded);
        this.#packColumns(job, k0, k, padded);
        const shape = [this.#plan.kernel, codeBytes, job.rows, job.columns, padded, this.#positions];
        const operands = [this.#a.values, this.#a.codes, this.#b.values, this.#b.codes];
        kernel.call('runPanels', ...shape, ...operands, this.state, stride * 4);
      }
    }
    this.#rangeSteps += kernel.get('rangeSteps') - before;
    if (halfOutput) kernel.call('narrowWords', this.state, count);
    else if (NAN_KERNELS.includes(this.#plan.kernel)) kernel.call('unifyNaN', this.state, count);
    this.#addends += addends;
    const special =
      this.#rowFlags.subarray(0, job.rows).includes(1) ||
      this.#columnFlags.subarray(0, job.columns).includes(1);
    if (addends > 0 || special) this.#recompute(job, stride);
  }

  #valuesAt(panel: Panel, vector: number): readonly [number, number] {
    const elements = vector * this.#positions;
    return [panel.values + elements * 4, panel.codes + elements * this.#plan.codeBytes];
  }

  #stage(side: 'a' | 'b', vectors: Vectors, vector: number, k0: number, k: number): void {
    const width = FORMATS[this.#op[side]].wordBits / 8;
    this.#kernel.bytes.set(bytesOf(vectors.words, width, vector * vectors.stride + k0, k), this.#words);
  }

  #prepare(side: 'a' | 'b'): void {
    configureOperand(this.#kernel, this.#op, side, LAYOUT.elements);
    if (FORMATS[this.#op[side]].wordBits === 8) this.#kernel.call('prepareTables');
  }

  /** Packs row `vector` into slot `slot`; whether it holds NaN or Inf. */
  #packRow(job: Job, vector: number, slot: number, k0: number, k: number, padded: number): number {
    const kernel = this.#kernel;
    this.#stage('a', job.a, vector, k0, k);
    const { mask, stride } = job.a;
    if (mask) {
      const from = vector * stride + k0;
      kernel.bytes.set(mask.subarray(from, from + k), this.#mask);
    }
    const [values, codes] = this.#valuesAt(this.#a, slot);
    if (this.#integers) {
      kernel.call('packIntegerRow', this.#words, k, padded, values, mask ? this.#mask : 0);
      return 0;
    }
    return kernel.call('packRow', this.#words, k, padded, values, codes, mask ? this.#mask : 0, this.#slots);
  }

  #packRows(job: Job, k0: number, k: number, padded: number): void {
    this.#prepare('a');
    for (let i = 0; i < job.rows; i++) this.#rowFlags[i] |= this.#packRow(job, job.row + i, i, k0, k, padded);
  }

  /** Packs the staged column; whether it holds NaN or Inf. */
  #packColumn(k: number, padded: number, values: number, codes: number, lane: number): number {
    if (!this.#integers)
      return this.#kernel.call('packColumn', this.#words, k, padded, values, codes, lane, this.#slots);
    this.#kernel.call('packIntegerColumn', this.#words, k, padded, values, lane);
    return 0;
  }

  #packColumns(job: Job, k0: number, k: number, padded: number): void {
    const kernel = this.#kernel;
    this.#prepare('b');
    for (let j = 0; j < job.columns; j++) {
      this.#stage('b', job.b, job.column + j, k0, k);
      const lane = j % LANES;
      const [values, codes] = this.#valuesAt(this.#b, j - lane);
      this.#columnFlags[j] |= this.#packColumn(k, padded, values, codes, lane);
    }
    const left = job.columns % LANES;
    if (left === 0) return;
    const [values, codes] = this.#valuesAt(this.#b, job.columns - left);
    kernel.call('clearColumns', padded, values, codes, left);
  }

  /** Case by case, each in a lane of its own among zero columns, so that every lane is met and none runs twice. */
  #runDiagonal(job: Job, k0: number, k: number, padded: number): void {
    const kernel = this.#kernel;
    const { kernel: rows } = this.#plan;
    const [values, codes] = this.#valuesAt(this.#b, 0);
    kernel.call('clearColumns', padded, values, codes, 0);
    // All rows first: one table serves one operand.
    this.#packRows(job, k0, k, padded);
    this.#prepare('b');
    for (let i = 0; i < job.rows; i++) {
      const lane = i % LANES;
      this.#stage('b', job.b, job.column + i, k0, k);
      this.#columnFlags[i] |= this.#packColumn(k, padded, values, codes, lane);
      const [left, leftCodes] = this.#valuesAt(this.#a, i);
      kernel.call('runSingle', rows, padded, left, leftCodes, values, codes, this.state + i * 4, lane);
      this.#packColumn(0, padded, values, codes, lane);
    }
  }

  /** Marks the outputs of non-finite operands and runs every marked one on the integer path, square by square. */
  #recompute(job: Job, stride: number): void {
    const kernel = this.#kernel;
    const columns = job.diagonal ? 1 : job.columns;
    for (let i = 0; i < job.rows; i++)
      for (let j = 0; j < columns; j++) {
        if (this.#rowFlags[i] === 0 && this.#columnFlags[job.diagonal ? i : j] === 0) continue;
        kernel.bytes[this.#marks + i * stride + j] = 1;
        this.#nonFinite++;
      }
    for (let i = 0; i < job.rows; i += SQUARE)
      for (let j = 0; j < columns; j += SQUARE) this.#recomputeSquare(job, stride, i, j);
  }

  #recomputeSquare(job: Job, stride: number, row: number, column: number): void {
    const { bytes } = this.#kernel;
    const box = { top: SQUARE, bottom: 0, left: SQUARE, right: 0 };
    const columns = job.diagonal ? 1 : job.columns;
    for (let i = 0; i < Math.min(SQUARE, job.rows - row); i++)
      for (let j = 0; j < Math.min(SQUARE, columns - column); j++)
        if (bytes[this.#marks + (row + i) * stride + column + j] === 1) {
          box.top = Math.min(box.top, i);
          box.bottom = Math.max(box.bottom, i + 1);
          box.left = Math.min(box.left, j);
          box.right = Math.max(box.right, j + 1);
        }
    if (box.bottom === 0) return;
    const rows = box.bottom - box.top;
    const width = box.right - box.left;
    const first = job.diagonal ? job.column + row + box.top : job.column + column + box.left;
    const part = { row: job.row + row + box.top, rows, column: first, columns: job.diagonal ? rows : width };
    const words = this.#kernel.words;
    const at = (base: number, i: number) => base / 4 + (row + box.top + i) * stride + column + box.left;
    for (let i = 0; i < rows; i++) {
      const from = at(this.#saved, i);
      words.set(words.subarray(from, from + width), this.#scalar.state / 4 + i * width);
    }
    this.#scalar.run({ ...job, ...part });
    for (let i = 0; i < rows; i++) {
      const from = this.#scalar.state / 4 + i * width;
      words.set(words.subarray(from, from + width), at(this.state, i));
    }
  }

  rarePaths(): Readonly<Record<string, number>> {
    return {
      'non-finite operands': this.#nonFinite,
      'addend out of range': this.#addends,
      'window out of range': this.#rangeSteps,
    };
  }
}
