import { EngineUnavailableError } from '@bitmma/core';
import type { NativeFunction } from './glsl.js';

export const unavailable = (reason: string, remedy: string): EngineUnavailableError =>
  new EngineUnavailableError('webgl', reason, remedy);

/** What this engine uses of a gpu.js texture. */
export interface Texture {
  readonly size: readonly [number, number];
  renderRawOutput(): Float32Array;
  delete(): void;
}

interface RawKernel {
  (...values: unknown[]): Texture;
  setOutput(output: readonly number[]): RawKernel;
  destroy(removeCanvas?: boolean): void;
}

interface RawGpu {
  readonly context: WebGLRenderingContext | null;
  createKernel(source: string, settings: Record<string, unknown>): RawKernel;
  destroy(): Promise<void>;
}

interface GpuModule {
  GPU: {
    new (settings: { mode: string; context?: unknown; canvas?: unknown }): RawGpu;
    readonly isHeadlessGLSupported: boolean;
    readonly isWebGL2Supported: boolean;
    readonly isSinglePrecisionSupported: boolean;
  };
  input(values: Float32Array, size: readonly number[]): unknown;
}

export interface KernelParts {
  readonly source: string;
  readonly injected: string;
  readonly functions: readonly NativeFunction[];
}

export interface Kernel {
  /** One texture of four numbers a thread; the caller deletes it. */
  run(output: readonly [number, number], values: readonly unknown[]): Texture;
  destroy(): void;
}

const isNode = typeof process !== 'undefined' && !!process.versions?.node;

async function loadGpu(): Promise<GpuModule> {
  const loaded = (await import('gpu.js')) as unknown as GpuModule & { default?: GpuModule };
  return loaded.GPU ? loaded : (loaded.default as GpuModule);
}

/** Why headless gl does not load, for its own message is lost inside gpu.js. */
async function headlessFault(): Promise<string | null> {
  const name = 'gl';
  try {
    const loaded = (await import(/* @vite-ignore */ name)) as {
      default(width: number, height: number): object | null;
    };
    return loaded.default(1, 1) ? null : 'it gives no context without an X server';
  } catch (error) {
    return (error as Error).message.split('\n')[0];
  }
}

/** One WebGL context through gpu.js. */
export class GlContext {
  readonly live = { kernels: 0, textures: 0 };

  private constructor(
    private readonly module: GpuModule,
    private readonly gpu: RawGpu,
    readonly name: string,
  ) {}

  /** @throws EngineUnavailableError */
  static async open(): Promise<GlContext> {
    if (isNode) {
      const fault = await headlessFault();
      if (fault !== null)
        throw unavailable(
          `headless gl does not start: ${fault}`,
          process.platform === 'linux'
            ? 'run under xvfb-run -a; to build gl install libxi-dev, pkg-config and build-essential, then pnpm rebuild gl'
            : 'rebuild it with pnpm rebuild gl',
        );
    }
    const module = await loadGpu();
    const mode = isNode ? 'headlessgl' : 'webgl2';
    if (isNode ? !module.GPU.isHeadlessGLSupported : !module.GPU.isWebGL2Supported)
      throw unavailable(`gpu.js finds no ${mode}`, 'use a browser with WebGL2 or another engine');
    if (!module.GPU.isSinglePrecisionSupported)
      throw unavailable('the device renders to no float textures', 'use another device or engine');
    return new GlContext(module, new module.GPU({ mode }), mode);
  }

  get context(): WebGLRenderingContext | null {
    return this.gpu.context;
  }

  get lost(): boolean {
    return this.context?.isContextLost() ?? false;
  }

  /** @throws EngineUnavailableError where the context was lost or ran out of memory. */
  check(what: string): void {
    if (this.lost)
      throw unavailable('the WebGL context was lost', 'open a new session, it makes a new context');
    const error = this.context?.getError() ?? 0;
    if (error === 0x505)
      throw unavailable(`the device has no memory for ${what}`, 'use smaller tiles or close sessions');
    if (error !== 0)
      throw unavailable(`WebGL error 0x${error.toString(16)} in ${what}`, 'use another device or engine');
  }

  input(values: Float32Array, size: readonly number[]): unknown {
    return this.module.input(values, size);
  }

  /** Compiles a kernel that returns four numbers a thread. */
  kernel(parts: KernelParts): Kernel {
    const raw = this.gpu.createKernel(parts.source, {
      nativeFunctions: parts.functions.map(({ name, source }) => ({ name, source })),
      injectedNative: parts.injected,
      precision: 'single',
      tactic: 'precision',
      returnType: 'Array(4)',
      output: [1, 1],
      pipeline: true,
      immutable: true,
      dynamicOutput: true,
      dynamicArguments: true,
      // A loop over an argument stops silently at this count; 2^22 is beyond every chain in one texture.
      loopMaxIterations: 2 ** 22,
    });
    this.live.kernels++;
    return {
      run: (output, values) => {
        const texture = raw.setOutput(output)(...values);
        this.live.textures++;
        return texture;
      },
      destroy: () => {
        this.live.kernels--;
        raw.destroy();
      },
    };
  }

  /** A texture's numbers, four a thread, in thread order; the texture is deleted. */
  read(texture: Texture): Float32Array {
    try {
      return texture.renderRawOutput();
    } finally {
      this.free(texture);
    }
  }

  free(texture: Texture): void {
    this.live.textures--;
    texture.delete();
  }

  async close(): Promise<void> {
    await this.gpu.destroy();
  }
}
