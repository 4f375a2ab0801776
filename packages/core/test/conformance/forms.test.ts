import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readBinary, writeBinary, writeBinaryHeader } from '../../src/conformance/binary.js';
import type { CaseSet } from '../../src/conformance/cases.js';
import { campaignOf, campaignsFor, generateCases } from '../../src/conformance/generate.js';
import { linesOf, readVectors, writeVectors } from '../../src/conformance/jsonl.js';
import { readVectorFile, writeVectorFile } from '../../src/conformance/node.js';
import { findOp } from '../../src/datapath/aliases/op.js';
import { catalog } from '../../src/datapath/catalog/index.js';
import { InputError } from '../../src/errors.js';

const OPS = [
  findOp('h100', 'mma.sync.m16n8k16.f32.f16.f16.f32'),
  findOp('h100', 'mma.sync.m16n8k4.f64.f64.f64.f64'),
  findOp('h100', 'wgmma.mma_async.m64n8k32.f32.e4m3.e5m2'),
  findOp('b200', 'tcgen05.mma.kind::tf32.f32.tf32.tf32'),
  findOp('b200', 'tcgen05.mma.kind::i8.s32.u8.s8'),
  findOp('b200', 'tcgen05.mma.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.ue4m3'),
  findOp('b200', 'tcgen05.mma.sp.kind::tf32.f32.tf32.tf32'),
  findOp('b200', 'tcgen05.mma.sp.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.ue8m0'),
  findOp('mi300x', 'v_mfma_f32_16x16x32_fp8_bf8'),
];

/** A random set of an op, its own words standing in for d. */
const setOf = (op: (typeof OPS)[number], seed: number, count: number): CaseSet => {
  const set = generateCases(op, campaignOf('raw-bit'), { seed, count });
  const d = generateCases(op, campaignOf('raw-bit'), { seed: seed + 1, count }).c;
  return { ...set, d };
};

async function all(sets: AsyncIterable<CaseSet>): Promise<CaseSet[]> {
  const out: CaseSet[] = [];
  for await (const set of sets) out.push(set);
  return out;
}

const words = ({ a, b, c, d, scaleA, scaleB, sparse, k, count }: CaseSet) => ({
  a,
  b,
  c,
  d,
  scaleA,
  scaleB,
  sparse,
  k,
  count,
});

const cut = (text: string, at: readonly number[]): string[] => {
  const points = [0, ...[...at].map((x) => x % (text.length + 1)).sort((x, y) => x - y), text.length];
  return points.slice(1).map((end, i) => text.slice(points[i], end));
};

describe('round trips', () => {
  test('JSON Lines, read in any chunks', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...OPS),
        fc.nat(1000),
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.nat(), { maxLength: 8 }),
        fc.constantFrom('\n', '\r\n'),
        fc.boolean(),
        async (op, seed, count, at, newline, last) => {
          const set = setOf(op, seed, count);
          const text = [...writeVectors(set, { header: true })].join(newline) + (last ? newline : '');
          const [back, ...more] = await all(readVectors(cut(text, at), { source: 'x', resolve: findOp }));
          expect(more).toEqual([]);
          expect(words(back)).toEqual(words(set));
          expect(back.provenance).toEqual(set.provenance);
          expect(back.id(count - 1)).toBe(set.id(count - 1));
          expect([...writeVectors(back, { header: true })]).toEqual([...writeVectors(set, { header: true })]);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('binary, read in any chunks', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...OPS),
        fc.nat(1000),
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 300 }),
        async (op, seed, count, chunk, step) => {
          const set = setOf(op, seed, count);
          const bytes = writeBinary(set);
          async function* pieces() {
            for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step);
          }
          const back = await all(readBinary(pieces(), { source: 'x', resolve: findOp, chunk }));
          expect(back.reduce((n, part) => n + part.count, 0)).toBe(count);
          const text = (sets: CaseSet[]) =>
            sets.flatMap((part) => [...writeVectors({ ...part, id: () => '-' })]);
          expect(text(back)).toEqual(text([set]));
        },
      ),
      { numRuns: 60 },
    );
  });

  test('both forms as files', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bitmma-forms-'));
    const set = setOf(OPS[0], 3, 20);
    for (const name of ['x.jsonl', 'x.bmv']) {
      await writeVectorFile(join(folder, name), [set]);
      expect((await all(readVectorFile(join(folder, name)))).map(words)).toEqual([words(set)]);
    }
  });

  test('the layout is the documented one, byte by byte', () => {
    const op = findOp('v100', 'mma.sync.m8n8k4.f32.f16.f16.f32');
    const bytes = writeBinary({
      op,
      source: 'x',
      count: 1,
      k: 4,
      a: Uint16Array.of(0x3c00, 0xb800, 1, 2),
      b: Uint16Array.of(3, 4, 5, 6),
      c: Uint32Array.of(0x01020304),
      d: Uint32Array.of(0x0a0b0c0d),
      id: () => '0',
    });
    expect(Buffer.from(bytes.subarray(0, 8)).toString('latin1')).toBe('BITMMAV1');
    const length = new DataView(bytes.buffer).getUint32(8, true);
    expect((12 + length) % 8).toBe(0);
    expect(JSON.parse(Buffer.from(bytes.subarray(12, 12 + length)).toString('utf8'))).toEqual({
      op: { device: 'v100', instruction: op.instruction },
      k: 4,
      aBits: 16,
      bBits: 16,
      cBits: 32,
      dBits: 32,
      scaleWords: 0,
      sparseWords: 0,
      hasC: true,
      hasD: true,
    });
    expect(Buffer.from(bytes.subarray(12 + length)).toString('hex')).toBe(
      '003c00b801000200' + '0300040005000600' + '04030201' + '0d0c0b0a',
    );
  });
});

describe('bad JSON Lines', () => {
  const good = {
    id: 'x',
    device: 'v100',
    instruction: 'mma.sync.m8n8k4.f32.f16.f16.f32',
    a: '0000 0000 0000 0000',
    b: '0000 0000 0000 0000',
    c: '00000000',
    d: '00000000',
  };
  const nvfp4 = {
    ...good,
    device: 'b200',
    instruction: OPS[5].instruction,
    a: Array(64).fill('00').join(' '),
    b: Array(64).fill('00').join(' '),
    scaleA: '38 38 38 38',
    scaleB: '38 38 38 38',
  };
  const sparse = {
    ...good,
    device: 'b200',
    instruction: OPS[6].instruction,
    a: Array(16).fill('00000000').join(' '),
    b: Array(16).fill('00000000').join(' '),
    sparse: ['4e4e4e4e'],
  };
  const read = (lines: readonly unknown[]) =>
    all(
      readVectors(
        [lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')],
        {
          source: 'file.jsonl',
          resolve: findOp,
        },
      ),
    );

  test('the good ones pass', async () => {
    expect(await read([good, { ...nvfp4, id: 'y' }, { ...sparse, id: 'z' }])).toHaveLength(3);
  });

  test.each([
    ['{', /^file\.jsonl:2: expected one JSON object/],
    ['[1]', /^file\.jsonl:2: expected one JSON object, got \[1\]/],
    [{ ...good, id: undefined }, /^file\.jsonl:2: id: expected a string, got nothing/],
    [good, /^file\.jsonl:2: id: expected one unique in its file, got x again/],
    [{ ...good, id: 'y', a: '0000 0000 0000' }, /^file\.jsonl:2: a: expected 4 fp16 words, got 3/],
    [{ ...good, id: 'y', b: `${good.b} 0000` }, /^file\.jsonl:2: b: expected 4 fp16 words, got 5/],
    [
      { ...good, id: 'y', a: '000 0000 0000 0000' },
      /^file\.jsonl:2: a\[0\]: expected 4 hex digits of fp16, got "000"/,
    ],
    [{ ...good, id: 'y', a: '0000 0000 00g0 0000' }, /^file\.jsonl:2: a\[2\]: expected 4 hex digits/],
    [{ ...good, id: 'y', c: '0000' }, /^file\.jsonl:2: c\[0\]: expected 8 hex digits of fp32/],
    [{ ...good, id: 'y', c: undefined }, /^file\.jsonl:2: c: expected a string, got nothing/],
    [{ ...good, id: 'y', d: undefined }, /^file\.jsonl:2: d: expected a string, got nothing/],
    [{ ...good, id: 'y', d: 7 }, /^file\.jsonl:2: d: expected a string, got 7/],
    [{ ...good, id: 'y', e: 'x' }, /^file\.jsonl:2: e: expected one of the fields id, device/],
    [
      { ...good, id: 'y', instruction: 'mma.sync.m8n8k4' },
      /^file\.jsonl:2: instruction 'mma\.sync\.m8n8k4'|^file\.jsonl:2: .*mma\.sync\.m8n8k4/,
    ],
    [{ ...good, id: 'y', device: 'v1000' }, /^file\.jsonl:2: .*v1000/],
    [{ ...good, id: 'y', scaleA: '00' }, /^file\.jsonl:2: scaleA: expected none/],
    [{ ...good, id: 'y', sparse: ['00000000'] }, /^file\.jsonl:2: sparse: expected none/],
    [{ ...nvfp4, id: 'y', scaleA: undefined }, /^file\.jsonl:2: scaleA: expected 4 ue4m3 words, got nothing/],
    [{ ...nvfp4, id: 'y', scaleB: '38' }, /^file\.jsonl:2: scaleB: expected 4 ue4m3 words, got 1/],
    [
      { ...nvfp4, id: 'y', a: nvfp4.a.replace('00', '10') },
      /^file\.jsonl:2: a\[0\]: expected a 4-bit e2m1 word, got "10"/,
    ],
    [
      { ...sparse, id: 'y', sparse: undefined },
      /^file\.jsonl:2: sparse: expected 1 metadata word, got nothing/,
    ],
    [{ ...sparse, id: 'y', sparse: ['4e4e'] }, /^file\.jsonl:2: sparse\[0\]: expected 8 hex digits/],
    [
      { ...sparse, id: 'y', sparse: ['4e4e4e5e'] },
      /^file\.jsonl:2: sparse: expected a selector of 4, e in chunk 1, got 5/,
    ],
    [{ ...good, id: 'y', accept: ['0'] }, /^file\.jsonl:2: accept\[0\]\[0\]: expected 8 hex digits/],
    [{ bitmmaVectors: 1 }, /^file\.jsonl:2: bitmmaVectors: expected one of the fields/],
  ])('%j', async (line, message) => {
    const failure = read([good, line]);
    await expect(failure).rejects.toBeInstanceOf(InputError);
    await expect(failure).rejects.toThrow(message);
  });

  test.each([
    [{ bitmmaVectors: 2 }, /^file\.jsonl:1: bitmmaVectors: expected version 1, got 2/],
    [
      { bitmmaVectors: 1, provenance: { date: 1 } },
      /^file\.jsonl:1: provenance\.date: expected a string, got 1/,
    ],
    [{ bitmmaVectors: 1, more: 1 }, /^file\.jsonl:1: more: expected bitmmaVectors and provenance/],
  ])('header %j', async (line, message) => {
    await expect(read([line, good])).rejects.toThrow(message);
  });

  test('an empty file has no cases', async () => {
    expect(await read([''])).toEqual([]);
  });

  test('lines are cut at newlines only', async () => {
    const lines: string[] = [];
    for await (const line of linesOf(['a', '\nb\r', '\n', '', 'c'])) lines.push(line);
    expect(lines).toEqual(['a', 'b', 'c']);
  });
});

describe('bad binary files', () => {
  const set = setOf(OPS[0], 1, 2);
  const good = writeBinary(set);
  const read = (bytes: Uint8Array) => all(readBinary(bytes, { source: 'f.bmv', resolve: findOp }));
  const withHeader = (change: Record<string, unknown>) => {
    const header = {
      op: { device: 'h100', instruction: OPS[0].instruction },
      k: 16,
      aBits: 16,
      bBits: 16,
      cBits: 32,
      dBits: 32,
      scaleWords: 0,
      sparseWords: 0,
      hasC: true,
      hasD: true,
    };
    return writeBinaryHeader({ ...header, ...change } as typeof header);
  };

  test.each([
    ['empty', new Uint8Array(0), /^f\.bmv: byte 0: expected BITMMAV1, got ""/],
    ['magic', Uint8Array.from(good, (byte, i) => (i === 7 ? 0x32 : byte)), /byte 0: expected BITMMAV1/],
    ['no length', good.subarray(0, 10), /byte 8: expected a header length/],
    [
      'zero length',
      Uint8Array.from(good, (byte, i) => (i >= 8 && i < 12 ? 0 : byte)),
      /byte 8: expected a header length of 1/,
    ],
    ['short header', good.subarray(0, 40), /byte 12: expected a header of \d+ bytes, got 28/],
    [
      'header not JSON',
      Uint8Array.from(good, (byte, i) => (i === 12 ? 0x20 : byte)),
      /byte 12: expected a header of UTF-8 JSON/,
    ],
    ['truncated', good.subarray(0, good.length - 1), /expected a record of 72 bytes, got 71/],
    ['unknown field', withHeader({ extra: 1 }), /header\.extra: expected one of/],
    ['wrong width', withHeader({ aBits: 8 }), /header\.aBits: expected 16 for .*, got 8/],
    ['wrong type', withHeader({ hasD: 'yes' }), /header\.hasD: expected a boolean, got "yes"/],
    ['k of zero', withHeader({ k: 0 }), /header\.k: expected 1 or more, got 0/],
    ['fractional k', withHeader({ k: 1.5 }), /header\.k: expected an integer/],
    ['scale words', withHeader({ scaleWords: 1 }), /header\.scaleWords: expected 0/],
    ['unknown device', withHeader({ op: { device: 'nope', instruction: 'x' } }), /nope/],
    ['no d', withHeader({ hasD: false }), /header\.hasD: expected true, got false/],
  ])('%s', async (_, bytes, message) => {
    await expect(read(bytes)).rejects.toThrow(message);
    await expect(read(bytes)).rejects.toBeInstanceOf(InputError);
  });

  test('c left out counts as +0', async () => {
    const header = withHeader({ hasC: false, hasD: true });
    const record = new Uint8Array(68).fill(1);
    const [back] = await all(
      readBinary(Uint8Array.from([...header, ...record]), { source: 'f', resolve: findOp }),
    );
    expect(back.count).toBe(1);
    expect(back.c).toEqual(Uint32Array.of(0));
    expect(back.d).toEqual(Uint32Array.of(0x01010101));
  });
});

describe('generators', () => {
  test('every campaign fills every op that it applies to, slice by slice alike', () => {
    const seen = new Map(
      catalog().map((op) => [`${op.a} ${op.b} ${op.c} ${op.datapath.kind} ${op.sparsity}`, op]),
    );
    for (const op of seen.values())
      for (const campaign of campaignsFor(op)) {
        const whole = generateCases(op, campaign, { seed: 9, count: 6 });
        const part = generateCases(op, campaign, { seed: 9, start: 4, count: 2 });
        const lines = [...writeVectors(whole)].slice(4);
        expect([...writeVectors(part)], campaign.name).toEqual(lines);
      }
  });

  test('words are pinned', () => {
    const op = findOp('h100', 'mma.sync.m16n8k16.f32.f16.f16.f32');
    const text = campaignsFor(op).map((campaign) => [
      ...writeVectors(generateCases(op, campaign, { seed: 1, count: 2 })),
    ]);
    expect(text).toMatchSnapshot();
  });

  test('finite campaigns hold no special words', () => {
    for (const name of [
      'exponent-mantissa/normal',
      'exponent-mantissa/subnormal',
      'independent-bit',
      'normal',
      'cancellation',
      'window-edge',
    ]) {
      const op = findOp('mi300x', 'v_mfma_f32_16x16x32_fp8_bf8');
      const set = generateCases(op, campaignOf(name), { seed: 2, count: 200 });
      expect(
        [...set.a, ...set.b].every((word) => word !== 0x80),
        name,
      ).toBe(true);
      const half = generateCases(findOp('h100', 'mma.sync.m16n8k16.f32.f16.f16.f32'), campaignOf(name), {
        seed: 2,
        count: 200,
      });
      expect(
        [...half.a, ...half.b].every((word) => (word & 0x7c00) !== 0x7c00),
        name,
      ).toBe(true);
    }
  });

  test('an unknown campaign names the known ones', () => {
    expect(() => campaignOf('norml')).toThrow(/expected one of exponent-mantissa\/normal, /);
  });
});

test('a folder without vectors and a file of another kind are refused', async () => {
  const { findVectorFiles } = await import('../../src/conformance/node.js');
  const folder = mkdtempSync(join(tmpdir(), 'bitmma-none-'));
  writeFileSync(join(folder, 'README.md'), 'x');
  await expect(findVectorFiles([folder])).rejects.toThrow(
    /expected vector files or recordings in it, got none/,
  );
  await expect(findVectorFiles([join(folder, 'README.md')])).rejects.toThrow(
    /expected a \.jsonl or \.bmv file/,
  );
  await expect(findVectorFiles([join(folder, 'none')])).rejects.toThrow(/expected a file or folder, ENOENT/);
});
