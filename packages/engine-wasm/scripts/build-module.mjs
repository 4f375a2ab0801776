// Compiles the AssemblyScript modules and embeds each as base64 in src/generated, so that Node, browsers and bundlers
// load the same package without a file system or a fetch. The modules and their text go to .cache.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import asc from 'assemblyscript/asc';

const LIMIT = 64 * 1024;
const root = new URL('..', import.meta.url).pathname;

for (const [name, features] of [
  ['scalar', ['--disable', 'simd', '--enable', 'bulk-memory']],
  ['simd', ['--enable', 'simd', '--enable', 'bulk-memory']],
]) {
  const out = `.cache/${name}.wasm`;
  const { error, stderr } = await asc.main(
    [
      `assembly/${name}.ts`,
      ...['--outFile', out, '--textFile', `.cache/${name}.wat`],
      ...['--runtime', 'stub', '--optimizeLevel', '3', '--shrinkLevel', '0', '--converge', '--noAssert'],
      ...[...features, '--use', 'abort=', '--initialMemory', '16', '--maximumMemory', '32768'],
    ],
    { cwd: root },
  );
  if (error) {
    process.stderr.write(`${stderr}\n`);
    throw error;
  }
  const bytes = await readFile(`${root}${out}`);
  if (bytes.length >= LIMIT)
    throw new Error(`${out}: expected less than ${LIMIT} bytes, got ${bytes.length}`);
  await mkdir(`${root}src/generated`, { recursive: true });
  await writeFile(
    `${root}src/generated/${name}.ts`,
    `/** The ${name} module, base64; written by scripts/build-module.mjs. */
export const ${name.toUpperCase()} =
  '${bytes.toString('base64')}';
`,
  );
  console.log(`${name}: ${bytes.length} bytes`);
}
