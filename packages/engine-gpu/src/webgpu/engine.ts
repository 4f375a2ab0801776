import {
  type Engine,
  type MmaOp,
  type OpenOptions,
  type Session,
  type Support,
  UnsupportedError,
} from '@bitmma/core';
import { Device, type DeviceOptions } from './device.js';
import { unsupportedReason } from './plan.js';
import { KERNEL, type Shelf, WebgpuSession } from './session.js';

/** The WebGPU engine, with what its device holds. */
export interface WebgpuEngine extends Engine {
  /** The adapter's name. */
  readonly device: string;
  /** Buffers alive on the device now. */
  memory(): { readonly buffers: number; readonly bytes: number };
  /** Gives the device back; sessions of this engine end. */
  close(): void;
}

class Webgpu implements WebgpuEngine {
  readonly id = 'webgpu';
  readonly lineage = 'wgsl-two-limb';
  readonly placement = 'process';
  readonly #shelf: Shelf = new Map();

  constructor(
    private current: Device,
    private readonly options: DeviceOptions,
  ) {}

  get device(): string {
    return this.current.name;
  }

  memory(): { buffers: number; bytes: number } {
    return { ...this.current.live };
  }

  supports(op: MmaOp): Support {
    const reason = unsupportedReason(op);
    return reason === null ? { ok: true, kernels: [KERNEL] } : { ok: false, reason };
  }

  async open(op: MmaOp, options: OpenOptions = {}): Promise<Session> {
    const reason = unsupportedReason(op);
    if (reason !== null)
      throw new UnsupportedError(`webgpu does not run ${op.device} ${op.instruction}: ${reason}`);
    if (options.kernel !== undefined && options.kernel !== KERNEL)
      throw new UnsupportedError(`webgpu has the kernel ${KERNEL}, got ${options.kernel}`);
    if (this.current.lost !== null) {
      this.#shelf.clear();
      this.current = await Device.open(this.options);
    }
    return new WebgpuSession(op, this.current, this.#shelf, options);
  }

  close(): void {
    this.current.close();
  }
}

/**
 * Opens the GPU's WebGPU device, tests its integer arithmetic and gives the engine: in Node through Dawn, in a
 * browser through `navigator.gpu`.
 * @throws EngineUnavailableError: no WebGPU, no adapter, no device, or the operation that the device gets wrong.
 */
export async function webgpuEngine(options: DeviceOptions = {}): Promise<WebgpuEngine> {
  return new Webgpu(await Device.open(options), options);
}
