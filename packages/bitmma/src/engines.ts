import {
  BitmmaError,
  type Engine,
  type EngineEntry,
  EngineRegistry,
  EngineUnavailableError,
  type MmaOp,
  UnknownNameError,
  UnsupportedError,
} from '@bitmma/core';
import { referenceEngine } from '@bitmma/core/reference';
import type { Listener } from './events.js';

/** An engine in a package of its own, loaded when it is asked for. */
const optional = (id: string, about: string, name: string, factory: string, remedy: string): EngineEntry => ({
  id,
  about,
  async create() {
    const unavailable = (reason: string) => new EngineUnavailableError(id, reason, remedy);
    let module: Record<string, unknown>;
    try {
      module = await import(`@bitmma/${name}`);
    } catch (error) {
      throw unavailable(firstLine(error));
    }
    const make = module[factory];
    if (typeof make !== 'function') throw unavailable(`@bitmma/${name} exports no ${factory}`);
    try {
      return (await make()) as Engine;
    } catch (error) {
      throw error instanceof BitmmaError ? error : unavailable(firstLine(error));
    }
  },
});

/** Every engine. The engines of other packages are optional: one that is absent says its remedy in one line. */
export const ENGINES = new EngineRegistry([
  { id: 'reference', about: 'TypeScript integers, every op', create: async () => referenceEngine() },
  optional(
    'native',
    'Rust through Node-API',
    'engine-native',
    'nativeEngine',
    'install Rust and build packages/engine-native',
  ),
  optional('wasm', 'WebAssembly SIMD', 'engine-wasm', 'wasmEngine', 'build packages/engine-wasm'),
  optional(
    'webgl',
    'gpu.js on WebGL',
    'engine-gpu',
    'webglEngine',
    'build packages/engine-gpu and run under an X server (xvfb-run -a)',
  ),
  optional(
    'webgpu',
    'WGSL compute',
    'engine-gpu',
    'webgpuEngine',
    'build packages/engine-gpu on a machine with a WebGPU adapter',
  ),
  optional(
    'cuda',
    'an NVIDIA GPU itself',
    'hw-runner',
    'cudaEngine',
    'build packages/hw-runner (needs Rust) on a machine with an NVIDIA GPU and its driver',
  ),
  optional(
    'hip',
    'an AMD GPU itself',
    'hw-runner',
    'hipEngine',
    'build packages/hw-runner (needs Rust) on a machine with an AMD GPU and its driver',
  ),
]);

/** What `auto` tries, in order; GPU engines and hardware are asked for by name. */
const AUTO = ['native', 'wasm', 'reference'] as const;

export const ENGINE_IDS: readonly string[] = ENGINES.ids;

/**
 * The engine for an op. `auto` (and no BITMMA_ENGINE) takes the first available one that supports it and notes the
 * ones left out; a named engine that cannot is an error, never a quiet replacement.
 */
export async function chooseEngine(name: string | undefined, op: MmaOp, listen: Listener): Promise<Engine> {
  const wanted = name ?? process.env.BITMMA_ENGINE ?? 'auto';
  if (wanted !== 'auto') return namedEngine(wanted, op);
  for (const id of AUTO) {
    try {
      const engine = await ENGINES.open(id);
      const support = engine.supports(op);
      if (support.ok) return engine;
      listen({ kind: 'note', message: `engine ${id} left out: ${support.reason}` });
    } catch (error) {
      if (!(error instanceof EngineUnavailableError)) throw error;
      listen({ kind: 'note', message: error.message });
    }
  }
  throw new UnsupportedError(`no engine supports ${op.instruction} of ${op.device}`);
}

async function namedEngine(id: string, op: MmaOp): Promise<Engine> {
  if (!ENGINE_IDS.includes(id))
    throw new UnknownNameError(
      `engine: expected one of auto, ${ENGINE_IDS.join(', ')}, got ${id}`,
      ENGINE_IDS,
    );
  const engine = await ENGINES.open(id);
  const support = engine.supports(op);
  if (!support.ok)
    throw new UnsupportedError(
      `engine ${id} does not support ${op.instruction} of ${op.device}: ${support.reason}`,
    );
  return engine;
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return /Cannot find (package|module)/.test(text)
    ? 'its package is not built or installed'
    : text.split('\n')[0]!;
}
