import { type Engine, findOp, type Operand } from '@bitmma/core';
import { referenceEngine } from '@bitmma/core/reference';
import { afterAll, describe, expect, it } from 'vitest';
import { webglEngine, webgpuEngine } from '../src/index.js';
import { inputsOf, runTiles } from './gemm.js';
import { attempt } from './hosts/available.js';

const webgpu = await attempt(() => webgpuEngine());
const webgl = await attempt(() => webglEngine());
afterAll(async () => {
  webgpu.engine?.close();
  await webgl.engine?.close();
});

const CASES = [
  ['h100', 'mma.sync.m16n8k16.f32.f16.f16.f32', [0x7fc00001, 0x80000000, 0xff800000, 1]],
  ['v100', 'mma.sync.m8n8k4.f32.f16.f16.f16', [0x7e01, 0x8000, 0xfc00, 1, 0x83ff, 0x3c00]],
] as const;

/** A chain without an instruction: d is c's word, widened where the formats differ. */
async function empty(engine: Engine): Promise<void> {
  for (const [device, instruction, words] of CASES) {
    const op = findOp(device, instruction);
    const c: Operand = {
      format: op.c,
      words: op.c === 'fp16' ? Uint16Array.from(words) : Uint32Array.from(words),
      offset: 0,
      rowStride: words.length,
      colStride: 1,
    };
    for (const chain of [[], [{ k0: 0, k1: 0 }]]) {
      const inputs = inputsOf(op, 1, words.length, op.k, 1);
      const job = [{ m0: 0, m1: 1, n0: 0, n1: words.length, chain }];
      expect(await runTiles(engine, op, inputs, c, job)).toEqual(
        await runTiles(referenceEngine(), op, inputs, c, job),
      );
    }
    const session = await engine.open(op);
    const reference = await referenceEngine().open(op);
    const none = { count: words.length, k: 0, a: new Uint16Array(0), b: new Uint16Array(0), c: c.words };
    const run = async (of: typeof session): Promise<Uint32Array> => {
      const d = new Uint32Array(words.length);
      for await (const _ of of.dots([
        { ...none, d },
        { ...none, count: 0, d: new Uint32Array(0) },
      ]));
      return d;
    };
    expect(await run(session)).toEqual(await run(reference));
    await session.close();
    await reference.close();
    const nothing = inputsOf(op, 0, 5, op.k, 1);
    const job = [{ m0: 0, m1: 0, n0: 0, n1: 5, chain: [{ k0: 0, k1: op.k }] }];
    expect(await runTiles(engine, op, nothing, null, job)).toHaveLength(0);
  }
}

describe.skipIf(!webgpu.engine)(`webgpu on nothing${webgpu.why}`, () => {
  it('gives c where a chain is empty', () => empty(webgpu.engine!));
});

describe.skipIf(!webgl.engine)(`webgl on nothing${webgl.why}`, () => {
  it('gives c where a chain is empty', () => empty(webgl.engine!));
});
