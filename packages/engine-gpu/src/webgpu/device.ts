import { hostGpu, USAGE, unavailable } from './gpu.js';
import { OPERATIONS, type Operation, selfTest } from './self-test.js';

export interface DeviceOptions {
  /** Another host object than `navigator.gpu` or Dawn's. */
  readonly gpu?: GPU;
  /** Bytes of the largest buffer to use, at most the device's own limit. */
  readonly maxBufferBytes?: number;
  /** Whether to compile for a software renderer; default by the adapter's name. */
  readonly software?: boolean;
  /** Operations that the device must compute exactly before it is used. */
  readonly operations?: readonly Operation[];
}

/** A GPU device that passed its self-test, and what lives on it. */
export class Device {
  /** Live buffers and their bytes. */
  readonly live = { buffers: 0, bytes: 0 };
  #lost: string | null = null;

  private constructor(
    readonly gpu: GPUDevice,
    readonly name: string,
    readonly maxBufferBytes: number,
    readonly workgroupMemory: number,
    readonly software: boolean,
  ) {
    gpu.lost.then((info) => {
      this.#lost = info.message || info.reason || 'unknown reason';
    });
  }

  /**
   * Opens the adapter's device and tests it.
   * @throws EngineUnavailableError: no adapter, no device, or the operation that came out wrong.
   */
  static async open(options: DeviceOptions): Promise<Device> {
    const gpu = options.gpu ?? (await hostGpu());
    const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
    if (!adapter)
      throw unavailable(
        'no WebGPU adapter was found',
        'install a Vulkan, Metal or D3D12 driver; for a software one set VK_ICD_FILENAMES to a vk_swiftshader_icd.json',
      );
    const { limits, info } = adapter;
    const requiredLimits = {
      maxBufferSize: limits.maxBufferSize,
      maxStorageBufferBindingSize: limits.maxStorageBufferBindingSize,
      maxComputeWorkgroupStorageSize: limits.maxComputeWorkgroupStorageSize,
    };
    const device = await adapter.requestDevice({ requiredLimits }).catch((error: Error) => {
      throw unavailable(
        `the adapter gave no device: ${error.message}`,
        'close other users of the GPU and retry',
      );
    });
    const name =
      [info?.vendor, info?.architecture, info?.description].filter(Boolean).join(' ') || 'unnamed adapter';
    const most = Math.min(limits.maxBufferSize, limits.maxStorageBufferBindingSize, 2 ** 31);
    const wrapped = new Device(
      device,
      name,
      Math.min(most, options.maxBufferBytes ?? most),
      limits.maxComputeWorkgroupStorageSize,
      options.software ?? /swiftshader|lavapipe|llvmpipe|warp/i.test(name),
    );
    try {
      const failed = await selfTest(device, options.operations ?? OPERATIONS);
      if (failed !== null)
        throw unavailable(
          `${name} fails its self-test at ${failed}`,
          'use another adapter or another engine',
        );
    } catch (error) {
      device.destroy();
      throw error;
    }
    return wrapped;
  }

  get lost(): string | null {
    return this.#lost;
  }

  /** @throws EngineUnavailableError once the device is lost. */
  check(): void {
    if (this.#lost !== null) throw this.lostError();
  }

  lostError(): Error {
    return unavailable(`the device was lost: ${this.#lost}`, 'open a new session, it asks for a new device');
  }

  /** A buffer counted as live until `release`. */
  create(bytes: number, usage: number): GPUBuffer {
    const buffer = this.gpu.createBuffer({ size: Math.max(16, Math.ceil(bytes / 16) * 16), usage });
    this.live.buffers++;
    this.live.bytes += buffer.size;
    return buffer;
  }

  release(buffer: GPUBuffer): void {
    this.live.buffers--;
    this.live.bytes -= buffer.size;
    buffer.destroy();
  }

  /** A read-only storage buffer holding the words. */
  upload(words: Uint32Array<ArrayBuffer>): GPUBuffer {
    const buffer = this.create(words.byteLength, USAGE.STORAGE | USAGE.COPY_DST);
    this.gpu.queue.writeBuffer(buffer, 0, words);
    return buffer;
  }

  /**
   * Runs `work`, which creates buffers and submits, at once: its error scopes enclose nothing else. Rejects where the
   * device had no memory for it or was lost. Buffers that `work` made are the caller's to release.
   */
  async guarded<T>(what: string, work: () => T): Promise<T> {
    this.check();
    this.gpu.pushErrorScope('validation');
    this.gpu.pushErrorScope('out-of-memory');
    let done: { readonly value: T } | { readonly thrown: unknown };
    try {
      done = { value: work() };
    } catch (thrown) {
      done = { thrown };
    }
    const [memory, invalid] = await Promise.all([this.gpu.popErrorScope(), this.gpu.popErrorScope()]).catch(
      () => {
        this.check();
        return [null, null];
      },
    );
    this.check();
    if (memory)
      throw unavailable(
        `the device has no memory for ${what}: ${memory.message}`,
        'use smaller tiles or close sessions',
      );
    if ('thrown' in done) throw done.thrown;
    if (invalid)
      throw unavailable(
        `the device refused ${what}: ${invalid.message}`,
        'use another adapter or another engine',
      );
    return done.value;
  }

  close(): void {
    this.gpu.destroy();
  }
}
