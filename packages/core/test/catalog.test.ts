import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { catalog, catalogHash, defaultOp, devices, findOp, opHash } from '../src/index.js';

const data = process.env.BITMMA_DATA ?? fileURLToPath(new URL('../../../../shared', import.meta.url));
const vectors = `${data}/vectors/b200-tcgen05.jsonl`;

describe('catalog', () => {
  it('names every op once and finds it by its own name', () => {
    const names = catalog().map((op) => `${op.device} ${op.instruction}`);
    expect(new Set(names).size).toBe(names.length);
    for (const op of catalog()) expect(findOp(op.device, op.instruction)).toBe(op);
  });

  it('is frozen to the leaves', () => {
    const walk = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      expect(Object.isFrozen(value)).toBe(true);
      for (const member of Object.values(value)) walk(member);
    };
    walk(catalog());
    walk(devices());
  });

  it('keeps its hash', () => {
    expect({
      ops: catalog().length,
      arithmetics: new Set(catalog().map(opHash)).size,
      hash: catalogHash(),
    }).toMatchSnapshot();
  });

  it.skipIf(!existsSync(vectors))('has every instruction of the recorded tcgen05 words, with its K', () => {
    const lines = readFileSync(vectors, 'utf8').trim().split('\n');
    expect(lines).toHaveLength(59);
    for (const line of lines) {
      const { device, instruction, a } = JSON.parse(line) as {
        device: string;
        instruction: string;
        a: string;
      };
      const op = findOp(device, instruction);
      expect(op.instruction).toBe(instruction);
      expect(a.split(' ')).toHaveLength(op.k);
    }
  });

  it('picks what libraries use', () => {
    expect(defaultOp('h100', { a: 'e4m3', b: 'e5m2' }).instruction).toBe(
      'wgmma.mma_async.m64n8k32.f32.e4m3.e5m2',
    );
    expect(defaultOp('b200', { a: 'e2m1', b: 'e2m1', scale: 'ue8m0' }).instruction).toBe(
      'tcgen05.mma.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.ue8m0',
    );
    expect(defaultOp('mi250', { a: 'bf16', b: 'bf16' }).instruction).toBe('v_mfma_f32_16x16x16bf16_1k');
  });
});
