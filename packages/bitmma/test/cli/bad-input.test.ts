import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { safetensorsParts, writeAtomically, writeTensor } from '../../dist/files/index.js';
import { run } from './run.js';

const folder = mkdtempSync(join(tmpdir(), 'bitmma-bad-'));
const at = (name: string) => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));

const half = (rows: number, cols: number) =>
  ({ format: 'fp16', words: new Uint16Array(rows * cols).fill(0x3c00), shape: [rows, cols] }) as const;

beforeAll(async () => {
  await writeTensor(at('a.npy'), half(2, 16));
  await writeTensor(at('b.npy'), half(16, 3));
  await writeTensor(at('wide.npy'), half(2, 32));
  await writeTensor(at('c.npy'), { format: 'fp32', words: new Uint32Array(6), shape: [2, 3] });
  await writeTensor(at('c-wrong.npy'), { format: 'fp32', words: new Uint32Array(6), shape: [3, 2] });
  await writeTensor(at('vector.npy'), { format: 'fp16', words: new Uint16Array(16), shape: [16] });
  await writeTensor(at('batch.npy'), { format: 'fp16', words: new Uint16Array(64), shape: [2, 2, 16] });
  await writeTensor(at('batch3.npy'), { format: 'fp16', words: new Uint16Array(144), shape: [3, 16, 3] });
  await writeTensor(at('single.npy'), { format: 'fp32', words: new Uint32Array(32), shape: [2, 16] });
  await writeTensor(at('single-b.npy'), { format: 'fp32', words: new Uint32Array(48), shape: [16, 3] });
  await writeTensor(at('bytes.npy'), { format: 'e4m3', words: new Uint8Array(32), shape: [2, 16] });
  await writeTensor(at('ints.npy'), { format: 's32', words: new Uint32Array(32).fill(1000), shape: [2, 16] });
  await writeTensor(at('fp4-a.npy'), { format: 'e2m1', words: new Uint8Array(128), shape: [2, 64] });
  await writeTensor(at('fp4-b.npy'), { format: 'e2m1', words: new Uint8Array(192), shape: [64, 3] });
  await writeTensor(at('scale-a.npy'), {
    format: 'ue8m0',
    words: new Uint8Array(4).fill(127),
    shape: [2, 2],
  });
  await writeTensor(at('scale-b.npy'), {
    format: 'ue8m0',
    words: new Uint8Array(6).fill(127),
    shape: [3, 2],
  });
  await writeTensor(at('meta.npy'), {
    format: 's32',
    words: new Uint32Array(2).fill(0x44444444),
    shape: [2, 1],
  });
  await writeTensor(at('meta-bad.npy'), {
    format: 's32',
    words: new Uint32Array([0x44444440, 0x44444444]),
    shape: [2, 1],
  });
  await writeTensor(at('sparse-b.npy'), half(32, 3));
  await writeAtomically(at('t.safetensors'), safetensorsParts({ a: half(2, 16), b: half(16, 3) }));
  writeFileSync(at('text.npy'), 'hello, this is not an array');
  writeFileSync(at('empty.npy'), '');
  writeFileSync(at('broken.safetensors'), 'xxxxxxxxxxxxxxxxxxxxxxxx');
  writeFileSync(at('broken.npz'), 'PK not a zip archive at all, really not');
  writeFileSync(at('words.hex'), '3c00 3c00\n3c00\n');
  writeFileSync(at('digits.hex'), '3c00 xyz\n');
  writeFileSync(at('nothing.hex'), '# only a comment\n');
  writeFileSync(at('bad.json'), '{"a":"fp16","b":"fp16","k":16,"datapath":{"kind":"fused-window"}}');
  writeFileSync(at('not.json'), 'hello');
  writeFileSync(at('manifest.json'), '{"bitmmaManifest":2}');
  mkdirSync(at('folder.npy'));
});

const AB = ['@a.npy', '@b.npy'];
const H = ['--device', 'h100'];

/** Arguments (`@x` is a file of the folder) and what the sentence must say. */
const TABLE: readonly (readonly [string, readonly string[], RegExp])[] = [
  ['no such command', ['frobnicate'], /unknown command 'frobnicate'/],
  ['a misspelt command', ['gem'], /unknown command 'gem'.*gemm/],
  ['an unknown option', ['gemm', ...AB, '--devise', 'h100'], /unknown option '--devise'.*--device/],
  ['an option without its value', ['gemm', ...AB, '--device'], /argument missing/],
  ['no operands', ['gemm'], /missing required argument 'A'/],
  ['one operand', ['gemm', '@a.npy'], /missing required argument 'B'/],
  ['three operands', ['gemm', ...AB, '@c.npy', ...H], /too many arguments/],
  ['no device', ['gemm', ...AB], /expected a device or a datapath, got neither/],
  ['an unknown device', ['gemm', ...AB, '--device', 'h1000'], /h1000.*h100/],
  ['an uncharacterised device', ['gemm', ...AB, '--device', 'mi355x'], /not been characterised/],
  ['an uncharacterised B300', ['gemm', ...AB, '--device', 'b300'], /not been characterised/],
  [
    'an unknown instruction',
    ['gemm', ...AB, ...H, '--instruction', 'mma.sync.m1n1k1.f32.f16.f16.f32'],
    /mma\.sync\.m1n1k1/,
  ],
  [
    "another device's instruction",
    ['gemm', ...AB, ...H, '--instruction', 'v_mfma_f32_16x16x16_f16'],
    /h100 has no instruction/,
  ],
  [
    'an instruction without a device',
    ['gemm', ...AB, '--instruction', 'mma.sync.m16n8k16.f32.f16.f16.f32'],
    /expected a device beside the instruction/,
  ],
  ['an unknown format', ['gemm', ...AB, ...H, '--a-format', 'fp17'], /fp17/],
  ['an ambiguous format', ['gemm', '@bytes.npy', '@b.npy', ...H, '--a-format', 'fp8'], /may mean/],
  [
    'a bare FP8 name on AMD',
    ['gemm', '@bytes.npy', '@b.npy', '--device', 'mi300x', '--a-format', 'e4m3'],
    /two readings: e4m3fnuz/,
  ],
  [
    'a format that the device lacks',
    ['gemm', ...AB, '--device', 'v100', '--a-format', 'bf16', '--b-format', 'bf16'],
    /v100 has no matrix instruction for bf16/,
  ],
  [
    'fp32 operands on h100',
    ['gemm', '@single.npy', '@single-b.npy', ...H],
    /no matrix instruction for fp32.*state the operands' formats/,
  ],
  [
    'a format that contradicts the instruction',
    ['gemm', ...AB, ...H, '--instruction', 'wgmma.mma_async.m64n8k16.f32.f16.f16', '--a-format', 'bf16'],
    /--a-format: expected fp16.*got bf16/,
  ],
  [
    'an accumulator that the instruction lacks',
    ['gemm', ...AB, ...H, '--instruction', 'wgmma.mma_async.m64n8k16.f32.f16.f16', '--accumulate', 'f16'],
    /--accumulate: expected fp32.*got fp16/,
  ],
  [
    'an accumulator that the device lacks',
    ['gemm', ...AB, '--device', 'mi300x', '--accumulate', 'f16'],
    /no matrix instruction for fp16 x fp16 -> fp16/,
  ],
  [
    'an output format that is no float',
    ['gemm', ...AB, ...H, '--out-format', 's8'],
    /--out-format: expected a float format/,
  ],
  [
    'raw bytes without a format',
    ['gemm', '@bytes.npy', '@bytes.npy', '--trans-b', ...H],
    /8 bits but not which format/,
  ],
  [
    'raw bytes as a 16-bit format',
    ['gemm', '@bytes.npy', '@b.npy', ...H, '--a-format', 'bf16'],
    /expected 16-bit words for bf16, got .*8 bits/,
  ],
  [
    'inner dimensions that differ',
    ['gemm', '@wide.npy', '@b.npy', ...H],
    /2 x 32 and .* 16 x 3: expected A's columns to equal B's rows/,
  ],
  ['B not transposed', ['gemm', '@a.npy', '@a.npy', ...H], /expected A's columns to equal B's rows/],
  [
    'a vector for a matrix',
    ['gemm', '@vector.npy', '@b.npy', ...H],
    /expected a matrix, got the shape \[16\]/,
  ],
  ['batches that differ', ['gemm', '@batch.npy', '@batch3.npy', ...H], /expected batch dimensions/],
  ['C of another shape', ['gemm', ...AB, ...H, '--c', '@c-wrong.npy'], /expected C to be 2 x 3, got 3 x 2/],
  ['a file that is not there', ['gemm', '@nowhere.npy', '@b.npy', ...H], /no such file/],
  ['a folder', ['gemm', '@folder.npy', '@b.npy', ...H], /is a folder/],
  ['a file of no known ending', ['gemm', '@a.bin', '@b.npy', ...H], /expected a file ending in .npy/],
  ['text for a .npy', ['gemm', '@text.npy', '@b.npy', ...H], /not a .npy file/],
  ['an empty .npy', ['gemm', '@empty.npy', '@b.npy', ...H], /not a .npy file/],
  ['text for a .safetensors', ['gemm', '@broken.safetensors:a', '@b.npy', ...H], /does not fit the file/],
  ['text for a .npz', ['gemm', '@broken.npz:a', '@b.npy', ...H], /not a readable .npz archive/],
  ['a tensor that is not there', ['gemm', '@t.safetensors:z', '@b.npy', ...H], /has no tensor z; it has/],
  [
    'an archive without a name',
    ['gemm', '@t.safetensors', '@b.npy', ...H],
    /name one of its tensors after a colon/,
  ],
  ['hex without a format', ['gemm', '@words.hex', '@b.npy', ...H], /hex text does not say its format/],
  ['ragged hex', ['gemm', '@words.hex', '@b.npy', ...H, '--a-format', 'fp16'], /line 2: expected 2 words/],
  [
    'hex that is none',
    ['gemm', '@digits.hex', '@b.npy', ...H, '--a-format', 'fp16'],
    /line 1: expected a fp16 word of 4 hex digits, got xyz/,
  ],
  [
    'hex without words',
    ['gemm', '@nothing.hex', '@b.npy', ...H, '--a-format', 'fp16'],
    /expected rows of hex words, got none/,
  ],
  [
    'integers out of range',
    ['gemm', '@ints.npy', '@ints.npy', '--trans-b', '--device', 'a100', '--a-format', 's8'],
    /expected s8 values of -128..127, got 1000/,
  ],
  ['an unknown cast', ['gemm', ...AB, ...H, '--cast', 'up'], /--cast: expected rne or rz, got up/],
  [
    'an unknown engine',
    ['gemm', ...AB, ...H, '--engine', 'abacus'],
    /engine: expected one of auto, .*got abacus/,
  ],
  ['an engine without hardware', ['gemm', ...AB, '--device', 'mi300x', '--engine', 'hip'], /engine hip/],
  ['an unknown kernel', ['gemm', ...AB, ...H, '--engine', 'reference', '--kernel', 'turbo'], /turbo/],
  ['an output of no known ending', ['gemm', ...AB, ...H, '--out', '@d.csv'], /expected an output ending in/],
  [
    'an output in no folder',
    ['gemm', ...AB, ...H, '--engine', 'reference', '--out', '@none/d.npy'],
    /its folder does not exist/,
  ],
  [
    'scales of a dense instruction',
    [
      'gemm',
      ...AB,
      ...H,
      '--instruction',
      'wgmma.mma_async.m64n8k16.f32.f16.f16',
      '--scale-a',
      '@scale-a.npy',
      '--scale-b',
      '@scale-b.npy',
    ],
    /expected no scales/,
  ],
  [
    'one of two scales',
    [
      'gemm',
      '@fp4-a.npy',
      '@fp4-b.npy',
      '--device',
      'b200',
      '--a-format',
      'e2m1',
      '--scale-format',
      'ue8m0',
      '--scale-a',
      '@scale-a.npy',
    ],
    /expected scales of A and of B/,
  ],
  [
    'scales of no known format',
    [
      'gemm',
      '@fp4-a.npy',
      '@fp4-b.npy',
      '--device',
      'b200',
      '--a-format',
      'e2m1',
      '--scale-a',
      '@scale-a.npy',
      '--scale-b',
      '@scale-b.npy',
    ],
    /state the scale format/,
  ],
  [
    'scales of another shape',
    [
      'gemm',
      '@fp4-a.npy',
      '@fp4-b.npy',
      '--device',
      'b200',
      '--a-format',
      'e2m1',
      '--scale-format',
      'ue8m0',
      '--scale-a',
      '@scale-b.npy',
      '--scale-b',
      '@scale-b.npy',
    ],
    /expected the scales of A .* to be 2 x 2, got 3 x 2/,
  ],
  [
    'scales of another width',
    [
      'gemm',
      '@fp4-a.npy',
      '@fp4-b.npy',
      '--device',
      'b200',
      '--a-format',
      'e2m1',
      '--scale-format',
      'ue8m0',
      '--scale-a',
      '@a.npy',
      '--scale-b',
      '@scale-b.npy',
    ],
    /scales of 8 bits/,
  ],
  [
    'an unknown scale format',
    ['gemm', ...AB, ...H, '--scale-format', 'e5m3'],
    /--scale-format: expected ue8m0 or ue4m3/,
  ],
  [
    'metadata for a dense instruction',
    ['gemm', ...AB, ...H, '--sparse-meta', '@meta.npy'],
    /is dense: expected no sparse metadata/,
  ],
  [
    'a sparse instruction without metadata',
    [
      'gemm',
      '@wide.npy',
      '@sparse-b.npy',
      '--device',
      'b200',
      '--instruction',
      'tcgen05.mma.sp.kind::f16.f32.f16.f16',
    ],
    /expected sparse metadata, got none/,
  ],
  [
    'an illegal selector',
    [
      'gemm',
      '@wide.npy',
      '@sparse-b.npy',
      '--device',
      'b200',
      '--instruction',
      'tcgen05.mma.sp.kind::f16.f32.f16.f16',
      '--sparse-meta',
      '@meta-bad.npy',
      '--engine',
      'reference',
    ],
    /selector.*chunk 0 of row 0/,
  ],
  [
    'metadata of another width',
    [
      'gemm',
      '@wide.npy',
      '@sparse-b.npy',
      '--device',
      'b200',
      '--instruction',
      'tcgen05.mma.sp.kind::f16.f32.f16.f16',
      '--sparse-meta',
      '@a.npy',
    ],
    /expected 32-bit metadata words/,
  ],
  ['a datapath that is not JSON', ['gemm', ...AB, '--datapath', '@not.json'], /expected JSON/],
  ['a datapath that lacks fields', ['gemm', ...AB, '--datapath', '@bad.json'], /datapath\.block/],
  ['a datapath that is not there', ['gemm', ...AB, '--datapath', '@none.json'], /cannot be read/],
  ['a datapath beside a device', ['gemm', ...AB, ...H, '--datapath', '@bad.json'], /datapath/],
  [
    'words of two widths',
    ['dot', '3c00,3c', '3c00,3c00', ...H, '--a-format', 'fp16'],
    /expected 4 hex digits as in its first word, got 3c/,
  ],
  ['words of an odd width', ['dot', '3c0', '3c0', ...H, '--a-format', 'fp16'], /1, 2, 4, 8 or 16 hex digits/],
  ['words that are none', ['dot', '3g00', '3c00', ...H, '--a-format', 'fp16'], /expected a file ending in/],
  ['words without a format', ['dot', '3c00', '3c00', ...H], /16 bits but not which format/],
  [
    'vectors of two lengths',
    ['dot', '3c00,3c00', '3c00', ...H, '--a-format', 'fp16'],
    /expected A's columns to equal B's rows/,
  ],
  ['an element without a row', ['dot', ...AB, ...H], /expected a row of 0 to 1, got none/],
  [
    'a row out of range',
    ['explain', ...AB, ...H, '--row', '2', '--col', '0'],
    /expected a row of 0 to 1, got 2/,
  ],
  [
    'a row that is no number',
    ['explain', ...AB, ...H, '--row', '0x1', '--col', '0'],
    /--row: expected a whole number.*got 0x1/,
  ],
  [
    'a block out of range',
    ['explain', ...AB, ...H, '--row', '0', '--col', '0', '--block', '9'],
    /--block: expected a whole number of 0 to 0, got 9/,
  ],
  [
    'a picture of no known ending',
    ['explain', ...AB, ...H, '--row', '0', '--col', '0', '--picture', 'x.gif'],
    /expected a file ending in .svg or .html/,
  ],
  ['one device to compare', ['compare', ...AB, '--devices', 'h100'], /expected at least two devices/],
  ['no devices to compare', ['compare', ...AB], /required option '--devices <list>' not specified/],
  ['the same device twice', ['compare', ...AB, '--devices', 'h100,hopper'], /h100 is named twice/],
  [
    'a device of --on that is not compared',
    ['compare', ...AB, '--devices', 'h100,b200', '--on', 'v100=fp16'],
    /v100 is not among --devices/,
  ],
  [
    'a malformed --on',
    ['compare', ...AB, '--devices', 'h100,b200', '--on', 'h100'],
    /--on: expected DEVICE=FORMAT/,
  ],
  [
    'results of two formats',
    [
      'compare',
      ...AB,
      '--devices',
      'h100,b200',
      '--on',
      'b200=tcgen05.mma.kind::f16.f16.f16.f16',
      '--engine',
      'reference',
    ],
    /expected results of one format/,
  ],
  ['a manifest of another version', ['verify', '@manifest.json'], /bitmmaManifest/],
  ['a manifest that is not JSON', ['verify', '@not.json'], /expected a manifest in JSON/],
  ['a manifest that is not there', ['verify', '@none.json'], /cannot be read/],
  ['rows that are none', ['verify', '@manifest.json', '--rows', 'a-b'], /--rows/],
  ['an unknown quantiser', ['quantize', '@a.npy', '--to', 'int3', '--out', '@q.safetensors'], /int3/],
  [
    'a quantiser into integers',
    ['quantize', '@a.npy', '--to', 's8', '--out', '@q.safetensors'],
    /--to: expected/,
  ],
  [
    'an unknown scale rule',
    ['quantize', '@a.npy', '--to', 'mxfp4', '--rule', 'round', '--out', '@q.safetensors'],
    /--rule: expected floor or ceil or even or rceil/,
  ],
  [
    'an unknown axis',
    ['quantize', '@a.npy', '--to', 'mxfp4', '--axis', '2', '--out', '@q.safetensors'],
    /--axis: expected 0 or 1/,
  ],
  [
    'quantised into .npy',
    ['quantize', '@a.npy', '--to', 'mxfp4', '--out', '@q.npy'],
    /expected a file ending in .safetensors/,
  ],
  [
    'a batch to quantise',
    ['quantize', '@batch.npy', '--to', 'mxfp4', '--out', '@q.safetensors'],
    /expected a matrix/,
  ],
  [
    'an unknown pattern',
    ['prune', '@a.npy', '--pattern', '3:4', '--out', '@q.safetensors'],
    /--pattern: expected/,
  ],
  [
    'a K that a pattern does not divide',
    ['prune', '@c.npy', '--out', '@q.safetensors'],
    /expected a K that is a multiple of 4/,
  ],
  ['conformance of nothing', ['conformance', '@folder.npy'], /got none/],
  ['conformance of no file', ['conformance', '@none.jsonl'], /none.jsonl/],
  ['conformance of auto', ['conformance', '@a.npy', '--engine', 'auto'], /expected a named engine/],
  ['recording no file', ['record', '--in', '@none.jsonl', '--out', '@r.jsonl'], /./],
  [
    'recording on no such API',
    ['record', '--in', '@a.npy', '--out', '@r.jsonl', '--api', 'metal'],
    /--api: expected cuda or hip/,
  ],
  [
    'recording on GPU minus one',
    ['record', '--in', '@a.npy', '--out', '@r.jsonl', '--gpu', '-1'],
    /--gpu: expected a whole number/,
  ],
  ['an unknown device to list', ['devices', '--device', 'zx81'], /zx81/],
];

it('has at least 60 rows', () => expect(TABLE.length).toBeGreaterThanOrEqual(60));

it.each(TABLE)('%s', async (_, argv, sentence) => {
  const before = readdirSync(folder).sort();
  const { code, out, err } = await run(
    ...argv.map((item) => (item.startsWith('@') ? at(item.slice(1)) : item)),
  );
  const lines = err.split('\n').filter((line) => line !== '' && !line.startsWith('note: '));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^bitmma: /);
  expect(lines[0]).toMatch(sentence);
  expect(code).toBe(2);
  expect(out).toBe('');
  expect(readdirSync(folder).sort()).toEqual(before);
});
