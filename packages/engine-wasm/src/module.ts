import { EngineUnavailableError } from '@bitmma/core';
import { simd as hostHasSimd } from 'wasm-feature-detect';
import { SCALAR } from './generated/scalar.js';
import { SIMD } from './generated/simd.js';

export type KernelName = 'simd' | 'scalar';

const MODULES: Readonly<Record<KernelName, string>> = { simd: SIMD, scalar: SCALAR };
const PAGE = 65536;

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** One instance of a module in this thread: its functions, globals and memory. */
export class Kernel {
  readonly #globals = new Map<string, WebAssembly.Global>();
  readonly #functions = new Map<string, (...args: number[]) => number>();
  readonly #memory: WebAssembly.Memory;
  readonly base: number;
  bytes: Uint8Array<ArrayBuffer>;
  words: Uint32Array<ArrayBuffer>;

  constructor(
    readonly name: KernelName,
    instance: WebAssembly.Instance,
  ) {
    for (const [key, value] of Object.entries(instance.exports)) {
      if (value instanceof WebAssembly.Global) this.#globals.set(key, value);
      else if (typeof value === 'function') this.#functions.set(key, value as (...args: number[]) => number);
    }
    this.#memory = instance.exports.memory as WebAssembly.Memory;
    // 64-byte lines: the kernels' 16-byte loads never split one.
    this.base = (this.call('heapBase') + 63) & ~63;
    this.bytes = new Uint8Array(this.#memory.buffer as ArrayBuffer);
    this.words = new Uint32Array(this.#memory.buffer as ArrayBuffer);
  }

  /** Sets a mutable global; the names are checked, so that host and module cannot drift apart. */
  set(name: string, value: number | bigint): void {
    const global = this.#globals.get(name);
    if (!global) throw new TypeError(`the ${this.name} module has no global ${name}`);
    global.value = value;
  }

  get(name: string): number {
    const global = this.#globals.get(name);
    if (!global) throw new TypeError(`the ${this.name} module has no global ${name}`);
    return Number(global.value);
  }

  call(name: string, ...args: number[]): number {
    const f = this.#functions.get(name);
    if (!f) throw new TypeError(`the ${this.name} module has no function ${name}`);
    return f(...args);
  }

  has(name: string): boolean {
    return this.#functions.has(name);
  }

  /** Makes `size` bytes above base usable; the views change where memory grows. */
  reserve(size: number): void {
    const missing = this.base + size - this.bytes.length;
    if (missing <= 0) return;
    try {
      this.#memory.grow(Math.ceil(missing / PAGE));
    } catch (cause) {
      throw new EngineUnavailableError(
        'wasm',
        `no ${Math.ceil((this.base + size) / 2 ** 20)} MiB of WebAssembly memory: ${(cause as Error).message}`,
        'run smaller tiles or free memory',
      );
    }
    this.bytes = new Uint8Array(this.#memory.buffer as ArrayBuffer);
    this.words = new Uint32Array(this.#memory.buffer as ArrayBuffer);
  }
}

const kernels = new Map<KernelName, Promise<Kernel>>();

/** This thread's instance of a module, made once. */
export function kernelOf(name: KernelName): Promise<Kernel> {
  let kernel = kernels.get(name);
  if (!kernel) {
    kernel = WebAssembly.instantiate(bytesOf(MODULES[name]), {}).then(
      ({ instance }) => new Kernel(name, instance),
    );
    kernels.set(name, kernel);
  }
  return kernel;
}

/** Kernels that this host can run. @throws EngineUnavailableError where WebAssembly itself is missing. */
export async function hostKernels(): Promise<readonly KernelName[]> {
  if (typeof WebAssembly !== 'object')
    throw new EngineUnavailableError('wasm', 'the host has no WebAssembly', 'use the reference engine');
  return (await hostHasSimd()) ? ['simd', 'scalar'] : ['scalar'];
}

/** Size of a module in bytes. */
export const moduleBytes = (name: KernelName): number => bytesOf(MODULES[name]).length;
