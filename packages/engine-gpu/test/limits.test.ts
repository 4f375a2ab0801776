import { type Engine, EngineUnavailableError, findOp, type MmaOp } from '@bitmma/core';
import { referenceEngine } from '@bitmma/core/reference';
import { afterAll, describe, expect, it } from 'vitest';
import { webglEngine, webgpuEngine } from '../src/index.js';
import { inputsOf, operand, random, runTiles } from './gemm.js';
import { attempt } from './hosts/available.js';

/** A 512 x 4096 FP8 operand is 2 MiB: it takes several buffers or textures. */
const webgpu = await attempt(() => webgpuEngine({ maxBufferBytes: 2 ** 19 }));
const webgl = await attempt(() =>
  webglEngine({ limits: { textureElements: 2 ** 19, windowCells: 2 ** 16 } }),
);
afterAll(async () => {
  webgpu.engine?.close();
  await webgl.engine?.close();
});

/** Cells of a large result, checked one by one: the corners, the seams of tiles and some others. */
async function checkCells(
  engine: Engine,
  op: MmaOp,
  m: number,
  n: number,
  k: number,
  count: number,
): Promise<void> {
  const inputs = inputsOf(op, m, n, k, 77);
  const chain = [{ k0: 0, k1: k }];
  const got = await runTiles(engine, op, inputs, null, [{ m0: 0, m1: m, n0: 0, n1: n, chain }]);
  const next = random(5);
  const cells = [
    [0, 0],
    [m - 1, n - 1],
    [m - 1, 0],
    [0, n - 1],
    [m >> 1, n >> 1],
    [255, 256],
    [256, 255],
  ];
  while (cells.length < count) cells.push([next() % m, next() % n]);
  for (const [i, j] of cells) {
    const job = { m0: i, m1: i + 1, n0: j, n1: j + 1, chain };
    const one = await runTiles(referenceEngine(), op, inputs, null, [job]);
    expect(got[j * m + i], `row ${i}, column ${j}`).toBe(one[j * m + i]);
  }
}

describe.skipIf(!webgpu.engine)(`webgpu limits${webgpu.why}`, () => {
  it('tiles 512 x 509 x 4096 over buffers', async () => {
    const op = findOp('a100', 'mma.sync.m16n8k32.s32.s8.s8.s32');
    await checkCells(webgpu.engine!, op, 512, 509, 4096, 24);
  }, 900_000);

  it('holds nothing after 200 jobs', async () => {
    const engine = webgpu.engine!;
    const op = findOp('mi100', 'v_mfma_i32_32x32x8i8');
    for (let i = 0; i < 200; i++) {
      const inputs = inputsOf(op, 4 + (i % 5), 7, 16, i + 1);
      await runTiles(engine, op, inputs, null, [
        { m0: 0, m1: inputs.m, n0: 0, n1: 7, chain: [{ k0: 0, k1: 16 }] },
      ]);
      expect(engine.memory()).toEqual({ buffers: 0, bytes: 0 });
    }
  });

  it('says that memory is exhausted, gives everything back and goes on', async () => {
    let device: GPUDevice | undefined;
    const gpu = await watchedGpu((made) => {
      device = made;
    });
    const engine = await webgpuEngine({ gpu });
    const op = findOp('mi100', 'v_mfma_i32_32x32x8i8');
    const inputs = inputsOf(op, 8, 8, 16, 3);
    const job = { m0: 0, m1: 8, n0: 0, n1: 8, chain: [{ k0: 0, k1: 16 }] };
    const c = operand('s32', 8, 8, false, random(2));
    const expected = await runTiles(referenceEngine(), op, inputs, c, [job]);
    const scopes: string[] = [];
    const { pushErrorScope, popErrorScope } = device!;
    device!.pushErrorScope = (filter) => {
      scopes.push(filter);
      pushErrorScope.call(device, filter);
    };
    device!.popErrorScope = async () => {
      const error = await popErrorScope.call(device);
      return scopes.pop() === 'out-of-memory' ? ({ message: 'out of memory' } as GPUError) : error;
    };
    const failure = await runTiles(engine, op, inputs, c, [job]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(EngineUnavailableError);
    expect((failure as Error).message).toMatch(/has no memory for operands of 8 x 8 x 16/);
    expect(engine.memory()).toEqual({ buffers: 0, bytes: 0 });
    device!.popErrorScope = popErrorScope;
    device!.pushErrorScope = pushErrorScope;
    expect(await runTiles(engine, op, inputs, c, [job])).toEqual(expected);
    device!.destroy();
    await device!.lost;
    expect(await runTiles(engine, op, inputs, c, [job])).toEqual(expected);
    engine.close();
  });

  it('says that the device was lost', async () => {
    let device: GPUDevice | undefined;
    const engine = await webgpuEngine({
      gpu: await watchedGpu((made) => {
        device = made;
      }),
    });
    const op = findOp('mi100', 'v_mfma_i32_32x32x8i8');
    const session = await engine.open(op);
    const loaded = await session.load(inputsOf(op, 8, 8, 16, 3));
    device!.destroy();
    await device!.lost;
    const d = operand('s32', 8, 8, false, random(1));
    const tile = { m0: 0, m1: 8, n0: 0, n1: 8, chain: [{ k0: 0, k1: 16 }], d };
    await expect(session.tile(loaded, tile)).rejects.toThrow(/the device was lost: .*; open a new session/);
    loaded.release();
    await session.close();
    engine.close();
  });
});

describe.skipIf(!webgl.engine)(`webgl limits${webgl.why}`, () => {
  it('tiles 512 x 509 x 4096 over textures', async () => {
    const op = findOp('h100', 'wgmma.mma_async.m64n8k32.f32.e4m3.e4m3');
    await checkCells(webgl.engine!, op, 512, 509, 4096, 24);
  }, 900_000);

  it('holds nothing after 200 jobs', async () => {
    const engine = webgl.engine!;
    const gl = engine.context!;
    const textures = new Set<WebGLTexture>();
    const programs = new Set<WebGLProgram>();
    const { createTexture, deleteTexture, createProgram, deleteProgram } = gl;
    gl.createTexture = () => {
      const made = createTexture.call(gl);
      textures.add(made);
      return made;
    };
    gl.deleteTexture = (texture) => {
      textures.delete(texture!);
      deleteTexture.call(gl, texture);
    };
    gl.createProgram = () => {
      const made = createProgram.call(gl);
      programs.add(made);
      return made;
    };
    gl.deleteProgram = (program) => {
      programs.delete(program!);
      deleteProgram.call(gl, program);
    };
    const op = findOp('h100', 'wgmma.mma_async.m64n8k32.f32.e4m3.e4m3');
    for (let opened = 0; opened < 4; opened++) {
      const session = await engine.open(op);
      for (let i = 0; i < 50; i++) {
        const m = 4 + (i % 5);
        const loaded = await session.load(inputsOf(op, m, 7, 64, i + 1));
        const d = operand('fp32', m, 7, false, random(1));
        await session.tile(loaded, { m0: 0, m1: m, n0: 0, n1: 7, chain: [{ k0: 0, k1: 64 }], d });
        await session.settle();
        loaded.release();
      }
      await session.close();
      expect(engine.memory()).toEqual({ kernels: 0, textures: 0 });
    }
    Object.assign(gl, { createTexture, deleteTexture, createProgram, deleteProgram });
    expect([textures.size, programs.size]).toEqual([0, 0]);
  });

  it('says that memory is exhausted, and goes on', async () => {
    const engine = webgl.engine!;
    const gl = engine.context!;
    const op = findOp('h100', 'wgmma.mma_async.m64n8k32.f32.e4m3.e4m3');
    const inputs = inputsOf(op, 4, 4, 32, 1);
    const job = { m0: 0, m1: 4, n0: 0, n1: 4, chain: [{ k0: 0, k1: 32 }] };
    const { getError } = gl;
    gl.getError = () => 0x505;
    await expect(runTiles(engine, op, inputs, null, [job])).rejects.toThrow(
      /webgl is not available: the device has no memory/,
    );
    gl.getError = getError;
    expect(await runTiles(engine, op, inputs, null, [job])).toEqual(
      await runTiles(referenceEngine(), op, inputs, null, [job]),
    );
  });
});

/** Dawn's GPU object, its devices shown to `made`. */
async function watchedGpu(made: (device: GPUDevice) => void): Promise<GPU> {
  const dawn = (await import('webgpu')) as unknown as { create(options: string[]): GPU };
  const gpu = dawn.create([]);
  kept.push(gpu);
  return {
    requestAdapter: async (options?: GPURequestAdapterOptions) => {
      const adapter = await gpu.requestAdapter(options);
      if (!adapter) return null;
      return {
        limits: adapter.limits,
        info: adapter.info,
        requestDevice: async (descriptor?: GPUDeviceDescriptor) => {
          const device = await adapter.requestDevice(descriptor);
          made(device);
          return device;
        },
      };
    },
  } as unknown as GPU;
}

/** Dawn's instances: one that is collected while its device lives ends the process. */
const kept: GPU[] = [];
