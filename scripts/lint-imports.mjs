// Engines share data, not code: no engine package imports core's decode, encode, rounding or reference, nor another
// engine, outside its tests. Exit code 1 names each import.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from './bootstrap.mjs';

const ENGINES = ['engine-native', 'engine-wasm', 'engine-gpu', 'hw-runner'];
const FORBIDDEN = [
  /@bitmma\/core\/(formats|reference)/,
  /core\/(src|dist)\/(formats\/(decode|encode|round|cast)|reference)/,
  ...ENGINES.map((name) => new RegExp(`@bitmma/${name}`)),
];

function* sources(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (!['node_modules', 'dist', 'target', 'test', 'bench'].includes(entry.name)) yield* sources(path);
    } else if (/\.(ts|mts|mjs|js)$/.test(entry.name)) yield path;
  }
}

/** Every forbidden import of one file's text, as `specifier`. */
export function forbiddenImports(text) {
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g)].map((m) => m[1]);
  return specifiers.filter((s) => FORBIDDEN.some((rule) => rule.test(s)));
}

let bad = 0;
for (const engine of ENGINES) {
  const src = join(root, 'packages', engine, 'src');
  let files;
  try {
    files = [...sources(src)];
  } catch {
    continue;
  }
  for (const file of files)
    for (const specifier of forbiddenImports(readFileSync(file, 'utf8'))) {
      process.stderr.write(`${relative(root, file)} imports ${specifier}; an engine computes on its own\n`);
      bad++;
    }
}
process.exitCode = bad === 0 ? 0 : 1;
