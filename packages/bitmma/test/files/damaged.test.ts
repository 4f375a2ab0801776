import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BitmmaError } from '@bitmma/core';
import fc from 'fast-check';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { loadTensor, writeTensor } from '../../src/files/index.js';

const fixtures = inject('fixtures');
const folder = mkdtempSync(join(tmpdir(), 'bitmma-damaged-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Reads, or throws one of our own errors; anything else fails the test. */
async function readsOrRefuses(path: string): Promise<'read' | 'refused'> {
  try {
    await loadTensor(path);
    return 'read';
  } catch (error) {
    if (error instanceof BitmmaError) return 'refused';
    throw error;
  }
}

it('a .npy cut at any byte is refused', async () => {
  const path = join(folder, 'cut.npy');
  await writeTensor(path, { format: 'fp32', words: new Uint32Array(6), shape: [2, 3] });
  const { length } = readFileSync(path);
  for (let size = length - 1; size >= 0; size--) {
    truncateSync(path, size);
    expect(await readsOrRefuses(path)).toBe('refused');
  }
});

describe.skipIf(fixtures === null)(`damaged bytes ${inject('pythonReason')}`, () => {
  it.each([1, 300, 15_401_184, 2 ** 31])(
    'a size of %i bytes too many in an archive is refused, and nothing more is thrown',
    async (more) => {
      const bytes = readFileSync(join(fixtures!, 'deflated.npz'));
      for (
        let at = bytes.indexOf('PK\x01\x02', 0, 'latin1');
        at >= 0;
        at = bytes.indexOf('PK\x01\x02', at + 4, 'latin1')
      )
        bytes.writeUInt32LE(bytes.readUInt32LE(at + 24) + more, at + 24);
      const path = join(folder, 'size.npz');
      writeFileSync(path, bytes);
      const thrown: unknown[] = [];
      const listen = (error: unknown) => thrown.push(error);
      process.on('uncaughtException', listen);
      expect(await readsOrRefuses(`${path}:left`)).toBe('refused');
      await new Promise((resolve) => setTimeout(resolve, 100));
      process.off('uncaughtException', listen);
      expect(thrown).toEqual([]);
    },
  );

  const cases = [
    ['batch.npy', 'm.npy'],
    ['stored.npz', 'm.npz:left'],
    ['deflated.npz', 'm.npz:left'],
    ['tensors.safetensors', 'm.safetensors:f32'],
    ['narrow.safetensors', 'm.safetensors:fp4'],
  ] as const;
  it.each(cases)('%s: every change of a few bytes is read or refused', async (name, target) => {
    const whole = readFileSync(join(fixtures!, name));
    const path = join(folder, target.replace(/:.*/, ''));
    const change = fc.record({
      at: fc.nat(Math.min(whole.length, 4000) - 1),
      byte: fc.nat(255),
      tail: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
        const bytes = Buffer.from(whole);
        for (const { at, byte, tail } of changes) bytes[tail ? bytes.length - 1 - at : at] = byte;
        writeFileSync(path, bytes);
        await readsOrRefuses(join(folder, target));
      }),
      { numRuns: 300 },
    );
  });
});
