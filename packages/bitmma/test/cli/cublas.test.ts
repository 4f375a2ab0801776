import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type OutMatrix, scaledMm, scaleWord } from '../../src/cublas/index.js';
import { loadTensor } from '../../src/files/open.js';
import { writeTensor } from '../../src/files/write.js';
import { columnMajor, fp8Words, rowMajor, w32 } from '../cublas/matrices.js';
import { run } from './run.js';

const [m, n, k] = [3, 16, 48];
const a = fp8Words('e4m3', m * k, 1);
const b = fp8Words('e4m3', k * n, 2);
let folder: string;
const file = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bitmma-cublas-'));
  const rows = new Uint8Array(k * n);
  for (let i = 0; i < k; i++) for (let j = 0; j < n; j++) rows[i * n + j] = b[j * k + i]!;
  await writeTensor(file('a.npy'), { format: 'e4m3', words: a, shape: [m, k] });
  await writeTensor(file('weight.safetensors'), { format: 'e4m3', words: b, shape: [n, k] });
  await writeTensor(file('b.npy'), { format: 'e4m3', words: rows, shape: [k, n] });
  await writeTensor(file('scale.npy'), { format: 'fp32', words: Uint32Array.of(w32(0.5)), shape: [1] });
});

const expected = (more: object): Promise<OutMatrix> =>
  scaledMm(rowMajor(a, m, k), columnMajor(b, k, n), {
    scaleA: scaleWord(w32(0.5)),
    scaleB: scaleWord(w32(2)),
    splitK: 1,
    outDtype: 'bf16',
    ...more,
  });

const scaled = (bFile: string, ...more: string[]) =>
  run('scaled-mm', file('a.npy'), file(bFile), '--a-format', 'e4m3', '--engine', 'reference', ...more);

describe('bitmma scaled-mm', () => {
  test.each([
    ['a torch weight N x K', 'weight.safetensors', ['--trans-b']],
    ['a matrix K x N, copied to column-major', 'b.npy', []],
  ])('%s gives the library’s words', async (_, bFile, flags) => {
    const out = file(`${bFile}.out.npy`);
    const scales = ['--scale-a', '0x3f000000', '--scale-b', '2', '--split-k', '1', '--out-dtype', 'bf16'];
    const done = await scaled(bFile, ...flags, ...scales, '--out', out);
    expect(done.err.includes('copied to column-major')).toBe(flags.length === 0);
    expect(done.code).toBe(0);
    expect((await loadTensor(out, 'bf16')).words).toEqual((await expected({})).words);
  });

  test.each([
    ['N x K, slow, bf16', 'weight.safetensors', ['--trans-b', '--split-k', '1', '--out-dtype', 'bf16']],
    [
      'K x N, fast, split in two, FP8',
      'b.npy',
      ['--fast-accum', '--split-k', '2:contiguous', '--scale-result', '0.0001'],
    ],
  ])(
    'a manifest is accepted by other engines, and rejected or indeterminate where it must be: %s',
    async (_, bFile, flags) => {
      const [copy, d, manifest] = [file('copy.npy'), file('d.npy'), file('manifest.json')];
      await writeFile(copy, await readFile(file('a.npy')));
      const argv = [
        'scaled-mm',
        copy,
        file(bFile),
        '--a-format',
        'e4m3',
        '--scale-a',
        '0.5',
        '--scale-b',
        '3',
        ...flags,
      ];
      const ran = await run(...argv, '--engine', 'reference', '--out', d, '--manifest', manifest);
      expect(ran.code, ran.err).toBe(0);
      const check = async (...more: string[]) => {
        const { code, out } = await run('verify', manifest, ...more);
        return [code, out.split(':')[0]];
      };
      for (const engine of ['reference', 'wasm']) {
        expect(await check('--engine', engine)).toEqual([0, 'accepted']);
        expect(await check('--engine', engine, '--rows', '0,2')).toEqual([0, 'accepted']);
      }
      const json = JSON.parse(await readFile(manifest, 'utf8'));
      const edited = async (edit: (run: typeof json) => void) => {
        const other = structuredClone(json);
        edit(other.runs[0]);
        await writeFile(manifest, JSON.stringify(other));
      };
      await edited(({ result }) => {
        result.rowHashes[1] = '0'.repeat(32);
      });
      expect(await check('--rows', '0,2')).toEqual([0, 'accepted']);
      expect(await check('--rows', '1')).toEqual([1, 'rejected']);
      await edited(({ options }) => {
        options.scaleB = '0x40800000';
      });
      expect(await check()).toEqual([1, 'rejected']);
      await edited(({ options }) => {
        options.profile = 'ada';
      });
      expect(await check()).toEqual([2, 'indeterminate']);
      await edited(({ options }) => {
        options.splitK = 'auto';
      });
      expect((await run('verify', manifest)).code).toBe(2);
      await edited(() => {});
      const words = await readFile(d);
      words[words.length - 1]! ^= 1;
      await writeFile(d, words);
      expect(await check()).toEqual([1, 'rejected']);
      const input = await readFile(copy);
      input[input.length - 1]! ^= 1;
      await writeFile(copy, input);
      expect(await check()).toEqual([2, 'indeterminate']);
    },
  );

  test('scales from a file, fast accumulation, FP8 output with its scale, JSON', async () => {
    const flags = [
      '--scale-a',
      file('scale.npy'),
      '--scale-b',
      '2',
      '--scale-result',
      '0.25',
      '--fast-accum',
    ];
    const done = await scaled('b.npy', ...flags, '--split-k', '1', '--json', '--out', file('d.npy'));
    expect(JSON.parse(done.out)).toMatchObject({
      profile: 'hopper',
      shape: [m, n],
      k,
      format: 'e4m3',
      fastAccum: true,
    });
    const want = await expected({ outDtype: 'e4m3', useFastAccum: true, scaleResult: scaleWord(w32(0.25)) });
    expect((await loadTensor(file('d.npy'), 'e4m3')).words).toEqual(want.words);
  });

  test('split-K auto without a table fails with the three ways out, with one it runs', async () => {
    const scales = ['--scale-a', '1', '--scale-b', '1', '--out-dtype', 'bf16'];
    const unknown = await scaled('b.npy', ...scales);
    expect(unknown).toMatchObject({ code: 2, out: '' });
    expect(unknown.err).toMatch(/give splitK explicitly/);
    const entry = {
      m,
      n,
      k,
      a: 'e4m3',
      b: 'e4m3',
      out: 'bf16',
      fastAccum: false,
      split: 1,
      scheme: null,
      evidence: 'a test',
    };
    const table = {
      format: 'bitmma-split-table-1',
      profile: 'hopper',
      workspace: 0,
      libraries: '',
      entries: [entry],
    };
    await writeFile(file('table.json'), JSON.stringify(table));
    expect((await scaled('b.npy', ...scales, '--split-table', file('table.json'))).code).toBe(0);
  });

  test.each([
    [
      'a scale that is neither number nor file',
      ['--scale-a', 'half', '--scale-b', '1'],
      /--scale-a: expected a number/,
    ],
    [
      'an output format torch has not',
      ['--scale-a', '1', '--scale-b', '1', '--out-dtype', 'fp64'],
      /--out-dtype/,
    ],
    ['a split without scheme', ['--scale-a', '1', '--scale-b', '1', '--split-k', '2'], /--split-k/],
    [
      'another preset’s scheme',
      ['--scale-a', '1', '--scale-b', '1', '--split-k', '2:serial'],
      /contiguous on preset hopper/,
    ],
    ['an unknown profile', ['--scale-a', '1', '--scale-b', '1', '--profile', 'volta'], /hopper or ada/],
    [
      'a table that is no JSON',
      ['--scale-a', '1', '--scale-b', '1', '--split-table', 'a.npy'],
      /cannot be read|expected JSON/,
    ],
    [
      'e5m2 x e5m2',
      ['--scale-a', '1', '--scale-b', '1', '--a-format', 'e5m2', '--b-format', 'e5m2', '--split-k', '1'],
      /at most one e5m2/,
    ],
  ])('%s is one line and exit code 2', async (_, flags, message) => {
    const done = await scaled('b.npy', ...flags);
    expect(done.code).toBe(2);
    expect(done.err).toMatch(message);
    expect(done.err.trim().split('\n').at(-1)).toMatch(/^bitmma: /);
  });
});

describe('bitmma plan', () => {
  test('prints chains and additions', async () => {
    const done = await run(
      'plan',
      '--k',
      '192',
      '--profile',
      'ada',
      '--split-k',
      '3:pairwise',
      '--fast-accum',
    );
    expect(done.out).toBe(
      'ch0: 0..64\nch1: 64..128\nch2: 128..192\naccumulator = ((ch2 + ch0) + ch1), fp32 round to nearest even\n',
    );
  });

  test('JSON is the plan as data; an empty split warns', async () => {
    const done = await run('plan', '--k', '128', '--split-k', '2:contiguous', '--fast-accum', '--json');
    expect(JSON.parse(done.out)).toMatchObject({
      preset: 'hopper',
      k: 128,
      chains: [[{ k0: 0, k1: 128 }], []],
    });
    expect(done.err).toMatch(/own no k tile/);
  });

  test.each([
    [['--k', 'x'], /--k/],
    [['--k', '64', '--preset', 'b200_mma_sync'], /slow accumulation is not characterised/],
    [['--k', '64', '--split-k', 'auto'], /--split-k/],
  ])('%j is refused', async (flags, message) => {
    const done = await run('plan', ...flags);
    expect(done).toMatchObject({ code: 2, out: '' });
    expect(done.err).toMatch(message);
  });
});
