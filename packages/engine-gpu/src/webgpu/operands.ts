import { FORMATS, type Inputs, type MmaOp, scaleWordCount, sparseWordCount } from '@bitmma/core';
import {
  columnsOfB,
  type LaneRange,
  type LaneView,
  packLanes,
  packMasks,
  paddedLanes,
  rowsOfA,
  splitLanes,
} from '../host/lanes.js';
import type { Device } from './device.js';

/** Lanes of one operand on the device, and what travels with them. */
export interface Band extends LaneRange {
  readonly quads: number;
  readonly words: GPUBuffer;
  readonly scales: GPUBuffer | null;
  readonly masks: GPUBuffer | null;
}

export interface OperandSource {
  readonly view: LaneView;
  readonly bits: number;
  readonly scales: LaneView | null;
  readonly masks: LaneView | null;
}

/** Uploads lanes of one operand. */
export function uploadBand(
  device: Device,
  op: MmaOp,
  source: OperandSource,
  range: LaneRange,
  k: number,
): Band {
  const made: GPUBuffer[] = [];
  const upload = (words: Uint32Array<ArrayBuffer>): GPUBuffer => {
    const buffer = device.upload(words);
    made.push(buffer);
    return buffer;
  };
  try {
    return {
      ...range,
      quads: paddedLanes(range) / 4,
      words: upload(packLanes(source.view, range, k, source.bits)),
      scales: source.scales && upload(packLanes(source.scales, range, scaleWordCount(op, k), 32)),
      masks: source.masks && upload(packMasks(op, source.masks, range, k)),
    };
  } catch (error) {
    for (const buffer of made) device.release(buffer);
    throw error;
  }
}

export function releaseBand(device: Device, band: Band): void {
  for (const buffer of [band.words, band.scales, band.masks]) if (buffer) device.release(buffer);
}

/** Lanes whose largest packed array fits a buffer. */
export function lanesPerBuffer(op: MmaOp, bits: number, k: number, bytes: number): number {
  const words = Math.max(
    1,
    Math.ceil((k * bits) / 32),
    scaleWordCount(op, k),
    op.sparsity ? Math.ceil(k / 32) : 0,
  );
  return Math.max(4, Math.floor(bytes / 4 / words));
}

export const sourceOfA = (op: MmaOp, inputs: Inputs): OperandSource => ({
  view: rowsOfA(inputs.a),
  bits: FORMATS[op.a].wordBits,
  scales: inputs.scaleA ? rowsOfA(inputs.scaleA) : null,
  masks: inputs.sparse ? rowsOfA(inputs.sparse) : null,
});

export const sourceOfB = (op: MmaOp, inputs: Inputs): OperandSource => ({
  view: columnsOfB(inputs.b),
  bits: FORMATS[op.b].wordBits,
  scales: inputs.scaleB ? columnsOfB(inputs.scaleB) : null,
  masks: null,
});

/** A and B of one GEMM on the device, in bands of lanes that each fit a buffer. */
export class DeviceOperands {
  private constructor(
    private readonly device: Device,
    readonly a: readonly Band[],
    readonly b: readonly Band[],
  ) {}

  static async load(device: Device, op: MmaOp, inputs: Inputs): Promise<DeviceOperands> {
    const a: Band[] = [];
    const b: Band[] = [];
    const all = new DeviceOperands(device, a, b);
    const { m, n, k } = inputs;
    try {
      await device.guarded(`operands of ${m} x ${n} x ${k}`, () => {
        for (const [into, source, lanes] of [
          [a, sourceOfA(op, inputs), m],
          [b, sourceOfB(op, inputs), n],
        ] as const)
          for (const range of splitLanes(0, lanes, lanesPerBuffer(op, source.bits, k, device.maxBufferBytes)))
            into.push(uploadBand(device, op, source, range, k));
      });
    } catch (error) {
      all.release();
      throw error;
    }
    return all;
  }

  release(): void {
    for (const band of [...this.a, ...this.b]) releaseBand(this.device, band);
  }
}

/** Metadata words a case of a batch has. */
export const metadataWords = (op: MmaOp, k: number): number =>
  op.sparsity ? sparseWordCount(op.sparsity, k) : 0;
