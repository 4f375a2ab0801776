import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { reportLines } from '../../src/conformance/index.js';
import { findVectorFiles, runConformance } from '../../src/conformance/node.js';
import {
  narrowExactly,
  readRecording,
  recordingSetOf,
  roundToFp16,
} from '../../src/conformance/recordings.js';
import { findOp } from '../../src/datapath/aliases/op.js';
import { cast } from '../../src/formats/cast.js';
import { decode } from '../../src/formats/decode.js';
import { encode } from '../../src/formats/encode.js';
import { FORMATS } from '../../src/formats/table.js';
import { referenceEngine } from '../../src/reference/index.js';

const DATA = process.env.BITMMA_DATA ?? fileURLToPath(new URL('../../../../../shared', import.meta.url));
const has = (name: string) => existsSync(join(DATA, name));

describe('recorded words', () => {
  test.skipIf(!has('recordings'))('the reference reproduces every recorded set', async () => {
    const files = await findVectorFiles([join(DATA, 'recordings')]);
    const result = await runConformance({ paths: files, engine: referenceEngine() });
    expect(result.failed, [...reportLines(result)].join('\n')).toBe(0);
    expect(result.passed).toBe(5000 * files.length);
    expect(files).toHaveLength(30);
  });

  test.skipIf(!has('vectors'))('the reference reproduces the recorded tcgen05 vectors', async () => {
    const result = await runConformance({ paths: [join(DATA, 'vectors')], engine: referenceEngine() });
    expect(result.failed, [...reportLines(result)].join('\n')).toBe(0);
    expect(result.passed).toBe(59);
  });
});

describe('the importer', () => {
  const zeros = '0'.repeat(32);
  const text = {
    a: '3f800000 bf000000 00000000 80000000 \n',
    b: '3f800000 3f800000 3f800000 3f800000 \n',
    c: `${zeros}\n`,
    d: `${(0x3f000000).toString(2).padStart(32, '0')}\n`,
  };
  const set = { gpu: 'V100', format: 'fp16', output: 'fp32' } as const;

  test('reads operands, addend and result', () => {
    const read = readRecording(set, text, findOp, 'here');
    expect([...read.a]).toEqual([0x3c00, 0xb800, 0, 0x8000]);
    expect([...read.d!]).toEqual([0x3f000000]);
    expect(read.op.instruction).toBe('mma.sync.m8n8k4.f32.f16.f16.f32');
    expect(read.id(0)).toBe('V100-fp16-fp32-1');
  });

  test('c is rounded to fp16, and d narrowed, for fp16 output', () => {
    // 1 + 2^-11 ties to 1; 1 + 2^-10 + 2^-11 ties to 1 + 2^-9.
    const c = (word: number) => `${word.toString(2).padStart(32, '0')}\n`;
    const fp16 = { ...set, output: 'fp16' } as const;
    expect(readRecording(fp16, { ...text, c: c(0x3f801000) }, findOp, 'x').c[0]).toBe(0x3c00);
    const read = readRecording(fp16, { ...text, c: c(0x3f803000), d: c(0x3f802000) }, findOp, 'x');
    expect([...read.c, ...read.d!]).toEqual([0x3c02, 0x3c01]);
  });

  test('H100 FP8 with fp32 output is wgmma and ignores c', () => {
    const line = Array(32).fill('3f800000').join(' ');
    const read = readRecording(
      { gpu: 'H100', format: 'E4M3', output: 'fp32' },
      { a: line, b: line, c: '1'.repeat(32), d: zeros },
      findOp,
      'x',
    );
    expect(read.op.instruction).toBe('wgmma.mma_async.m64n8k32.f32.e4m3.e4m3');
    expect([...read.c]).toEqual([0]);
  });

  test('paths name sets', () => {
    expect(recordingSetOf('x/H100/E4M3/d_H100_fp16.txt')).toEqual({
      gpu: 'H100',
      format: 'E4M3',
      output: 'fp16',
    });
    expect(recordingSetOf('x/H100/E4M3/a_H100_E4M3.txt')).toBeNull();
    expect(recordingSetOf('x/H100/E4M3/d_A100_fp16.txt')).toBeNull();
    expect(recordingSetOf('x/H900/E4M3/d_H900_fp16.txt')).toBeNull();
  });

  test.each([
    [{ a: text.a.replace('bf000000', 'bf00000g') }, /a_V100_fp16\.txt:1: expected 8 hex digits/],
    [
      { a: text.a.replace('bf000000', '3f800001') },
      /a_V100_fp16\.txt:1: expected a value of fp16, got the fp32 word 3f800001/,
    ],
    [{ b: '3f800000\n' }, /b_V100_fp16\.txt:1: expected 4 words, got 1/],
    [{ b: text.b + text.b }, /b_V100_fp16\.txt: expected 1 lines, got 2/],
    [{ c: `${zeros}\n${zeros}\n` }, /c_V100_fp32\.txt: expected 1 lines, got 2/],
    [{ d: '2'.repeat(32) }, /d_V100_fp32\.txt:1: expected 32 binary digits/],
    [{ a: '3f800000\n' }, /a: expected 4 words a line, got 1|expected 4 words a line|expected 4/],
  ])('refuses %j', (change, message) => {
    expect(() => readRecording(set, { ...text, ...change }, findOp, 'x')).toThrow(message);
  });
});

describe('conversions of the importer, against the formats', () => {
  test.each(['fp16', 'bf16', 'e4m3', 'e5m2'] as const)('%s from fp32, every word', (name) => {
    const format = FORMATS[name];
    for (let word = 0; word < 2 ** format.wordBits; word++) {
      const x = decode(format, word);
      if (x.kind !== 'finite') continue;
      const wide = Number(encode(FORMATS.fp32, x.negative, BigInt(x.sig), x.lsb));
      expect(narrowExactly(wide, name)).toBe(word);
    }
  });

  test('fp16 specials are kept, what does not fit is refused', () => {
    expect(narrowExactly(0x7f800000, 'fp16')).toBe(0x7c00);
    expect(narrowExactly(0xff800000, 'fp16')).toBe(0xfc00);
    expect(narrowExactly(0x7fffe000, 'fp16')).toBe(0x7fff);
    for (const word of [0x7fffffff, 0x33000000, 0x47800000, 0x3f800001])
      expect(() => narrowExactly(word, 'fp16')).toThrow(/expected a value of fp16/);
    for (const word of [0x43f00000, 0x7f800000])
      expect(() => narrowExactly(word, 'e4m3')).toThrow(/expected a value of e4m3/);
  });

  test('fp32 to fp16 rounds to nearest even', () => {
    let word = 12345;
    for (let i = 0; i < 20000; i++) {
      word = (Math.imul(word, 1664525) + 1013904223) >>> 0;
      // Exponents about fp16's range.
      const probe = ((word & 0x807fffff) | ((95 + (word % 56)) << 23)) >>> 0;
      expect(roundToFp16(probe)).toBe(cast(probe, FORMATS.fp32, FORMATS.fp16));
    }
    expect(roundToFp16(0x7f800000)).toBe(0x7c00);
  });
});
