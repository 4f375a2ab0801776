import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { conformanceSnapshot } from '../../src/conformance/index.js';
import { findVectorFiles, readVectorFile } from '../../src/conformance/node.js';
import { catalog } from '../../src/datapath/catalog/index.js';
import { referenceEngine } from '../../src/reference/index.js';

const VECTORS = fileURLToPath(new URL('../../vectors', import.meta.url));
const SNAPSHOT = fileURLToPath(new URL('../../conformance/reference.snap', import.meta.url));

/** `BITMMA_WRITE=1 vitest run test/conformance/snapshot.test.ts` writes the file. */
test('the reference computes what is committed', async () => {
  async function* vectors() {
    for (const file of await findVectorFiles([VECTORS])) yield* readVectorFile(file);
  }
  const text = await conformanceSnapshot({ engine: referenceEngine(), vectors: vectors(), predicates: true });
  if (process.env.BITMMA_WRITE === '1') writeFileSync(SNAPSHOT, text);
  expect(text).toBe(readFileSync(SNAPSHOT, 'utf8'));
  expect(text).toContain(`\n${catalog().length} of ${catalog().length} ops; `);
  expect(text).toMatch(/; vectors \d+ passed, 0 failed; /);
  // Every hard case occurs among the generated ones.
  for (const line of text.split('\n').filter((each) => each.startsWith('hard case')))
    expect(line).not.toMatch(/: 0$/);
});
