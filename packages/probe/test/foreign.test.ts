import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findOp } from '@bitmma/core';
import { execEngine } from '@bitmma/core/engine/exec';
import { describe, expect, it } from 'vitest';
import { type Identification, identify, probeJson, probeText, signatureOf } from '../src/index.js';
import { judge } from './engines.js';

const BOX = fileURLToPath(new URL('box.py', import.meta.url));
const python = spawnSync('python3', ['--version']).status === 0;

/** The instruction only names the operands: fp16 times fp16 plus fp32, K = 4. */
const signature = signatureOf(findOp('v100', 'mma.sync.m8n8k4.f32.f16.f16.f32'));

async function probe(args: string[], budget: number): Promise<Identification> {
  const engine = execEngine({ command: 'python3', args: [BOX, ...args] });
  const box = await engine.open(findOp('v100', 'mma.sync.m8n8k4.f32.f16.f16.f32'));
  try {
    return await identify(box, signature, { judge: await judge(), campaign: 400, tries: 256, budget });
  } finally {
    await box.close();
  }
}

describe.skipIf(!python)('a program behind a pipe', () => {
  it('has the block, fraction bits and roundings that its lines of Python say', async () => {
    const found = await probe(['2', '21'], 100_000);
    expect(found.inside).toBe(true);
    expect(found.datapath).toMatchObject({
      kind: 'fused-window',
      block: 2,
      fraction: 21,
      alignment: 'RZ',
      floor: null,
      output: { rounding: 'RZ', precision: 23, nan: '7fffffff' },
    });
    expect(found.queries).toBeLessThan(10_000);
    const text = probeText(found);
    expect(text).toContain('Datapath: fused-window');
    expect(text).toContain('fraction = 21');
    expect(JSON.parse(probeJson(found)).inside).toBe(true);
  });

  it('is outside the model space where it does what no datapath does, with the smallest case that shows it', async () => {
    const found = await probe(['4', '24', 'twist'], 10_000);
    expect(found.inside).toBe(false);
    expect(found.counterexample).not.toBeNull();
    expect(found.counterexample!.got).not.toBe(found.counterexample!.vector.d);
    expect(probeText(found)).toContain('Not in the model space');
  });
});
