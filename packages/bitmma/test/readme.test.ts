import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { devicesTable } from '../src/devices-table.js';
import { ROOT, run } from './cli/run.js';

const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');

/** Every `$ ./bitmma …` of the README's console blocks, with the output that follows it. */
const examples = [...readme.matchAll(/```console\n([\s\S]*?)```/g)].flatMap(([, block]) =>
  block!
    .split(/^\$ /m)
    .slice(1)
    .map((text) => {
      const [line, ...output] = text.split('\n');
      return [line!, output.join('\n')] as const;
    }),
);

it('has examples', () => expect(examples.length).toBeGreaterThan(4));

it.each(examples)('%s prints what the README says', async (line, output) => {
  const [program, ...argv] = line.split(' ');
  expect(program).toBe('./bitmma');
  const shown = await run(...argv.map((item) => (item.startsWith('examples/') ? join(ROOT, item) : item)));
  expect(shown.code).toBe(0);
  expect(shown.out.replaceAll(ROOT, '')).toBe(output);
});

it('has the table of the catalog', () => {
  const [, table] = /<!-- devices -->\n([\s\S]*?)<!-- \/devices -->/.exec(readme)!;
  expect(table).toBe(devicesTable());
});
