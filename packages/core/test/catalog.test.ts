import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  canonicalJson,
  catalog,
  catalogHash,
  defaultOp,
  devices,
  findOp,
  InputError,
  type MmaOp,
  opHash,
} from '../src/index.js';

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

  it('is what the committed listing says, line by line', async () => {
    const lines = catalog().map(
      (op) =>
        `${op.device} ${op.instruction} ${op.datapath.kind} ${op.evidence.level} ${opHash(op).slice(0, 16)}`,
    );
    const arithmetics = new Set(catalog().map(opHash)).size;
    const head = `catalog ${catalogHash()}\n${lines.length} ops, ${arithmetics} arithmetics\n`;
    await expect(`${head}${lines.join('\n')}\n`).toMatchFileSnapshot('catalog.snap');
  });

  it('hashes canonical JSON, whatever the order of keys', () => {
    expect(canonicalJson({ b: [1, -0, null], a: { d: true, c: 'é"' } })).toBe(
      '{"a":{"c":"é\\"","d":true},"b":[1,0,null]}',
    );
    for (const bad of [1.5, Number.NaN, 2 ** 53, 1n, () => 0, undefined, [undefined]])
      expect(() => canonicalJson(bad)).toThrow(InputError);
    const op = findOp('h100', 'mma.sync.m16n8k16.f32.f16.f16.f32');
    const turned = Object.fromEntries(Object.entries(op).reverse()) as unknown as MmaOp;
    expect(opHash(turned)).toBe(opHash(op));
    const { a, b, c, d, k, datapath, scaling, sparsity } = op;
    const text = canonicalJson({ a, b, c, d, k, datapath, scaling, sparsity });
    expect(opHash(op)).toBe(createHash('sha256').update(text).digest('hex'));
    expect(catalogHash()).toBe(createHash('sha256').update(canonicalJson(catalog())).digest('hex'));
  });

  it('gives one hash to one arithmetic', () => {
    const hash = (device: string, instruction: string) => opHash(findOp(device, instruction));
    expect(hash('h100', 'mma.sync.m16n8k16.f32.f16.f16.f32')).toBe(
      hash('rtx50', 'mma.sync.m16n8k16.f32.f16.f16.f32'),
    );
    expect(hash('h100', 'wgmma.mma_async.m64n8k16.f32.f16.f16')).toBe(
      hash('h100', 'mma.sync.m16n8k16.f32.f16.f16.f32'),
    );
    expect(hash('a100', 'mma.sync.m16n8k16.f32.f16.f16.f32')).not.toBe(
      hash('h100', 'mma.sync.m16n8k16.f32.f16.f16.f32'),
    );
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
