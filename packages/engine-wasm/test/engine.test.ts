import { Worker } from 'node:worker_threads';
import {
  FORMATS,
  findOp,
  type Inputs,
  type MmaOp,
  type Operand,
  type Tile,
  type WordArray,
} from '@bitmma/core';
import { campaignOf, generateCases } from '@bitmma/core/conformance';
import { referenceEngine } from '@bitmma/core/reference';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { wasmEngine } from '../src/index.js';
import { moduleBytes } from '../src/module.js';

const OPS: readonly (readonly [string, string])[] = [
  ['h100', 'wgmma.mma_async.m64n8k32.f32.e4m3.e4m3'],
  ['h100', 'mma.sync.m16n8k16.f16.f16.f16.f16'],
  ['b200', 'tcgen05.mma.kind::f8f6f4.f32.e5m2.e4m3'],
  ['mi300x', 'v_mfma_f32_16x16x16_bf16'],
  ['v100', 'mma.sync.m8n8k4.f32.f16.f16.f16'],
  ['h100', 'mma.sync.m16n8k32.f32.e4m3.e4m3.f32'],
  ['mi300x', 'v_mfma_f64_16x16x4_f64'],
  ['b200', 'tcgen05.mma.kind::i8.s32.u8.s8.satfinite'],
  ['b200', 'tcgen05.mma.sp.kind::mxf8f6f4.block_scale.f32.e4m3.e5m2.ue8m0'],
];

const allocate = (format: Operand['format'], elements: number): WordArray => {
  const bits = FORMATS[format].wordBits;
  return bits === 8
    ? new Uint8Array(elements)
    : bits === 16
      ? new Uint16Array(elements)
      : new Uint32Array(elements * (bits / 32));
};

/** Random operands m x k and k x n; B stored row by row, so that its columns are strided. */
function operands(op: MmaOp, m: number, n: number, k: number, campaign = 'exponent-mantissa/normal'): Inputs {
  const kind = op.datapath.kind === 'integer' ? 'raw-bit' : campaign;
  const left = generateCases(op, campaignOf(kind), { seed: 3, count: m, k });
  const right = generateCases(op, campaignOf(kind), { seed: 4, count: n, k });
  const scales = op.scaling ? Math.ceil(k / op.scaling.block) : 0;
  const items = FORMATS[op.b].wordBits === 64 ? 2 : 1;
  const b = allocate(op.b, n * k + 5);
  for (let j = 0; j < n; j++)
    for (let i = 0; i < k; i++)
      for (let item = 0; item < items; item++)
        b[(5 + i * n + j) * items + item] = right.b[(j * k + i) * items + item];
  return {
    m,
    n,
    k,
    a: { format: op.a, words: left.a, offset: 0, rowStride: k, colStride: 1 },
    b: { format: op.b, words: b, offset: 5, rowStride: n, colStride: 1 },
    ...(op.scaling && {
      scaleA: { format: op.scaling.format, words: left.scaleA!, offset: 0, rowStride: scales, colStride: 1 },
      scaleB: { format: op.scaling.format, words: right.scaleB!, offset: 0, rowStride: 1, colStride: scales },
    }),
    ...(left.sparse && {
      sparse: {
        format: 's32',
        words: left.sparse,
        offset: 0,
        rowStride: left.sparse.length / m,
        colStride: 1,
      },
    }),
  };
}

/** A tile inside m x n whose chain visits k out of order, with c, into a strided d. */
function someTile(op: MmaOp, m: number, n: number, k: number): Tile {
  const c = generateCases(op, campaignOf(op.datapath.kind === 'integer' ? 'raw-bit' : 'normal'), {
    seed: 5,
    count: m * n,
    k: 1,
  });
  const half = op.k * Math.floor(k / op.k / 2);
  return {
    m0: 1,
    m1: m,
    n0: 2,
    n1: n - 1,
    chain: [
      { k0: half, k1: 2 * half },
      { k0: 0, k1: half },
      { k0: 2 * half, k1: k },
    ],
    c: { format: op.c, words: c.c, offset: 0, rowStride: 1, colStride: m },
    d: { format: op.d, words: allocate(op.d, m * n * 2), offset: 0, rowStride: 2 * n, colStride: 2 },
  };
}

const kernelsOf = async (op: MmaOp): Promise<readonly string[]> => {
  const support = (await wasmEngine()).supports(op);
  return support.ok ? support.kernels : [];
};

describe.each(OPS)('%s %s', (device, instruction) => {
  const op = findOp(device, instruction);
  const k = op.scaling || op.sparsity ? 4 * op.k : 4 * op.k + 3;

  test('a tile of strided operands, a chain of ranges and c is the reference word for word', async () => {
    const inputs = operands(op, 19, 37, k);
    const want = someTile(op, 19, 37, k);
    const reference = await referenceEngine().open(op);
    await reference.tile(await reference.load(inputs), want);
    for (const kernel of await kernelsOf(op)) {
      const session = await (await wasmEngine()).open(op, { kernel });
      const got = someTile(op, 19, 37, k);
      await session.tile(await session.load(inputs), got);
      expect(got.d.words).toEqual(want.d.words);
      expect(session.report().kernels).toEqual({ [kernel]: 18 * 34 });
    }
  });

  test('special operands and addends inside a tile are the reference word for word', async () => {
    const inputs = operands(op, 70, 21, k, 'specials');
    const tile = (): Tile => ({
      ...{ m0: 0, m1: 70, n0: 0, n1: 21, chain: [{ k0: 0, k1: k }] },
      d: { format: op.d, words: allocate(op.d, 70 * 21), offset: 0, rowStride: 21, colStride: 1 },
    });
    const want = tile();
    const reference = await referenceEngine().open(op);
    await reference.tile(await reference.load(inputs), want);
    for (const kernel of await kernelsOf(op)) {
      const session = await (await wasmEngine()).open(op, { kernel });
      const got = tile();
      await session.tile(await session.load(inputs), got);
      expect(got.d.words).toEqual(want.d.words);
    }
  });
});

test('outputs and positions beyond one job are computed once each', async () => {
  const op = findOp('h100', 'wgmma.mma_async.m64n8k32.f32.e4m3.e4m3');
  const [m, n, k] = [3, 1040, 1088];
  const inputs = operands(op, m, n, k);
  const run = async (kernel: string) => {
    const session = await (await wasmEngine()).open(op, { kernel });
    const d = { format: op.d, words: new Uint32Array(m * n), offset: 0, rowStride: n, colStride: 1 } as const;
    await session.tile(await session.load(inputs), {
      m0: 0,
      m1: m,
      n0: 0,
      n1: n,
      chain: [{ k0: 0, k1: k }],
      d,
    });
    return d.words;
  };
  expect(await run('simd')).toEqual(await run('scalar'));
});

test('an empty chain passes c on, widened where d is wider', async () => {
  const op = findOp('v100', 'mma.sync.m8n8k4.f32.f16.f16.f16');
  const session = await (await wasmEngine()).open(op);
  const c = Uint16Array.of(0x3c00, 0x0001, 0x8000, 0xfc00, 0x7bff);
  const d = new Uint32Array(5);
  for await (const _ of session.dots([
    { count: 5, k: 0, a: new Uint16Array(0), b: new Uint16Array(0), c, d },
  ]));
  expect([...d]).toEqual([0x3f800000, 0x33800000, 0x80000000, 0xff800000, 0x477fe000]);
});

test('a token carries operands to another thread without a copy', async () => {
  const op = findOp('h100', 'mma.sync.m16n8k16.f32.f16.f16.f32');
  const inputs = operands(op, 16, 16, 64);
  const session = await (await wasmEngine()).open(op);
  const loaded = await session.load(inputs);
  const d = { format: op.d, words: new Uint32Array(256), offset: 0, rowStride: 16, colStride: 1 } as const;
  const tile = { m0: 0, m1: 16, n0: 0, n1: 16, chain: [{ k0: 0, k1: 64 }], d };
  await session.tile(loaded, tile);
  const shared = new Uint32Array(new SharedArrayBuffer(1024));
  const worker = new Worker(
    `const { workerData, parentPort } = require('node:worker_threads');
     (async () => {
       const { wasmEngine } = await import(workerData.index);
       const session = await (await wasmEngine()).open(workerData.op);
       const { tile, shared } = workerData;
       await session.tile(await session.attach(workerData.token), { ...tile, d: { ...tile.d, words: shared } });
       const { words } = workerData.token.payload.a;
       parentPort.postMessage(words.buffer instanceof SharedArrayBuffer);
     })().catch((error) => { throw error; });`,
    {
      eval: true,
      workerData: {
        index: new URL('../dist/index.js', import.meta.url).href,
        op,
        token: loaded.token,
        tile,
        shared,
      },
    },
  );
  const sharedOperands = await new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  await worker.terminate();
  expect(sharedOperands).toBe(true);
  expect([...shared]).toEqual([...d.words]);
});

describe('what is refused', () => {
  afterEach(() => vi.restoreAllMocks());
  const op = findOp('h100', 'wgmma.mma_async.m64n8k32.f32.e4m3.e4m3');

  test('a kernel that the op does not have', async () => {
    const engine = await wasmEngine();
    await expect(engine.open(op, { kernel: 'avx512' })).rejects.toThrow(
      /expected a kernel of simd, scalar, got avx512/,
    );
  });

  test('SIMD on a host without it', async () => {
    vi.spyOn(WebAssembly, 'validate').mockReturnValue(false);
    const engine = await wasmEngine();
    expect(engine.supports(op)).toEqual({ ok: true, kernels: ['scalar'] });
    await expect(engine.open(op, { kernel: 'simd' })).rejects.toThrow(
      /expected a kernel of scalar, got simd/,
    );
  });

  test('a released operand, a foreign token and a stopped signal', async () => {
    const abort = new AbortController();
    const session = await (await wasmEngine()).open(op, { signal: abort.signal });
    const loaded = await session.load(operands(op, 4, 4, 32));
    const d = { format: op.d, words: new Uint32Array(16), offset: 0, rowStride: 4, colStride: 1 } as const;
    const tile = { m0: 0, m1: 4, n0: 0, n1: 4, chain: [{ k0: 0, k1: 32 }], d };
    await expect(session.attach({ ...loaded.token, engine: 'native' })).rejects.toThrow(/got native/);
    abort.abort();
    await expect(session.tile(loaded, tile)).rejects.toThrow(/cancelled/);
    loaded.release();
    await expect(session.tile(loaded, tile)).rejects.toThrow(/released/);
  });

  test('an illegal sparse selector, naming its chunk', async () => {
    const sparse = findOp('b200', 'tcgen05.mma.sp.kind::f16.f32.f16.f16');
    const session = await (await wasmEngine()).open(sparse);
    const inputs = operands(sparse, 2, 2, 32);
    inputs.sparse!.words[1] = 0x44444044;
    await expect(session.load(inputs)).rejects.toThrow(/got 0 in chunk 2 of row 1/);
  });
});

test('each module is under 64 KiB', () => {
  for (const name of ['simd', 'scalar'] as const) expect(moduleBytes(name)).toBeLessThan(64 * 1024);
});
