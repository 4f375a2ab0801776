import {
  type Engine,
  type MmaOp,
  type OpenOptions,
  type Session,
  type Support,
  UnsupportedError,
} from '@bitmma/core';
import { hostKernels, type KernelName, kernelOf } from './module.js';
import { ruleOf } from './rules.js';
import { ScalarRunner } from './scalar-runner.js';
import { WasmSession } from './session.js';
import { simdPlan } from './simd-plan.js';
import { SimdRunner } from './simd-runner.js';

/** Kernel that the environment forces, in Node. */
const forced = (): string | undefined => globalThis.process?.env?.BITMMA_KERNEL;

class WasmEngine implements Engine {
  readonly id = 'wasm';
  readonly lineage = 'assemblyscript';
  readonly placement = 'worker';

  constructor(private readonly host: readonly KernelName[]) {}

  supports(op: MmaOp): Support {
    const rule = ruleOf(op);
    if (typeof rule === 'string') return { ok: false, reason: rule };
    return { ok: true, kernels: this.#kernels(op) };
  }

  /** Kernels of an op, the fastest first. */
  #kernels(op: MmaOp): readonly KernelName[] {
    return this.host.filter((name) => name === 'scalar' || simdPlan(op) !== null);
  }

  async open(op: MmaOp, options: OpenOptions = {}): Promise<Session> {
    const rule = ruleOf(op);
    if (typeof rule === 'string') throw new UnsupportedError(`engine wasm: ${op.instruction}: ${rule}`);
    const kernels = this.#kernels(op);
    const name = options.kernel ?? forced() ?? kernels[0];
    const kernel = kernels.find((candidate) => candidate === name);
    if (!kernel)
      throw new UnsupportedError(
        `engine wasm: ${op.instruction}: expected a kernel of ${kernels.join(', ')}, got ${name}`,
      );
    const module = await kernelOf(kernel);
    const plan = kernel === 'simd' ? simdPlan(op) : null;
    const runner = plan ? new SimdRunner(op, rule, plan, module) : new ScalarRunner(op, rule, module);
    return new WasmSession(op, kernel, module, runner, options.signal);
  }
}

/**
 * The WebAssembly engine of this thread: every op of the catalog on kernel `scalar`, the hot families on `simd` where
 * the host has WebAssembly SIMD.
 * @throws EngineUnavailableError where the host has no WebAssembly.
 */
export async function wasmEngine(): Promise<Engine> {
  return new WasmEngine(await hostKernels());
}
