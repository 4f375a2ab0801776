import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { devicesTable } from '../src/devices-table.js';
import { ROOT, run } from './cli/run.js';

const folder = mkdtempSync(join(tmpdir(), 'bitmma-readme-'));
afterAll(() => rmSync(folder, { recursive: true }));

const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');

/** Files of the README where the test has them: examples in the repository, pictures in a folder of its own. */
const here = (item: string): string =>
  item.startsWith('examples/')
    ? join(ROOT, item)
    : item.startsWith('docs/')
      ? join(folder, basename(item))
      : item;

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
  const shown = await run(...argv.map(here));
  expect(shown.code).toBe(0);
  expect(shown.out.replaceAll(ROOT, '')).toBe(output);
});

it('shows the picture that its command draws', async () => {
  const [, line] = /```sh\n\.\/bitmma (.* --picture (docs\/\S+))\n```/.exec(readme)!;
  const argv = line!.split(' ');
  expect((await run(...argv.map(here))).code).toBe(0);
  const picture = argv.at(-1)!;
  expect(readme).toContain(`](${picture})`);
  expect(readFileSync(here(picture), 'utf8')).toBe(readFileSync(join(ROOT, picture), 'utf8'));
});

it('has the table of the catalog', () => {
  const [, table] = /<!-- devices -->\n([\s\S]*?)<!-- \/devices -->/.exec(readme)!;
  expect(table).toBe(devicesTable());
});
