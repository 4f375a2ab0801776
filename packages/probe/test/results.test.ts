import { findOp } from '@bitmma/core';
import { campaignOf, generateCases, recordOf } from '@bitmma/core/conformance';
import { referenceEngine } from '@bitmma/core/reference';
import { describe, expect, it } from 'vitest';
import { distinguish, fitting, parseResults } from '../src/index.js';
import { runCases } from '../src/infer/book.js';

describe('identify results', () => {
  const record = async (device: string, instruction: string, as = device) => {
    const op = findOp(device, instruction);
    const set = generateCases(op, campaignOf('window-edge'), { seed: 5, count: 200 });
    const session = await referenceEngine().open(op);
    const d = await runCases(session, set);
    const lines = Array.from({ length: set.count }, (_, i) =>
      JSON.stringify({ ...recordOf(set, i, d), device: as }),
    );
    return lines.join('\n');
  };

  it('names every device with the recorded arithmetic and none else', async () => {
    const text = await record('a100', 'mma.sync.m16n8k16.f32.bf16.bf16.f32', 'unknown-gpu');
    const candidates = await fitting(parseResults(text, 'results'), referenceEngine());
    const fits = candidates
      .filter(({ mismatches }) => mismatches === 0)
      .flatMap(({ ops }) => ops.map((op) => op.device));
    expect(fits).toContain('a100');
    expect(fits).toContain('l40s');
    expect(fits).not.toContain('h100');
    const hopper = candidates.find(({ ops }) => ops.some((op) => op.device === 'h100'))!;
    expect(hopper.first!.got).not.toBe(hopper.first!.expected);
  });

  it('says what is wrong with a line', () => {
    expect(() => parseResults('{"id":1', 'r.jsonl')).toThrow('r.jsonl:1: expected a JSON object a line');
    expect(() => parseResults('{"bitmma":1}\n{"id":"1"}', 'r.jsonl')).toThrow('r.jsonl:2: device: expected');
    expect(() => parseResults('', 'r.jsonl')).toThrow('r.jsonl: expected result lines, got none');
  });
});

describe('distinguish', () => {
  it('tells three generations apart with few vectors, and keeps equal devices together', async () => {
    const ops = ['a100', 'h100', 'h200', 'b200'].map((device) =>
      findOp(device, 'mma.sync.m16n8k16.f32.bf16.bf16.f32'),
    );
    const { vectors, classes } = await distinguish(ops, referenceEngine(), 500);
    expect(classes).toEqual([[0], [1, 2, 3]]);
    expect(vectors).toHaveLength(1);
    const nonzero = vectors[0].vector.a.split(' ').filter((word) => !/^0+$/.test(word)).length;
    expect(nonzero).toBeLessThanOrEqual(2);
    expect(new Set(vectors[0].answers).size).toBe(2);
  });

  it('refuses operands that differ', async () => {
    const ops = [
      findOp('a100', 'mma.sync.m16n8k16.f32.bf16.bf16.f32'),
      findOp('a100', 'mma.sync.m16n8k16.f32.f16.f16.f32'),
    ];
    await expect(distinguish(ops, referenceEngine())).rejects.toThrow(
      'expected dense bf16 × bf16 + fp32 → fp32 of every device',
    );
  });
});
