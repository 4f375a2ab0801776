import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FORMATS, type FormatName } from '@bitmma/core';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { loadTensor, safetensorsParts, writeAtomically, writeTensor } from '../../src/files/index.js';

const folder = mkdtempSync(join(tmpdir(), 'bitmma-write-'));
afterAll(() => rmSync(folder, { recursive: true }));

function sample(format: FormatName) {
  const { wordBits } = FORMATS[format];
  if (wordBits === 8) return new Uint8Array([0, 1, 2, 3, 4, 5]);
  if (wordBits === 16) return new Uint16Array([0, 1, 0x7fff, 0x8000, 0xffff, 0x1f]);
  if (wordBits === 32) return new Uint32Array([0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x7f800001]);
  return new Uint32Array([0, 1, 2, 3, 0xffffffff, 0x7ff00000, 7, 8, 9, 10, 11, 12]);
}

const round = (['fp64', 'fp32', 'fp16', 'bf16', 'e4m3', 'e2m1', 'ue8m0', 's8', 'u8', 's32'] as const).flatMap(
  (format) => (['npy', 'hex', 'safetensors'] as const).map((ending) => [format, ending] as const),
);

it.each(round)('%s through .%s comes back word for word', async (format, ending) => {
  const path = join(folder, `${format}.${ending}`);
  await writeTensor(path, { format, words: sample(format), shape: [2, 3] });
  const back = await loadTensor(path, format);
  expect(back.shape).toEqual([2, 3]);
  expect([...back.words]).toEqual([...sample(format)]);
});

it('a failed write leaves neither the target nor a temporary file, and an old target as it was', async () => {
  const path = join(folder, 'kept.npy');
  writeFileSync(path, 'old');
  const broken = function* () {
    yield 'new';
    throw new Error('stopped');
  };
  await expect(writeAtomically(path, broken())).rejects.toThrow(/cannot be written/);
  expect(readFileSync(path, 'utf8')).toBe('old');
  expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

const python = inject('python');
describe.skipIf(python === null)(
  `NumPy and safetensors read what is written ${inject('pythonReason')}`,
  () => {
    const ask = (code: string) =>
      execFileSync(python!, ['-c', code], { encoding: 'utf8', cwd: folder }).trim();

    it('.npy', async () => {
      await writeTensor(join(folder, 'out.npy'), { format: 'fp32', words: sample('fp32'), shape: [3, 2] });
      expect(
        ask('import numpy as n; a=n.load("out.npy"); print(a.dtype, a.shape, a.view("u4").ravel().tolist())'),
      ).toBe(`float32 (3, 2) [${[...sample('fp32')].join(', ')}]`);
      await writeTensor(join(folder, 'out1.npy'), {
        format: 'bf16',
        words: new Uint16Array([0x3f80]),
        shape: [1],
      });
      expect(ask('import numpy as n, ml_dtypes as m; print(n.load("out1.npy").view(m.bfloat16))')).toBe(
        '[1]',
      );
    });

    it('.safetensors', async () => {
      const tensors = {
        fp4: { format: 'e2m1', words: new Uint8Array([1, 2, 3, 15]), shape: [2, 2] },
        scale: { format: 'ue8m0', words: new Uint8Array([127]), shape: [1] },
        d: { format: 'fp32', words: sample('fp32'), shape: [6] },
      } as const;
      await writeAtomically(join(folder, 'out.safetensors'), safetensorsParts(tensors, { made: 'here' }));
      const listed = ask(
        'import safetensors as s\nfor n,t in sorted(s.deserialize(open("out.safetensors","rb").read())): print(n, t["dtype"], t["shape"], t["data"].hex())',
      );
      expect(listed.split('\n').map((line) => line.trim())).toEqual([
        expect.stringMatching(/^d F32 \[6\] 0000000001000000ffffff7f/),
        expect.stringMatching(/^fp4 F4 \[2, 2\] 21f3$/),
        expect.stringMatching(/^scale F8_E8M0 \[1\] 7f$/),
      ]);
    });
  },
);
