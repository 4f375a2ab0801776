import { type Engine, findOp } from '@bitmma/core';
import { campaignsFor, generateCases, runSuite } from '@bitmma/core/conformance';
import { referenceEngine } from '@bitmma/core/reference';
import { OPERATIONS, webglEngine, webgpuEngine } from '../../src/index.js';
import { inputsOf, runTiles } from '../gemm.js';
import { poolSet } from '../pools.js';

/** What the test drives in the page; plain data in and out. */
export interface Page {
  /** null, or why the engine is not available. */
  open(name: 'webgl' | 'webgpu'): Promise<string | null>;
  conformance(
    name: 'webgl' | 'webgpu',
    device: string,
    instruction: string,
    count: number,
  ): Promise<{
    passed: number;
    failed: number;
    skipped: number;
    mismatches: unknown[];
    reason: string | null;
  }>;
  /** d of a small GEMM on the engine and on the reference. */
  gemm(
    name: 'webgl' | 'webgpu',
    device: string,
    instruction: string,
  ): Promise<{ got: number[]; expected: number[] }>;
  /** Loses the context or device; the message of the next use, and whether a new session then works. */
  lose(name: 'webgl' | 'webgpu'): Promise<{ message: string; again: string | null }>;
  /** The message of an engine whose device gets one operation wrong. */
  wrong(operation: string): Promise<string>;
}

const engines = new Map<string, Engine>();
const devices: GPUDevice[] = [];

/** navigator.gpu, its devices kept so that they can be lost. */
function watchedGpu(): GPU {
  const { gpu } = navigator;
  return {
    requestAdapter: async (options?: GPURequestAdapterOptions) => {
      const adapter = await gpu.requestAdapter(options);
      if (!adapter) return null;
      const request = adapter.requestDevice.bind(adapter);
      adapter.requestDevice = async (descriptor) => {
        const device = await request(descriptor);
        devices.push(device);
        return device;
      };
      return adapter;
    },
  } as GPU;
}

const conformance = async (engine: Engine, device: string, instruction: string, count: number) => {
  const op = findOp(device, instruction);
  const sets = [
    ...campaignsFor(op).map((campaign) => generateCases(op, campaign, { seed: 11, count })),
    poolSet(op, count * 8, 11),
  ];
  const { passed, failed, skipped, ops } = await runSuite(sets, {
    engine,
    against: referenceEngine(),
    keep: 2,
  });
  return { passed, failed, skipped, mismatches: [...ops[0].mismatches], reason: ops[0].reason ?? null };
};

const page: Page = {
  async open(name) {
    try {
      engines.set(
        name,
        name === 'webgl'
          ? await webglEngine()
          : await webgpuEngine(navigator.gpu ? { gpu: watchedGpu() } : {}),
      );
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  },
  conformance: (name, device, instruction, count) =>
    conformance(engines.get(name)!, device, instruction, count),
  async gemm(name, device, instruction) {
    const op = findOp(device, instruction);
    const inputs = inputsOf(op, 21, 37, op.k * 2, 3);
    const job = [{ m0: 1, m1: 21, n0: 0, n1: 37, chain: [{ k0: 0, k1: inputs.k }] }];
    const [got, expected] = await Promise.all(
      [engines.get(name)!, referenceEngine()].map((engine) => runTiles(engine, op, inputs, null, job)),
    );
    return { got: [...got], expected: [...expected] };
  },
  async lose(name) {
    const engine = engines.get(name)!;
    const op = findOp('h100', 'mma.sync.m16n8k16.f32.f16.f16.f32');
    const inputs = inputsOf(op, 4, 4, 16, 1);
    const words = new Uint32Array(16);
    const tile = {
      m0: 0,
      m1: 4,
      n0: 0,
      n1: 4,
      chain: [{ k0: 0, k1: 16 }],
      d: { format: 'fp32' as const, words, offset: 0, rowStride: 4, colStride: 1 },
    };
    const session = await engine.open(op);
    const loaded = await session.load(inputs);
    await session.tile(loaded, tile);
    await session.settle();
    if (name === 'webgpu') devices.at(-1)!.destroy();
    else
      (engine as Awaited<ReturnType<typeof webglEngine>>)
        .context!.getExtension('WEBGL_lose_context')!
        .loseContext();
    await new Promise((resolve) => setTimeout(resolve, 50));
    let message = 'no error';
    try {
      await session.tile(loaded, tile);
      await session.settle();
    } catch (error) {
      message = `${(error as Error).constructor.name}: ${(error as Error).message}`;
    }
    loaded.release();
    await session.close();
    try {
      const after = await conformance(engine, 'h100', 'mma.sync.m16n8k16.f32.f16.f16.f32', 8);
      return { message, again: after.failed === 0 && after.passed > 0 ? null : JSON.stringify(after) };
    } catch (error) {
      return { message, again: (error as Error).message };
    }
  },
  async wrong(operation) {
    const operations = OPERATIONS.map((other) =>
      other.name === operation ? { ...other, wgsl: `((${other.wgsl}) ^ 1u)` } : other,
    );
    return webgpuEngine({ operations }).then(
      () => 'no error',
      (error: Error) => error.message,
    );
  },
};

(globalThis as { bitmma?: Page }).bitmma = page;
