import {
  type Engine,
  type MmaOp,
  type OpenOptions,
  type Session,
  type Support,
  UnsupportedError,
} from '@bitmma/core';
import { GlContext, unavailable } from './context.js';
import { unsupportedReason } from './kernel.js';
import { DEFAULT_LIMITS, type Limits } from './runner.js';
import { FLOAT_OPERATIONS, type FloatOperation, selfTest } from './self-test.js';
import { KERNEL, WebglSession } from './session.js';

export interface WebglOptions {
  /** Smaller textures and windows than usual. */
  readonly limits?: Partial<Limits>;
  /** Operations that the device must compute exactly before it is used. */
  readonly operations?: readonly FloatOperation[];
}

/** The WebGL engine, with what its context holds. */
export interface WebglEngine extends Engine {
  /** headlessgl or webgl2. */
  readonly mode: string;
  /** The context, to watch or to lose. */
  readonly context: WebGLRenderingContext | null;
  /** Kernels and textures alive now. */
  memory(): { readonly kernels: number; readonly textures: number };
  close(): Promise<void>;
}

async function openContext(options: WebglOptions): Promise<GlContext> {
  const context = await GlContext.open();
  let failed: string | null;
  try {
    failed = selfTest(context, options.operations ?? FLOAT_OPERATIONS);
  } catch (error) {
    await context.close();
    throw unavailable(
      `the self-test did not run: ${(error as Error).message}`,
      'use another device or engine',
    );
  }
  if (failed !== null) {
    await context.close();
    throw unavailable(`${context.name} fails its self-test at ${failed}`, 'use another device or engine');
  }
  return context;
}

class Webgl implements WebglEngine {
  readonly id = 'webgl';
  readonly lineage = 'gpu.js-float-limbs';
  readonly placement = 'process';

  constructor(
    private current: GlContext,
    private readonly options: WebglOptions,
  ) {}

  get mode(): string {
    return this.current.name;
  }

  get context(): WebGLRenderingContext | null {
    return this.current.context;
  }

  memory(): { kernels: number; textures: number } {
    return { ...this.current.live };
  }

  supports(op: MmaOp): Support {
    const reason = unsupportedReason(op);
    return reason === null ? { ok: true, kernels: [KERNEL] } : { ok: false, reason };
  }

  async open(op: MmaOp, options: OpenOptions = {}): Promise<Session> {
    const reason = unsupportedReason(op);
    if (reason !== null)
      throw new UnsupportedError(`webgl does not run ${op.device} ${op.instruction}: ${reason}`);
    if (options.kernel !== undefined && options.kernel !== KERNEL)
      throw new UnsupportedError(`webgl has the kernel ${KERNEL}, got ${options.kernel}`);
    if (this.current.lost) this.current = await openContext(this.options);
    return new WebglSession(op, this.current, { ...DEFAULT_LIMITS, ...this.options.limits }, options);
  }

  async close(): Promise<void> {
    await this.current.close();
  }
}

/**
 * Opens a WebGL context through gpu.js, tests its float32 arithmetic and gives the engine: headless gl in Node, WebGL2
 * in a browser.
 * @throws EngineUnavailableError: no gl, no context, or the operation that the device gets wrong.
 */
export async function webglEngine(options: WebglOptions = {}): Promise<WebglEngine> {
  return new Webgl(await openContext(options), options);
}
