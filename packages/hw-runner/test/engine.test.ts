import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  catalog,
  type DotBatch,
  type Engine,
  EngineUnavailableError,
  type FORMATS,
  findOp,
  InputError,
  type MmaOp,
  UnsupportedError,
  type WordArray,
} from '@bitmma/core';
import {
  allocateCases,
  campaignsFor,
  formatWords,
  generateCases,
  parseWords,
  runBatch,
} from '@bitmma/core/conformance';
import { execEngine } from '@bitmma/core/engine/exec';
import { referenceEngine } from '@bitmma/core/reference';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { cudaEngine, type HardwareEngine, HardwareError, hipEngine, record } from '../src/index.js';
import { executable } from './executable.js';
import { machine, useFakeDrivers } from './fake.js';

let undo = () => {};
beforeAll(() => {
  undo = useFakeDrivers();
}, 300_000);
afterAll(() => undo());

const open: HardwareEngine[] = [];
afterEach(() => {
  for (const engine of open.splice(0)) engine.close();
});

const MACHINES = {
  a100: 'sm=80,gpu=NVIDIA A100-SXM4-40GB',
  h100: 'sm=90,gpu=NVIDIA H100 80GB HBM3',
  b200: 'sm=100,gpu=NVIDIA B200',
  'rtx-pro-6000': 'sm=120,gpu=NVIDIA RTX PRO 6000 Blackwell Server Edition',
  v100: 'sm=70,gpu=Tesla V100-SXM2-16GB',
  mi100: 'gfx=gfx908,gpu=AMD Instinct MI100',
  mi300x: 'gfx=gfx942,gpu=AMD Instinct MI300X',
} as const;

async function engineOf(device: keyof typeof MACHINES, more = ''): Promise<HardwareEngine> {
  machine(MACHINES[device] + more);
  const engine = await (device.startsWith('mi') ? hipEngine : cudaEngine)({ executable });
  open.push(engine);
  return engine;
}

const WORDS: Record<string, [zero: string, one: string, two: string]> = {
  fp64: ['0000000000000000', '3ff0000000000000', '4000000000000000'],
  fp32: ['00000000', '3f800000', '40000000'],
  tf32: ['00000000', '3f800000', '40000000'],
  bf16: ['0000', '3f80', '4000'],
  fp16: ['0000', '3c00', '4000'],
  e5m2: ['00', '3c', '40'],
  e4m3: ['00', '38', '40'],
  e5m2fnuz: ['00', '40', '44'],
  e4m3fnuz: ['00', '40', '48'],
  e3m2: ['00', '0c', '10'],
  e2m3: ['00', '08', '10'],
  e2m1: ['00', '02', '04'],
  ue8m0: ['7e', '7f', '80'],
  ue4m3: ['30', '38', '40'],
  s8: ['00', '01', '02'],
  u8: ['00', '01', '02'],
  s32: ['00000000', '00000001', '00000002'],
};

/** Cases of zeros, ones and twos, scale factors of 1/2, 1 and 2: every sum is exact in every datapath. */
function exactCases(op: MmaOp, count: number): DotBatch {
  const k = op.k;
  const words = allocateCases(op, count, k);
  let state = 12345;
  const draw = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 16) % 3;
  };
  const fill = (format: keyof typeof FORMATS, into: WordArray, n: number) =>
    parseWords(format, Array.from({ length: n }, () => WORDS[format][draw()]).join(' '), n, format, into);
  fill(op.a, words.a, count * k);
  fill(op.b, words.b, count * k);
  fill(op.c, words.c, count);
  if (op.scaling && words.scaleA && words.scaleB) {
    fill(op.scaling.format, words.scaleA, words.scaleA.length);
    fill(op.scaling.format, words.scaleB, words.scaleB.length);
  }
  const selectors = op.sparsity === '1:2' ? [0x4, 0xe] : [0x4, 0x8, 0xc, 0x9, 0xd, 0x6, 0xe];
  words.sparse?.forEach((_, i, all) => {
    for (let n = 0; n < 8; n++) all[i] |= selectors[(draw() * 3 + draw()) % selectors.length] << (4 * n);
  });
  const d = allocateCases(op, count, k).c.slice();
  return { count, k, ...words, d: op.c === op.d ? d : new Uint32Array(count) };
}

async function dots(engine: Engine, op: MmaOp, batch: DotBatch): Promise<string> {
  const session = await engine.open(op);
  const d = batch.d.slice();
  d.fill(0xa5);
  const words = await runBatch(session, { ...batch, d });
  await session.close();
  return formatWords(op.d, words);
}

describe('hardware engines on the fake drivers', () => {
  for (const device of Object.keys(MACHINES) as (keyof typeof MACHINES)[])
    it(`${device}: every instruction returns the words of exact sums`, { timeout: 240_000 }, async () => {
      const engine = await engineOf(device);
      const reference = referenceEngine();
      const ops = catalog().filter((op) => op.device === device);
      // Types alone tell most tcgen05 forms apart: a third of them, each kind among them.
      const chosen =
        device === 'b200' ? ops.filter((op, i) => i % 3 === 0 || !op.instruction.includes('f8f6f4')) : ops;
      for (const op of chosen) {
        const support = engine.supports(op);
        expect(support.ok, `${op.instruction}: ${support.ok || support.reason}`).toBe(true);
        const batch = exactCases(op, 6);
        expect(await dots(engine, op, batch), op.instruction).toBe(await dots(reference, op, batch));
      }
      expect(chosen.length).toBeGreaterThan(2);
    });

  it('integers of every size agree, wrapping and saturating', { timeout: 180_000 }, async () => {
    const engine = await engineOf('a100');
    for (const name of ['mma.sync.m16n8k32.s32.s8.u8.s32', 'mma.sync.m16n8k32.satfinite.s32.s8.u8.s32']) {
      const op = findOp('a100', name);
      for (const campaign of campaignsFor(op)) {
        const set = generateCases(op, campaign, { count: 40, seed: 7 });
        const batch: DotBatch = {
          count: set.count,
          k: set.k,
          a: set.a,
          b: set.b,
          c: set.c,
          d: new Uint32Array(set.count),
        };
        expect(await dots(engine, op, batch), campaign.name).toBe(await dots(referenceEngine(), op, batch));
      }
    }
  });

  it('a tile chains its ranges', { timeout: 180_000 }, async () => {
    const engine = await engineOf('a100');
    const op = findOp('a100', 'mma.sync.m16n8k8.f32.f16.f16.f32');
    const [m, n, k] = [3, 2, 20];
    const a = new Uint16Array(m * k).map((_, i) => [0x3c00, 0x4000, 0][i % 3]);
    const b = new Uint16Array(k * n).map((_, i) => [0x3c00, 0, 0x4000, 0x3c00][i % 4]);
    const operand = (format: 'fp16' | 'fp32', words: WordArray, rowStride: number) => ({
      format,
      words,
      offset: 0,
      rowStride,
      colStride: 1,
    });
    const inputs = { m, n, k, a: operand('fp16', a, k), b: operand('fp16', b, n) };
    const run = async (from: Engine) => {
      const session = await from.open(op);
      const d = new Uint32Array(m * n);
      const loaded = await session.load(inputs);
      const again = await session.attach(loaded.token);
      const tile = {
        m0: 0,
        m1: m,
        n0: 0,
        n1: n,
        chain: [
          { k0: 0, k1: 8 },
          { k0: 8, k1: 20 },
        ],
        d: operand('fp32', d, n),
      };
      await session.tile(again, tile);
      await session.settle();
      return [d, session.report()] as const;
    };
    const [d, report] = await run(engine);
    expect(d).toEqual((await run(referenceEngine()))[0]);
    expect(report.kernels).toEqual({ sm_75: 12 });
  });

  it('says what it lacks', async () => {
    const engine = await engineOf('a100');
    expect(engine).toMatchObject({
      id: 'cuda',
      placement: 'external',
      lineage: 'silicon NVIDIA A100-SXM4-40GB',
    });
    const reason = (op: MmaOp) => {
      const support = engine.supports(op);
      return support.ok ? '' : support.reason;
    };
    expect(reason(findOp('h100', 'wgmma.mma_async.m64n8k16.f32.f16.f16'))).toBe(
      'this GPU is NVIDIA A100-SXM4-40GB (a100), the op is of h100',
    );
    const op = findOp('a100', 'mma.sync.m16n8k8.f32.f16.f16.f32');
    await expect(engine.open(op, { kernel: 'sm_90a' })).rejects.toThrow(UnsupportedError);
    await expect(engine.open(findOp('h100', 'mma.sync.m16n8k8.f32.f16.f16.f32'))).rejects.toThrow(
      UnsupportedError,
    );
  });

  it('is unavailable with a reason and a remedy', async () => {
    machine('devices=0');
    const of = async (start: Promise<unknown>) => {
      const error = await start.then(
        () => null,
        (e: unknown) => e,
      );
      expect(error).toBeInstanceOf(EngineUnavailableError);
      return error as EngineUnavailableError;
    };
    expect(await of(cudaEngine({ executable }))).toMatchObject({
      engine: 'cuda',
      reason: 'the CUDA driver sees no device',
    });
    expect((await of(cudaEngine({ executable: '/nonexistent' }))).remedy).toContain('npm run build');
    expect((await of(hipEngine({ executable }))).reason).toContain('no ROCm-capable device');
    machine(MACHINES.a100);
    expect((await of(cudaEngine({ executable, gpu: 4 }))).reason).toBe('there is no device 4');
  });

  it('turns faults, hangs, probes and disagreements into HardwareError', { timeout: 180_000 }, async () => {
    const op = findOp('a100', 'mma.sync.m16n8k8.f32.f16.f16.f32');
    for (const [more, what, text] of [
      [',fault=sync,after=2', 'device', 'the kernel failed: 719'],
      [',k-swap=1', 'probe', "probe 'lane 0'"],
      [',corrupt=50', 'position', 'disagree'],
    ] as const) {
      const engine = await engineOf('a100', more);
      const error = await dots(engine, op, exactCases(op, 150)).then(
        () => null,
        (e: unknown) => e,
      );
      expect(error, more).toBeInstanceOf(HardwareError);
      expect(error).toMatchObject({ what, message: expect.stringContaining(text) });
    }
    machine(`${MACHINES.a100},fault=hang`);
    const hanging = await cudaEngine({ executable, timeout: 0.5 });
    open.push(hanging);
    await expect(dots(hanging, op, exactCases(op, 2))).rejects.toThrow('gave no answer within 0.5 s');
    // After its process ended, the engine keeps saying so.
    await expect(dots(hanging, op, exactCases(op, 2))).rejects.toThrow(HardwareError);
  });

  it('is a program of the exec engine, answering before its input ends', { timeout: 180_000 }, async () => {
    machine(MACHINES.a100);
    const op = findOp('a100', 'mma.sync.m16n8k16.s32.s8.u8.s32');
    const exec = execEngine({ command: executable, args: ['record', '--no-header', '--api', 'cuda'] });
    const batch = exactCases(op, 600);
    expect(await dots(exec, op, batch)).toBe(await dots(referenceEngine(), op, batch));
  });

  it('records a vector file', { timeout: 180_000 }, async () => {
    machine(MACHINES.h100);
    const folder = mkdtempSync(join(tmpdir(), 'bitmma-record-'));
    const file = (name: string) => join(folder, name);
    const line = (instruction: string) =>
      JSON.stringify({
        id: instruction,
        device: 'h100',
        instruction,
        a: Array(16).fill('3c00').join(' '),
        b: Array(16).fill('4000').join(' '),
        c: '3f800000',
      });
    writeFileSync(
      file('in.jsonl'),
      `${line('wgmma.mma_async.m64n8k16.f32.f16.f16')}\n${line('mma.sync.m16n8k16.f32.f16.f16.f32')}\n`,
    );
    const summary = await record({
      executable,
      gpu: 0,
      in: file('in.jsonl'),
      out: file('out.jsonl'),
      report: file('report.json'),
    });
    expect(summary).toBe('2 cases recorded on NVIDIA H100 80GB HBM3, 0 position failures, 0 left out');
    const lines = readFileSync(file('out.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text));
    expect(lines[0].provenance).toMatchObject({
      gpu: 'NVIDIA H100 80GB HBM3',
      computeCapability: '9.0',
      driver: expect.any(String),
    });
    expect(lines.slice(1).map((l) => l.d)).toEqual(['42040000', '42040000']);
    expect(JSON.parse(readFileSync(file('report.json'), 'utf8')).device.id).toBe('h100');
    writeFileSync(file('bad.jsonl'), '{}\n');
    await expect(record({ executable, in: file('bad.jsonl'), out: file('out') })).rejects.toThrow(InputError);
    writeFileSync(file('lacks.jsonl'), `${line('wgmma.mma_async.m64n8k16.f32.f16.f16')}\n`);
    machine(MACHINES.a100);
    await expect(
      record({ executable, api: 'cuda', in: file('lacks.jsonl'), out: file('out') }),
    ).rejects.toThrow(EngineUnavailableError);
    rmSync(folder, { recursive: true });
  });
});
