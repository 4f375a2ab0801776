import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { TARGETED, textOf } from '../../scripts/targeted/index.js';
import { reportLines } from '../../src/conformance/index.js';
import { runConformance } from '../../src/conformance/node.js';
import { referenceEngine } from '../../src/reference/index.js';

const FOLDER = fileURLToPath(new URL('../../vectors/', import.meta.url));

/** `BITMMA_WRITE=1 vitest run test/conformance/targeted.test.ts` writes the files. */
if (process.env.BITMMA_WRITE === '1') {
  rmSync(FOLDER, { recursive: true, force: true });
  for (const file of TARGETED) {
    mkdirSync(dirname(join(FOLDER, file.path)), { recursive: true });
    writeFileSync(join(FOLDER, file.path), textOf(file));
  }
}

const file0 = () => TARGETED[0].vectors[0];

describe('targeted vectors', () => {
  test.each(TARGETED.map((file) => [file.path, file] as const))(
    '%s is what its statements say',
    (path, file) => {
      expect(readFileSync(join(FOLDER, path), 'utf8')).toBe(textOf(file));
    },
  );

  test('every line fits the schema', () => {
    const text = readFileSync(new URL('../../schemas/vectors.schema.json', import.meta.url), 'utf8');
    const schema = z.fromJSONSchema(JSON.parse(text));
    for (const file of TARGETED)
      for (const line of textOf(file).trim().split('\n'))
        expect(schema.safeParse(JSON.parse(line)).success, line).toBe(true);
    for (const bad of [{ id: 'x' }, { bitmmaVectors: 2 }, { ...file0(), extra: 1 }, { ...file0(), a: 'zz' }])
      expect(schema.safeParse(bad).success).toBe(false);
  });

  test('no file beside them', () => {
    const found = readdirSync(FOLDER, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(FOLDER, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
    expect(found.sort()).toEqual(TARGETED.map((file) => file.path).sort());
  });

  test('the reference engine gives every stated result', async () => {
    const result = await runConformance({ paths: [FOLDER], engine: referenceEngine() });
    expect(result.failed, [...reportLines(result)].join('\n')).toBe(0);
    expect(result.skipped).toBe(0);
    expect(result.passed).toBe(TARGETED.reduce((count, file) => count + file.vectors.length, 0));
  });
});
