import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { recordingSetOf } from '@bitmma/core/conformance';

const REPOSITORY = new URL('../../../..', import.meta.url).pathname;

/** Folder of the recordings and vectors that are not in the repository. */
export const DATA = process.env.BITMMA_DATA ?? join(REPOSITORY, '../shared');
export const hasData = existsSync(join(DATA, 'recordings'));

const ROOTS: Readonly<Record<string, string>> = {
  core: join(REPOSITORY, 'packages/core/vectors'),
  data: DATA,
};

/** A path of suiteFiles() on this disk. */
export function onDisk(path: string): string {
  const [root, ...rest] = path.split('/');
  return join(ROOTS[root], ...rest);
}

export const readSuiteFile = (path: string): Promise<string> => readFile(onDisk(path), 'utf8');

async function walk(root: string, folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return walk(root, path);
      const name = `${root}/${relative(ROOTS[root], path)}`;
      return name.endsWith('.jsonl') || recordingSetOf(name) ? [name] : [];
    }),
  );
  return found.flat().sort();
}

/** Vector files of the repository and, where they are, the recordings and vectors beside it. */
export async function suiteFiles(): Promise<readonly string[]> {
  const names = await walk('core', ROOTS.core);
  if (!hasData) return names;
  return [
    ...names,
    ...(await walk('data', join(DATA, 'recordings'))),
    ...(await walk('data', join(DATA, 'vectors'))),
  ];
}
