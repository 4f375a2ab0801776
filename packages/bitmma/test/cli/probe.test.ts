import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findOp } from '@bitmma/core';
import { campaignOf, generateCases, recordOf } from '@bitmma/core/conformance';
import { referenceEngine } from '@bitmma/core/reference';
import { proveEqual, signatureOf } from '@bitmma/probe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT, run } from './run.js';

const folder = mkdtempSync(join(tmpdir(), 'bitmma-probe-'));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);

const VOLTA = ['--device', 'v100', '--instruction', 'mma.sync.m8n8k4.f32.f16.f16.f32'];
const AMPERE = 'mma.sync.m16n8k16.f32.bf16.bf16.f32';

beforeAll(async () => {
  const op = findOp('a100', AMPERE);
  const set = generateCases(op, campaignOf('window-edge'), { seed: 5, count: 64 });
  const session = await referenceEngine().open(op);
  const { a, b, c, count, k } = set;
  const d = new Uint32Array(count);
  for await (const _ of session.dots([{ a, b, c, d, count, k }]));
  await session.close();
  const records = Array.from({ length: count }, (_, i) => ({ ...recordOf(set, i, d), device: 'some-gpu' }));
  const lines = (list: readonly object[]) => list.map((record) => `${JSON.stringify(record)}\n`).join('');
  writeFileSync(at('results.jsonl'), lines(records));
  const flipped = records.map((record, i) => (i === 3 ? { ...record, d: 'deadbeef' } : record));
  writeFileSync(at('flipped.jsonl'), lines(flipped));
  const [first, second] = records as [(typeof records)[0], (typeof records)[0]];
  writeFileSync(at('mixed.jsonl'), lines([first, { ...second, instruction: 'mma.sync.m16n8k8.f32.bf16' }]));
  const { d: _, ...question } = first;
  writeFileSync(at('questions.jsonl'), lines([question]));
  writeFileSync(at('nameless.jsonl'), '{"id":"1"}\n');
  writeFileSync(at('foreign.jsonl'), lines([{ ...first, instruction: 'mma.sync.m1n1k1.f32.f16.f16.f32' }]));
  writeFileSync(at('text.jsonl'), 'hello\n');
  writeFileSync(at('empty.jsonl'), '');
  mkdirSync(at('folder'));
});

describe('probe', () => {
  it('prints features, datapath and evidence of an engine, and draws what it found', async () => {
    const drawn = at('found');
    const { code, out, err } = await run(
      ...['probe', '--engine', 'reference', ...VOLTA, '--cases', '50', '--svg', drawn],
    );
    expect(code, err).toBe(0);
    expect(err).toContain('fused-window: fits every answer');
    expect(out).toContain('Datapath: fused-window\n');
    expect(out).toMatch(/^ {2}fraction = 23\n {4}not 22: .+: [0-9a-f]{8} \(q\d+\)$/m);
    expect(out).toMatch(/alignment of products +23 fraction bits {2}\(.+: [0-9a-f]{8}/);
    expect(out).toMatch(/Campaign: 0 mismatches in \d+ random cases/);
    expect(out).toMatch(/\n\d+ questions asked\n$/);
    expect(readdirSync(drawn)).toEqual(['v100-mma.sync.m8n8k4.f32.f16.f16.f32.svg']);
  });

  it('as JSON carries a datapath that gives the same words as the one asked, and evidence that replays', async () => {
    const { code, out } = await run(
      ...['probe', '--engine', 'reference', ...VOLTA, '--cases', '50', '--json'],
    );
    expect(code).toBe(0);
    const found = JSON.parse(out);
    const op = findOp('v100', 'mma.sync.m8n8k4.f32.f16.f16.f32');
    expect(found.inside).toBe(true);
    expect(proveEqual(signatureOf(op), op.datapath, found.datapath)).not.toBeNull();
    const [{ evidence }] = found.features;
    writeFileSync(at('evidence.jsonl'), `${JSON.stringify(evidence[0])}\n`);
    const replayed = await run('identify', at('evidence.jsonl'));
    expect(replayed.out).toMatch(/^fits all 1 results:\n {2}v100 /);
  });

  // Every kind and prior is tried to the end: half a minute where the native engine is not built.
  it('exits 1 with the smallest counterexample where no datapath does what the box does', async () => {
    // A box whose sum depends on nothing: it answers c's word with the last bit turned.
    const box = at('box.mjs');
    writeFileSync(
      box,
      `import { createInterface } from 'node:readline';
for await (const line of createInterface({ input: process.stdin })) {
  const { id, c } = JSON.parse(line);
  console.log(JSON.stringify({ id, d: ((parseInt(c, 16) ^ 1) >>> 0).toString(16).padStart(8, '0') }));
}
`,
    );
    const { code, out } = await run(
      ...['probe', '--command', `${process.execPath} ${box}`, ...VOLTA, '--cases', '0'],
    );
    expect(out).toContain('Not in the model space');
    expect(out).toMatch(/Smallest counterexample\n {2}a .+\n {2}b .+\n {2}c .+\n {2}the box answers/);
    expect(code).toBe(1);
  }, 240_000);

  it('--table prints a device as Markdown, JSON and block diagrams', async () => {
    const text = await run('probe', '--table', '--device', 'v100');
    expect(text.code).toBe(0);
    expect(text.out).toMatch(/^\| .*Prd\. Align\./m);
    const drawn = at('table');
    const json = await run('probe', '--table', '--device', 'v100', '--json', '--svg', drawn);
    const columns = JSON.parse(json.out);
    expect(columns[0].devices).toEqual(['v100']);
    const files = readdirSync(drawn);
    expect(files).toHaveLength(columns.length);
    for (const file of files) expect(readFileSync(join(drawn, file), 'utf8')).toContain('<svg ');
  });
});

describe('distinguish', () => {
  const three = ['a100', 'h100', 'h200'].map((device) => `${device}:${AMPERE}`);

  it('prints the vectors with each answer, and who is not told apart', async () => {
    const { code, out } = await run('distinguish', ...three);
    expect(code).toBe(0);
    expect(out).toMatch(/^a \[\d+\] [0-9a-f]{4}.*; b \[\d+\] [0-9a-f]{4}.*; c [0-9a-f]{8}; 16 positions\n/);
    const answers = new Map([...out.matchAll(/^ {2}([0-9a-f]{8}) {2}(\w+) /gm)].map(([, d, of]) => [of, d]));
    expect(answers.get('h100')).toBe(answers.get('h200'));
    expect(answers.get('a100')).not.toBe(answers.get('h100'));
    expect(out).toMatch(/no difference in \d+ vectors: h100 \S+, h200 \S+\n$/);
  });

  it('as JSON gives vectors whose words dot repeats', async () => {
    const { code, out } = await run('distinguish', ...three, '--json');
    expect(code).toBe(0);
    const found = JSON.parse(out);
    expect(found.classes).toEqual([[0], [1, 2]]);
    const [{ vector, answers }] = found.vectors;
    const words = (text: string) => text.replaceAll(' ', ',');
    for (const [i, device] of ['a100', 'h100', 'h200'].entries()) {
      const argv = [words(vector.a), words(vector.b), '--device', device, '--instruction', AMPERE];
      const dot = await run('dot', ...argv, '--c', vector.c, '--engine', 'reference');
      expect(dot.out).toContain(answers[i]);
    }
  });
});

describe('identify', () => {
  it('names every device that gives the recorded words, and the nearest that do not', async () => {
    const { code, out } = await run('identify', at('results.jsonl'));
    expect(code).toBe(0);
    const [fits, rest] = out.split(/^(?=\d+ of 64 differ)/m, 2) as [string, string];
    expect(fits).toMatch(/^fits all 64 results:\n/);
    expect(fits).toMatch(/^ {2}a100 mma\.sync\.m16n8k16/m);
    expect(fits).toMatch(/^ {2}l40s /m);
    expect(fits).not.toContain('h100');
    expect(rest).toMatch(/recorded [0-9a-f]{8}, \w+ gives [0-9a-f]{8}/);
  });

  it('as JSON ranks every candidate by its mismatches', async () => {
    const { code, out } = await run('identify', at('results.jsonl'), '--json');
    expect(code).toBe(0);
    const candidates: { mismatches: number; cases: number; first: object | null }[] = JSON.parse(out);
    expect(candidates[0]).toMatchObject({ mismatches: 0, cases: 64, first: null });
    const counts = candidates.map(({ mismatches }) => mismatches);
    expect(counts).toEqual([...counts].sort((x, y) => x - y));
    expect(candidates.at(-1)!.first).not.toBeNull();
  });

  it('exits 1 where no device gives every recorded word', async () => {
    const { code, out } = await run('identify', at('flipped.jsonl'));
    expect(code).toBe(1);
    expect(out).not.toContain('fits all');
    expect(out).toContain('1 of 64 differ: ');
    expect(out).toContain('recorded deadbeef');
  });
});

/** Arguments (`@x` is a file of the folder) and what the one sentence must say. */
const BAD: readonly (readonly [string, readonly string[], RegExp])[] = [
  ['no operands', ['probe'], /expected --device and --instruction.*or --datapath/],
  ['a device alone', ['probe', '--device', 'v100'], /expected --device and --instruction/],
  ['two boxes', ['probe', ...VOLTA, '--engine', 'reference', '--command', 'x'], /expected .*, got both/],
  ['an empty command', ['probe', ...VOLTA, '--command', ' '], /--command: expected a program, got nothing/],
  ['a missing program', ['probe', ...VOLTA, '--command', './none'], /\.\/none does not start/],
  ['an unknown engine', ['probe', ...VOLTA, '--engine', 'abacus'], /expected one of .*got abacus/],
  ['an unknown device', ['probe', '--device', 'h1000', '--instruction', 'x'], /h1000.*nearest/],
  ['an unknown instruction', ['probe', '--device', 'v100', '--instruction', 'x'], /'x' on v100; nearest/],
  [
    'integers',
    ['probe', '--device', 'b200', '--instruction', 'tcgen05.mma.kind::i8.s32.u8.s8'],
    /expected a floating-point instruction, got u8/,
  ],
  ['a count that is none', ['probe', ...VOLTA, '--cases', 'many'], /--cases: .*got many/],
  ['a seed that is none', ['probe', ...VOLTA, '--seed', '0x1'], /--seed: .*got 0x1/],
  ['no such datapath', ['probe', '--datapath', '@none.json'], /cannot be read/],
  ['a table of no device', ['probe', '--table', '--device', 'zx81'], /zx81/],
  ['an unknown option', ['probe', ...VOLTA, '--quickly'], /unknown option '--quickly'/],
  ['no devices to tell apart', ['distinguish'], /missing required argument/],
  ['one device to tell apart', ['distinguish', 'a100'], /expected at least two devices, got 1/],
  ['an unknown device of two', ['distinguish', 'a100', 'zx81'], /zx81/],
  ['an unknown format', ['distinguish', 'a100', 'h100', '--a-format', 'fp99'], /fp99/],
  ['a format that one lacks', ['distinguish', 'a100', 'v100'], /v100 has no matrix instruction for bf16/],
  ['an instruction that it lacks', ['distinguish', 'a100:foo', 'h100'], /'foo' on a100/],
  [
    'operands that differ',
    ['distinguish', 'a100', 'a100:mma.sync.m16n8k16.f32.f16.f16.f32'],
    /expected dense bf16 × bf16.*got fp16/,
  ],
  ['no results', ['identify'], /missing required argument/],
  ['no such file', ['identify', '@none.jsonl'], /none\.jsonl: cannot be read/],
  ['a folder', ['identify', '@folder'], /folder: cannot be read/],
  ['an empty file', ['identify', '@empty.jsonl'], /expected result lines, got none/],
  ['a line of text', ['identify', '@text.jsonl'], /text\.jsonl:1: expected a JSON object a line/],
  ['a line without a device', ['identify', '@nameless.jsonl'], /nameless\.jsonl:1: device: expected/],
  ['a line without a word', ['identify', '@questions.jsonl'], /questions\.jsonl:1: d: expected/],
  ['two instructions', ['identify', '@mixed.jsonl'], /expected one device and instruction/],
  ['an instruction of nobody', ['identify', '@foreign.jsonl'], /some-gpu|m1n1k1/],
];

describe('bad input', () => {
  it.each(BAD)('%s: one sentence, exit code 2', async (_, argv, sentence) => {
    const { code, out, err } = await run(
      ...argv.map((item) => (item.startsWith('@') ? at(item.slice(1)) : item)),
    );
    expect(err.trimEnd().split('\n')).toHaveLength(1);
    expect(err).toMatch(/^bitmma: /);
    expect(err).toMatch(sentence);
    expect(out).toBe('');
    expect(code).toBe(2);
  });

  it('is the exit code of the program too', () => {
    const program = join(ROOT, 'packages/bitmma/dist/cli/main.js');
    const { status, stderr } = spawnSync(process.execPath, [program, 'probe'], { encoding: 'utf8' });
    expect(stderr).toMatch(/^bitmma: probe: expected/);
    expect(status).toBe(2);
  });
});
