import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { loadTensor } from '../../dist/files/index.js';
import { ROOT, run } from './run.js';

const commands = inject('commands');
const folder = mkdtempSync(join(tmpdir(), 'bitmma-commands-'));
afterAll(() => rmSync(folder, { recursive: true }));
const out = (name: string) => join(folder, name);
const file = (name: string) => join(commands!, name);

interface Expected {
  gemm: Record<string, { command: string; words: string[]; shape: number[] }>;
  quantised: Record<string, { elements: string; scales: string }>;
}
const expected: Expected =
  commands === null ? { gemm: {}, quantised: {} } : JSON.parse(readFileSync(file('expected.json'), 'utf8'));

const hexWords = (words: ArrayLike<number>) =>
  Array.from(words, (word) => word.toString(16).padStart(8, '0'));

describe.skipIf(commands === null)(
  `on files of NumPy, ml_dtypes and safetensors ${inject('pythonReason')}`,
  () => {
    it.each(Object.entries(expected.gemm))('gemm: %s', async (name, { command, words, shape }) => {
      const target = out(`${name.replace(/\W+/g, '-')}.npy`);
      const argv = command.split(' ').map((item) => item.replace(/^@/, `${commands}/`));
      const ran = await run(...argv, '--engine', 'reference', '--out', target, '--json');
      expect(ran.code, ran.err).toBe(0);
      const report = JSON.parse(ran.out);
      const d = await loadTensor(target);
      expect(d.shape).toEqual(shape);
      expect(hexWords(d.words)).toEqual(words);
      expect(report.shape).toEqual(shape);
      expect(report.words).toBeUndefined();
      expect(report.written).toEqual([target]);
    });

    it.each(Object.entries(expected.quantised))('quantize: %s as ml_dtypes casts', async (name, want) => {
      const [kind, rule] = name.split(' ');
      const target = out(`q-${name.replace(' ', '-')}.safetensors`);
      const ran = await run(
        'quantize',
        file('x.npy'),
        '--to',
        kind!,
        ...(rule ? ['--rule', rule] : []),
        '--out',
        target,
      );
      expect(ran.code, ran.err).toBe(0);
      const format = { 'mxfp6-e2m3': 'e2m3', 'mxfp6-e3m2': 'e3m2' }[kind!] as 'e2m3' | undefined;
      const elements = await loadTensor(`${target}:elements`, format);
      const scales = await loadTensor(`${target}:scales`);
      expect(Buffer.from(scales.words as Uint8Array).toString('hex')).toBe(want.scales);
      expect(Buffer.from(elements.words as Uint8Array).toString('hex')).toBe(want.elements);
    });

    it('quantize along the other axis gives the transposed elements and the same scales', async () => {
      const [rows, cols] = [out('rows.safetensors'), out('cols.safetensors')];
      await run('quantize', file('x.npy'), '--to', 'mxfp8-e4m3', '--out', rows);
      const x = await loadTensor(file('x.npy'));
      const turned = new Uint32Array(x.words.length);
      for (let i = 0; i < 4; i++) for (let j = 0; j < 96; j++) turned[j * 4 + i] = x.words[i * 96 + j]!;
      const { writeTensor } = await import('../../dist/files/index.js');
      await writeTensor(out('xt.npy'), { format: 'fp32', words: turned, shape: [96, 4] });
      const ran = await run('quantize', out('xt.npy'), '--to', 'mxfp8-e4m3', '--axis', '0', '--out', cols);
      expect(ran.out).toContain('elements 96 x 4 of e4m3, scales 4 x 3 of ue8m0');
      const [a, b] = [await loadTensor(`${rows}:elements`), await loadTensor(`${cols}:elements`)];
      for (let i = 0; i < 4; i++)
        for (let j = 0; j < 96; j++) expect(b.words[j * 4 + i]).toBe(a.words[i * 96 + j]);
      expect((await loadTensor(`${cols}:scales`)).words).toEqual((await loadTensor(`${rows}:scales`)).words);
    });

    it('a block-scaled GEMM of quantised files', async () => {
      for (const kind of ['mxfp8-e4m3', 'mxfp4', 'nvfp4']) {
        const q = out(`operand-${kind}.safetensors`);
        await run('quantize', file('x.npy'), '--to', kind, '--out', q);
        const ran = await run(
          ...[
            'gemm',
            `${q}:elements`,
            `${q}:elements`,
            '--trans-b',
            '--device',
            'b200',
            '--engine',
            'reference',
          ],
          ...['--scale-a', `${q}:scales`, '--scale-b', `${q}:scales`, '--json'],
        );
        expect(ran.code, ran.err).toBe(0);
        const { op, error, shape } = JSON.parse(ran.out);
        expect(op.scaling).not.toBeNull();
        expect(shape).toEqual([4, 4]);
        // The fp64 product reads the same scales: a wrong index would be off by whole binades.
        expect(error.meanRelative).toBeLessThan(1e-5);
      }
    });

    it('a sparse GEMM: pruned and compressed operands give the same words', async () => {
      const p = out('pruned.safetensors');
      const x = out('x16.safetensors');
      await run('quantize', file('x.npy'), '--to', 'fp16', '--out', x);
      expect((await run('prune', `${x}:elements`, '--out', p)).out).toContain(
        'pruned 4 x 96 of fp16, 2:4; meta 4 x 3',
      );
      const results = [];
      for (const operand of ['pruned', 'compressed']) {
        const ran = await run(
          ...[
            'gemm',
            `${p}:${operand}`,
            `${x}:elements`,
            '--trans-b',
            '--sparse-meta',
            `${p}:meta`,
            '--device',
            'b200',
          ],
          ...['--instruction', 'tcgen05.mma.sp.kind::f16.f32.f16.f16', '--engine', 'reference', '--json'],
        );
        expect(ran.code, ran.err).toBe(0);
        results.push(JSON.parse(ran.out));
      }
      expect(results[0].sha256).toBe(results[1].sha256);
      expect(results[0].error.meanRelative).toBeLessThan(1e-4);
    });

    it('dot and explain give the word that gemm gives, on every device of a comparison', async () => {
      const operands = [
        file('a-bf16.npy'),
        `${file('w-bf16.safetensors')}:layer.weight`,
        '--trans-b',
        '--a-format',
        'bf16',
      ];
      for (const device of ['a100', 'h100', 'b200', 'mi100', 'mi250', 'mi300x']) {
        const target = out(`d-${device}.npy`);
        await run('gemm', ...operands, '--device', device, '--engine', 'reference', '--out', target);
        const word = hexWords((await loadTensor(target)).words)[2 * 4 + 3];
        const element = [...operands, '--device', device, '--row', '2', '--col', '3', '--json'];
        expect(JSON.parse((await run('dot', ...element)).out).d).toBe(word);
        const trace = JSON.parse((await run('explain', ...element)).out);
        expect(trace.d).toBe(word);
        expect(trace.blocks.at(-1).d).toBe(word);
        expect(trace.blocks[0].k0).toBe(0);
      }
    });

    it('compare counts what differs and explains the first difference with its own command', async () => {
      const a = `${file('batch.npz')}:a`;
      const map = out('map.svg');
      const ran = await run(
        'compare',
        a,
        `${file('batch.npz')}:b`,
        '--devices',
        'a100,h100,mi100',
        '--engine',
        'reference',
        '--heat-map',
        map,
      );
      expect(ran.code, ran.err).toBe(0);
      expect(readFileSync(map, 'utf8')).toMatch(/^<svg xmlns=[\s\S]*a100 against h100[\s\S]*<\/svg>\n$/);
      const [, line] = /to explain the first:\n {2}bitmma (.*)\n/.exec(ran.out)!;
      const told = await run(...line!.split(' '));
      expect(told.code, told.err).toBe(0);
      const [, words] = /\| row \d+, column \d+ \| (0x\w+ : 0x\w+) \|/.exec(ran.out)!;
      for (const word of words!.split(' : ')) expect(told.out).toContain(word);
      expect(told.out).toMatch(/Equal up to k = \d+ .* they part in k \d+ to \d+/);
    });

    it('a manifest is accepted, rejected where a word changed, indeterminate where an input changed', async () => {
      const [a, b] = [out('ma.npy'), out('mb.safetensors')];
      writeFileSync(a, readFileSync(file('a-e4m3.npy')));
      writeFileSync(b, readFileSync(file('b-e5m2.safetensors')));
      const [d, manifest] = [out('md.npy'), out('m.json')];
      const argv = ['gemm', a, `${b}:b`, '--device', 'h100', '--a-format', 'e4m3', '--engine', 'reference'];
      await run(...argv, '--out', d, '--manifest', manifest);
      const check = async (...more: string[]) => {
        const { code, out: text } = await run('verify', manifest, '--engine', 'reference', ...more);
        return [code, text.split(':')[0]];
      };
      expect(await check()).toEqual([0, 'accepted']);
      expect(await check('--rows', '1-2')).toEqual([0, 'accepted']);
      const bytes = readFileSync(d);
      bytes[bytes.length - 1]! ^= 1;
      writeFileSync(d, bytes);
      expect(await check()).toEqual([1, 'rejected']);
      rmSync(d);
      expect(await check()).toEqual([0, 'accepted']);
      const json = JSON.parse(readFileSync(manifest, 'utf8'));
      const kept = json.runs[0].result.rowHashes[1];
      json.runs[0].result.rowHashes[1] = '0'.repeat(32);
      writeFileSync(manifest, JSON.stringify(json));
      expect(await check('--rows', '0')).toEqual([0, 'accepted']);
      expect(await check('--rows', '1')).toEqual([1, 'rejected']);
      json.runs[0].result.rowHashes[1] = kept;
      json.runs[0].op.datapath.fraction = 14;
      writeFileSync(manifest, JSON.stringify(json));
      expect(await check()).toEqual([2, 'indeterminate']);
      json.runs[0].op.datapath.fraction = 13;
      writeFileSync(manifest, JSON.stringify(json));
      const input = readFileSync(a);
      input[input.length - 1]! ^= 1;
      writeFileSync(a, input);
      expect(await check()).toEqual([2, 'indeterminate']);
      rmSync(a);
      expect(await check()).toEqual([2, 'indeterminate']);
    });

    it("a datapath of the user's own runs wherever a device is accepted, and warns once", async () => {
      const own = out('own.json');
      const trace = JSON.parse(
        (
          await run(
            'explain',
            file('a-bf16.npy'),
            `${file('w-bf16.safetensors')}:layer.weight`,
            '--trans-b',
            '--a-format',
            'bf16',
            '--device',
            'h100',
            '--row',
            '0',
            '--col',
            '0',
            '--json',
          )
        ).out,
      );
      writeFileSync(
        own,
        JSON.stringify({ a: 'bf16', b: 'bf16', k: 16, datapath: { ...trace.datapath, fraction: 8 } }),
      );
      const operands = [file('a-bf16.npy'), `${file('w-bf16.safetensors')}:layer.weight`, '--trans-b'];
      const ran = await run('gemm', ...operands, '--datapath', own, '--engine', 'reference', '--json');
      expect(ran.code, ran.err).toBe(0);
      expect(ran.err.match(/^warning: .*datapath of your own/gm)).toHaveLength(1);
      const pair = await run(
        'compare',
        ...operands,
        '--a-format',
        'bf16',
        '--devices',
        'h100',
        '--datapath',
        own,
        '--engine',
        'reference',
        '--json',
      );
      expect(pair.code, pair.err).toBe(0);
      expect(JSON.parse(pair.out).pairs[0]).toMatchObject({ left: 'h100', right: 'own.json' });
    });

    it('--out-format converts once at the end, --accumulate chooses the instruction', async () => {
      const operands = [
        `${file('batch.npz')}:a`,
        `${file('batch.npz')}:b`,
        '--device',
        'a100',
        '--engine',
        'reference',
        '--json',
      ];
      const half = JSON.parse((await run('gemm', ...operands, '--accumulate', 'f16')).out);
      const late = JSON.parse((await run('gemm', ...operands, '--out-format', 'bf16')).out);
      expect(half.op.d).toBe('fp16');
      expect(half.op.instruction).toBe('mma.sync.m16n8k16.f16.f16.f16.f16');
      expect(late.op.d).toBe('fp32');
      expect(late.format).toBe('bf16');
      expect(late.casts.at(-1)).toMatchObject({ operand: 'D', from: 'fp32', to: 'bf16', rounding: 'RNE' });
    });
  },
);

it('derived arithmetic warns once', async () => {
  const ran = await run('dot', '3c00,3c00', '3c00,3c00', '--a-format', 'fp16', '--device', 'rtx 5090');
  expect(ran.code, ran.err).toBe(0);
  expect(ran.err.match(/^warning: .*derived, never checked on that device/gm)).toHaveLength(1);
});

it('the example of a datapath is one', async () => {
  const own = join(ROOT, 'examples/datapath.json');
  const ran = await run('dot', '7800,3f00,f800', '6000,3c00,6000', '--datapath', own);
  expect(ran.code, ran.err).toBe(0);
  expect(ran.out).toMatch(/^0x3f800000 {2}1 /);
});

it('0x1F on the command line is a word of two digits', async () => {
  const ran = await run('dot', '0x1F', '0x38', '--a-format', 'e4m3', '--device', 'h100', '--json');
  expect(JSON.parse(ran.out).value).toBe('0.1171875');
});

it('devices lists the catalog', async () => {
  const { ops, engines } = JSON.parse((await run('devices', '--json')).out);
  expect(ops.length).toBeGreaterThan(300);
  expect(engines.find((engine: { id: string }) => engine.id === 'reference').available).toBe(true);
  expect((await run('devices', '--device', 'mi300')).out).toMatch(
    /mi300x +v_mfma_f32_16x16x16_f16 +cdna3-window/,
  );
});

it('says that a chain goes beyond words recorded with c = 0', async () => {
  const words = (count: number) => new Array<string>(count).fill('38').join(',');
  const chain = ['--device', 'h100', '--a-format', 'e4m3'];
  expect((await run('dot', words(32), words(32), ...chain)).err).toBe('');
  expect((await run('dot', words(64), words(64), ...chain)).err).toMatch(
    /^warning: .*recorded with c = 0 alone/,
  );
  expect((await run('dot', words(32), words(32), '--c', '3f800000', ...chain)).err).toMatch(
    /recorded with c = 0 alone/,
  );
});
