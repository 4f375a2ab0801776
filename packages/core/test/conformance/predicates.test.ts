import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CaseSet } from '../../src/conformance/cases.js';
import { readVectors } from '../../src/conformance/jsonl.js';
import { runConformance } from '../../src/conformance/node.js';
import { PREDICATES, predicatesOf, unprovedClaims } from '../../src/conformance/predicates.js';
import { findOp } from '../../src/datapath/aliases/op.js';
import { referenceEngine } from '../../src/reference/index.js';

const line = (device: string, instruction: string, a: string, b: string, c: string, more = {}) => {
  const op = findOp(device, instruction);
  const fill = (text: string) => {
    const words = text.split(' ').filter((word) => word !== '');
    return [...words, ...Array(op.k - words.length).fill('0'.repeat(words[0]?.length ?? 4))].join(' ');
  };
  return JSON.stringify({ id: 'x', device, instruction, a: fill(a), b: fill(b), c, ...more });
};

async function one(text: string): Promise<CaseSet> {
  for await (const set of readVectors([text], { source: 'x', resolve: findOp, requireD: false })) return set;
  throw new Error('no case');
}

const h100 = ['h100', 'mma.sync.m16n8k16.f32.bf16.bf16.f32'] as const;
const h100Half = ['h100', 'mma.sync.m16n8k16.f16.f16.f16.f16'] as const;
const mi100 = ['mi100', 'v_mfma_f32_16x16x4f32'] as const;
const mi100Half = ['mi100', 'v_mfma_f32_16x16x16f16'] as const;

describe('predicates', () => {
  test.each([
    // 1 + 2^-11: half an ulp of fp16.
    ['tie', line(...h100Half, '3c00 1000', '3c00 3c00', '0000'), ['tie', 'inexact']],
    // 1 + 2^-10 + 2^-12: not half.
    ['no tie', line(...h100Half, '3c00 0c00', '3c00 3c00', '3c00'), ['inexact', 'carry']],
    // 2 - 2^-11 rounds up to 2... in fp16: (2 - 2^-10) + 2^-11 is a tie to even, 2.
    [
      'rounding carry',
      line(...h100Half, '3fff 1000', '3c00 3c00', '0000'),
      ['tie', 'inexact', 'rounding-carry'],
    ],
    // 1 and 2^-30, below the window of 25 bits.
    ['truncation', line(...h100, '3f80 3080', '3f80 3f80', '00000000'), ['truncation']],
    ['cancellation', line(...h100, '3f80 bf80', '3f80 3f80', '00000000'), ['cancellation']],
    ['carry', line(...h100, '3f80 3f80', '3f80 3f80', '00000000'), ['carry']],
    ['subnormals', line(...h100, '0001', '3f80', '00000000'), ['subnormal-input', 'subnormal-result']],
    // 2^-140 alone: the floor -133 sets E.
    ['floor', line(...h100, '1c00', '1d80', '00000000'), ['floor', 'subnormal-result']],
    ['c dominant', line(...h100, '3f80', '3f80', '40000000'), ['c-dominant']],
    ['overflow', line(...h100, '7f00 7f00', '3f80 3f80', '00000000'), ['overflow', 'carry']],
    ['infinity', line(...h100, '7f80', '3f80', '00000000'), ['inf']],
    ['nan', line(...h100, '7f80', '0000', '00000000'), ['nan', 'inf']],
    // Sequential FMA: 1 + 2^-24.
    ['fma tie', line(...mi100, '3f800000 33800000', '3f800000 3f800000', '00000000'), ['tie', 'inexact']],
    [
      'negative zero',
      line(
        ...mi100,
        '80000000 80000000 80000000 80000000',
        '3f800000 3f800000 3f800000 3f800000',
        '80000000',
      ),
      ['negative-zero'],
    ],
    ['exact cancellation', line(...mi100Half, '3c00 bc00', '3c00 3c00', '00000000'), ['cancellation']],
  ])('%s', async (_, text, expected) => {
    expect([...predicatesOf(await one(text), 0)].sort()).toEqual([...expected].sort());
  });

  test('a claim that does not hold is an error, and an unknown one', async () => {
    const claim = (claims: string[]) =>
      one(line(...h100, '3f80', '3f80', '00000000', { d: '3f800000', claims }));
    expect(unprovedClaims(await claim([]))).toEqual([]);
    expect(unprovedClaims(await claim(['tie']))).toEqual(['x: x: expected the claim tie to hold, got none']);
    expect(unprovedClaims(await claim(['hard']))[0]).toMatch(/expected a claim of tie, .*, got hard/);
  });

  test('conformance refuses a file with such a claim', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'bitmma-claims-')), 'x.jsonl');
    writeFileSync(path, line(...h100, '3f80', '3f80', '00000000', { d: '3f800000', claims: ['floor'] }));
    await expect(runConformance({ paths: [path], engine: referenceEngine() })).rejects.toThrow(
      /expected the claim floor to hold/,
    );
  });

  test('the schema lists every predicate', () => {
    const schema = JSON.parse(
      readFileSync(new URL('../../schemas/vectors.schema.json', import.meta.url), 'utf8'),
    );
    expect(schema.$defs.vector.properties.claims.items.enum).toEqual(Object.keys(PREDICATES));
  });
});
