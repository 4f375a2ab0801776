import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const here = fileURLToPath(new URL('.', import.meta.url));
const page = readFileSync(`${here}../../../../docs/cublas.md`, 'utf8');
const sources = readdirSync(here)
  .filter((name) => name.endsWith('.test.ts') && name !== 'docs.test.ts')
  .map((name) => readFileSync(here + name, 'utf8'))
  .join('\n');
const rows = [...page.matchAll(/^\| (\d) \| (.+?) \| (.+?) \|$/gm)];

describe('docs/cublas.md', () => {
  test('has a row for every section of the contract', () => {
    expect(new Set(rows.map((row) => row[1]))).toEqual(new Set(['1', '2', '3', '4', '5', '6']));
  });

  test.each(rows.map((row) => [row[3]!]))('the test exists: %s', (name) => {
    expect(sources).toContain(`'${name}'`);
  });
});
