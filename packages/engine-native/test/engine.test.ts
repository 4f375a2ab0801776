import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import {
  CancelledError,
  EngineUnavailableError,
  FORMATS,
  findOp,
  InputError,
  type Inputs,
  type MmaOp,
  type Operand,
  scaleWordCount,
  sparseWordCount,
  type Tile,
  UnsupportedError,
  type WordArray,
} from '@bitmma/core';
import { CaseRandom, itemsPerWord } from '@bitmma/core/conformance';
import { referenceEngine } from '@bitmma/core/reference';
import { describe, expect, it, vi } from 'vitest';
import { nativeEngine } from '../src/index.js';
import { loadBinding } from '../src/load-binding.js';

const engine = await nativeEngine();
const H100 = findOp('h100', 'wgmma.mma_async.m64n8k32.f32.e4m3.e4m3');
const kernelsOf = (op: MmaOp) => {
  const support = engine.supports(op);
  return support.ok ? support.kernels : [];
};

/** Words on shared memory, as the scheduler gives them. */
function words(format: Operand['format'], count: number, random?: CaseRandom): WordArray {
  const bits = FORMATS[format].wordBits;
  const items = count * itemsPerWord(format);
  const shared = new SharedArrayBuffer(items * Math.min(4, bits / 8));
  const array =
    bits === 8 ? new Uint8Array(shared) : bits === 16 ? new Uint16Array(shared) : new Uint32Array(shared);
  if (random) for (let i = 0; i < items; i++) array[i] = random.word();
  return array;
}

const rowMajor = (format: Operand['format'], array: WordArray, columns: number): Operand => ({
  format,
  words: array,
  offset: 0,
  rowStride: columns,
  colStride: 1,
});

/** Random operands: a row-major with a gap at each row's end, b as its transpose with an offset. */
function randomInputs(op: MmaOp, m: number, n: number, k: number): Inputs {
  const random = new CaseRandom(11, 1, m + n);
  const operand = (format: Operand['format'], rows: number, cols: number) =>
    rowMajor(format, words(format, rows * cols, random), cols);
  const scales = scaleWordCount(op, k);
  const metadata = op.sparsity ? sparseWordCount(op.sparsity, k) : 0;
  const sparse = words('s32', m * metadata);
  const selectors = op.sparsity === '1:2' ? [0x4, 0xe] : [0x4, 0x8, 0xc, 0x9, 0xd, 0x6, 0xe];
  for (let i = 0; i < sparse.length; i++)
    for (let nibble = 0; nibble < 8; nibble++)
      sparse[i] = (sparse[i] | (selectors[random.below(selectors.length)] << (4 * nibble))) >>> 0;
  return {
    m,
    n,
    k,
    a: { ...operand(op.a, m, k + 3), rowStride: k + 3 },
    b: {
      format: op.b,
      words: words(op.b, n * (k + 1) + 5, random),
      offset: 5,
      rowStride: 1,
      colStride: k + 1,
    },
    ...(op.scaling && {
      scaleA: operand(op.scaling.format, m, scales),
      scaleB: operand(op.scaling.format, scales, n),
    }),
    ...(op.sparsity && { sparse: rowMajor('s32', sparse, metadata) }),
  };
}

describe('tiles on strided operands agree with the reference', () => {
  const ops = [
    H100,
    findOp('b200', 'mma.sync.m16n8k16.f32.f16.f16.f32'),
    findOp('h100', 'mma.sync.m16n8k32.f16.e4m3.e5m2.f16'),
    findOp('b200', 'tcgen05.mma.sp.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.ue4m3'),
    findOp('b200', 'tcgen05.mma.kind::mxf8f6f4.block_scale.f32.e4m3.e2m3.ue8m0'),
    findOp('mi300x', 'v_mfma_f32_16x16x16_f16'),
    findOp('a100', 'mma.sync.m8n8k4.f64.f64.f64.f64'),
    findOp('b200', 'tcgen05.mma.kind::i8.s32.u8.s8'),
  ];
  const cases = ops.flatMap((op) => kernelsOf(op).map((kernel) => [op.instruction, kernel, op] as const));
  it.each(cases)('%s on %s', async (_, kernel, op) => {
    const [m, n] = [9, 70];
    const k = op.scaling || op.sparsity ? 3 * op.k : 2 * op.k + 5;
    const inputs = randomInputs(op, m, n, k);
    const c = rowMajor(op.c, words(op.c, m * n, new CaseRandom(3, 2, 1)), n);
    const results: WordArray[] = [];
    for (const candidate of [engine, referenceEngine()]) {
      const session = await candidate.open(op, candidate === engine ? { kernel } : {});
      const loaded = await session.load(inputs);
      const d = rowMajor(op.d, words(op.d, m * n), n);
      // c aliases d in the second half; the chain takes its ranges out of order.
      d.words.set(c.words);
      const tail = { k0: 2 * op.k, k1: k };
      const tiles: Tile[] = [
        { m0: 0, m1: 5, n0: 0, n1: n, chain: [{ k0: 0, k1: k }], d },
        {
          m0: 5,
          m1: 9,
          n0: 0,
          n1: 33,
          chain: [{ k0: op.k, k1: 2 * op.k }, { k0: 0, k1: op.k }, tail],
          c: d,
          d,
        },
        { m0: 5, m1: 9, n0: 33, n1: n, chain: [], c, d },
      ];
      for (const tile of tiles) await session.tile(loaded, tile);
      await session.settle();
      results.push(d.words);
    }
    expect(results[0]).toEqual(results[1]);
  });
});

describe.each(kernelsOf(H100))('kernel %s', (kernel) => {
  it('runs tiles in worker threads on operands packed once', async () => {
    const [m, n, k] = [40, 130, 96];
    const inputs = randomInputs(H100, m, n, k);
    const session = await engine.open(H100, { kernel });
    const loaded = await session.load(inputs);
    const whole = { n0: 0, n1: n, chain: [{ k0: 0, k1: k }] };
    const alone = rowMajor('fp32', words('fp32', m * n), n);
    await session.tile(loaded, { ...whole, m0: 0, m1: m, d: alone });
    const shared = rowMajor('fp32', words('fp32', m * n), n);
    const halves = [0, 20].map((m0) => [{ ...whole, m0, m1: m0 + 20, d: shared }]);
    const counts = await Promise.all(
      halves.map((tiles) => {
        const workerData = { op: H100, token: loaded.token, kernel, tiles };
        const worker = new Worker(new URL('./worker.mjs', import.meta.url), { workerData });
        return new Promise<Record<string, number>>((resolve, reject) => {
          worker.once('message', resolve).once('error', reject);
        });
      }),
    );
    expect(shared.words).toEqual(alone.words);
    expect(counts.flatMap((count) => Object.values(count)).reduce((sum, x) => sum + x, 0)).toBe(m * n);
  });
});

describe('refusals', () => {
  it('names the kernels that there are', async () => {
    await expect(engine.open(H100, { kernel: 'abacus' })).rejects.toThrow(UnsupportedError);
    await expect(engine.open(H100, { kernel: 'abacus' })).rejects.toThrow(
      /expected one of .*scalar, got abacus/,
    );
  });

  it('takes BITMMA_KERNEL, and an error in it is an error', async () => {
    vi.stubEnv('BITMMA_KERNEL', 'scalar');
    expect((await engine.open(H100)).kernel).toBe('scalar');
    vi.stubEnv('BITMMA_KERNEL', 'neon9');
    await expect(engine.open(H100)).rejects.toThrow(UnsupportedError);
    vi.unstubAllEnvs();
  });

  it('rejects an op with a field it does not know', () => {
    const support = engine.supports({ ...H100, tpyo: 1 } as MmaOp);
    expect(support).toMatchObject({ ok: false, reason: expect.stringContaining('tpyo') });
  });

  it('names the chunk of a selector without meaning', async () => {
    const op = findOp('b200', 'tcgen05.mma.sp.kind::f16.f32.bf16.bf16');
    const inputs = randomInputs(op, 2, 2, op.k);
    const metadata = inputs.sparse?.words as WordArray;
    metadata[0] = (metadata[0] & ~0xf00) | 0x500;
    const session = await engine.open(op);
    await expect(session.load(inputs)).rejects.toThrow(/row 0, chunk 2: selector 0x5/);
  });

  it('stops between tiles when its signal aborts', async () => {
    const abort = new AbortController();
    const session = await engine.open(H100, { signal: abort.signal });
    const loaded = await session.load(randomInputs(H100, 1, 1, 32));
    const d = rowMajor('fp32', words('fp32', 1), 1);
    const tile = { m0: 0, m1: 1, n0: 0, n1: 1, chain: [{ k0: 0, k1: 32 }], d };
    await session.tile(loaded, tile);
    abort.abort();
    await expect(session.tile(loaded, tile)).rejects.toThrow(CancelledError);
  });

  it('refuses released operands and foreign tokens', async () => {
    const session = await engine.open(H100);
    const loaded = await session.load(randomInputs(H100, 1, 1, 32));
    await expect(session.attach({ ...loaded.token, op: 'another' })).rejects.toThrow(InputError);
    loaded.release();
    const d = rowMajor('fp32', words('fp32', 1), 1);
    await expect(session.tile(loaded, { m0: 0, m1: 1, n0: 0, n1: 1, chain: [], d })).rejects.toThrow(
      InputError,
    );
  });
});

describe('loader', () => {
  it('says how to get an absent binding', () => {
    const where = { file: '/nowhere/bitmma-native.node', package: '@bitmma/engine-native-nowhere' };
    expect(() => loadBinding(where)).toThrow(EngineUnavailableError);
    expect(() => loadBinding(where)).toThrow(/Cannot find .*engine-native-nowhere.*install Rust/s);
  });

  it('prints the original error of a file that does not load', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'bitmma-')), 'broken.node');
    writeFileSync(file, 'not a library');
    expect(() => loadBinding({ file, package: '@bitmma/engine-native-nowhere' })).toThrow(
      /broken\.node does not load: .*(invalid ELF header|file too short)/,
    );
  });
});

it('a tile into words that hold that tile alone runs on the micro-kernel', async () => {
  const op = H100;
  const [m, n, k] = [96, 80, 128];
  const bytes = (seed: number, length: number) => Uint8Array.from({ length }, (_, i) => (i * seed) % 0x78);
  const a = { format: op.a, words: bytes(7, m * k), offset: 0, rowStride: k, colStride: 1 };
  const b = { format: op.b, words: bytes(11, k * n), offset: 0, rowStride: n, colStride: 1 };
  const session = await engine.open(op);
  const loaded = await session.load({ m, n, k, a, b });
  const whole = new Uint32Array(m * n);
  const chain = [{ k0: 0, k1: k }];
  const d = { format: op.d, words: whole, offset: 0, rowStride: n, colStride: 1 };
  await session.tile(loaded, { m0: 0, m1: m, n0: 0, n1: n, chain, d });
  const part = new Uint32Array(32 * 16);
  const bounds = { m0: 64, m1: 96, n0: 64, n1: 80 };
  const own = { ...d, words: part, offset: -(64 * 16 + 64), rowStride: 16 };
  await session.tile(loaded, { ...bounds, chain, d: own });
  for (let i = 0; i < 32; i++)
    for (let j = 0; j < 16; j++) expect(part[i * 16 + j]).toBe(whole[(64 + i) * n + 64 + j]);
  if (kernelsOf(op).length > 1) {
    const { kernels } = session.report();
    expect(kernels[session.kernel]).toBe(m * n + 32 * 16);
  }
  await session.close();
});
