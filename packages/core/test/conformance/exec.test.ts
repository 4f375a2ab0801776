import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { batchOf } from '../../src/conformance/cases.js';
import { campaignOf, generateCases } from '../../src/conformance/generate.js';
import { runBatch, runSuite } from '../../src/conformance/suite.js';
import { findOp } from '../../src/datapath/aliases/op.js';
import { ExecError, type ExecOptions, execEngine } from '../../src/engine/exec.js';
import { CancelledError, EngineUnavailableError, UnsupportedError } from '../../src/errors.js';
import { referenceEngine } from '../../src/reference/index.js';

const program = (name: string) => fileURLToPath(new URL(`../programs/${name}`, import.meta.url));
const node = (fault?: string, more: Partial<ExecOptions> = {}) =>
  execEngine({
    command: process.execPath,
    args: [program('integer.mjs'), ...(fault ? [fault] : [])],
    timeout: 20_000,
    ...more,
  });
const op = findOp('b200', 'tcgen05.mma.kind::i8.s32.u8.s8');
const cases = (count: number, k?: number) =>
  generateCases(op, campaignOf('independent-bit'), { seed: 5, count, ...(k ? { k } : {}) });

async function dots(engine: ReturnType<typeof execEngine>, count = 5) {
  const session = await engine.open(op);
  try {
    return await runBatch(session, batchOf(cases(count)));
  } finally {
    await session.close();
  }
}

const python = ['python3', 'python'].find((name) => spawnSync(name, ['--version']).status === 0);

describe('exec engine', () => {
  test('a Node program against the reference, with more cases than one window', async () => {
    const result = await runSuite([cases(600)], { engine: node(), against: referenceEngine() });
    expect(result).toMatchObject({ engine: 'exec', passed: 600, failed: 0, skipped: 0 });
    expect(result.ops[0].report.kernels).toEqual({ exec: 600 });
  });

  test.skipIf(!python)('a Python program against the reference', async () => {
    const engine = execEngine({ id: 'py', command: python!, args: [program('integer.py')] });
    const result = await runSuite([cases(100)], { engine, against: referenceEngine() });
    expect(result).toMatchObject({ engine: 'py', passed: 100, failed: 0 });
  });

  test('a chain runs instruction by instruction, its ragged end padded', async () => {
    const result = await runSuite([cases(20, 80)], { engine: node(), against: referenceEngine() });
    expect(result).toMatchObject({ passed: 20, failed: 0 });
  });

  test('a tile equals the reference tile', async () => {
    const [m, n, k] = [3, 5, 40];
    const set = cases(1, m * k + n * k);
    const operand = (
      words: Uint8Array,
      format: 'u8' | 's8',
      rowStride: number,
      colStride: number,
      offset = 0,
    ) => ({
      format,
      words,
      offset,
      rowStride,
      colStride,
    });
    const inputs = {
      m,
      n,
      k,
      a: operand(set.a as Uint8Array, 'u8', k, 1),
      b: operand(set.b as Uint8Array, 's8', 1, k, m * k),
    };
    const words = await Promise.all(
      [node(), referenceEngine()].map(async (engine) => {
        const session = await engine.open(op);
        const d = {
          format: 's32' as const,
          words: new Uint32Array(m * n),
          offset: 0,
          rowStride: n,
          colStride: 1,
        };
        const loaded = await session.attach((await session.load(inputs)).token);
        await session.tile(loaded, {
          m0: 1,
          m1: 3,
          n0: 0,
          n1: 4,
          chain: [
            { k0: 0, k1: 32 },
            { k0: 32, k1: 40 },
          ],
          d,
        });
        await session.settle();
        await session.close();
        return d.words;
      }),
    );
    expect(words[0]).toEqual(words[1]);
    expect(words[0].filter((word) => word !== 0).length).toBe(8);
  });

  test('a wrong answer is a mismatch, shrunk to the smallest one', async () => {
    const result = await runSuite([cases(4)], { engine: node('wrong'), against: referenceEngine() });
    expect(result).toMatchObject({ passed: 3, failed: 1 });
    expect(result.ops[0].mismatches[0]).toMatchObject({ id: 'independent-bit-5-1', got: '00000000' });
  });

  test.each([
    ['die', /expected an answer for 2, the program ended with status 3: out of tensor cores/],
    ['few', /expected an answer for 2, the program ended|expected an answer for 2 within/],
    ['id', /expected id 1, got "other"/],
    ['word', /0: d\[0\]: expected 8 hex digits of s32/],
    ['number', /expected d of 0 as a hex string, got 7/],
    ['text', /expected a JSON line for 0, got "hello"/],
    ['null', /expected id 0, got null/],
  ])('a program with the fault %s', async (fault, message) => {
    const failure = dots(node(fault, { timeout: 1500 }));
    await expect(failure).rejects.toBeInstanceOf(ExecError);
    await expect(failure).rejects.toThrow(message);
  });

  test('a program that hangs is stopped', async () => {
    await expect(dots(node('hang', { timeout: 700 }))).rejects.toThrow(
      /expected an answer for 2 within 700 ms, got none/,
    );
  });

  test('answers beyond the last vector are an error', async () => {
    await expect(dots(node('extra'))).rejects.toThrow(/expected no more answers, got/);
  });

  test('a session that failed stays failed', async () => {
    const session = await node('id').open(op);
    await expect(runBatch(session, batchOf(cases(3)))).rejects.toThrow(ExecError);
    await expect(runBatch(session, batchOf(cases(3)))).rejects.toThrow(/it failed before/);
    await session.close();
  });

  test('cancelled by its signal', async () => {
    const stop = new AbortController();
    const session = await node('hang').open(op, { signal: stop.signal });
    const running = runBatch(session, batchOf(cases(5)));
    setTimeout(() => stop.abort(), 200);
    await expect(running).rejects.toBeInstanceOf(CancelledError);
    await session.close();
  });

  test('a program that does not exist is not available', async () => {
    const engine = execEngine({ command: '/nowhere/program' });
    await expect(engine.open(op)).rejects.toBeInstanceOf(EngineUnavailableError);
  });

  test('an unknown kernel and an unsupported op are refused', async () => {
    await expect(node().open(op, { kernel: 'fast' })).rejects.toBeInstanceOf(UnsupportedError);
    const none = node(undefined, { supports: () => ({ ok: false, reason: 'integers only' }) });
    await expect(none.open(op)).rejects.toThrow(/integers only/);
  });
});
