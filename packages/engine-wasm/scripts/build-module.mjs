// Compiles the AssemblyScript modules and embeds each as base64 in src/generated, so that Node, browsers and bundlers
// load the same package without a file system or a fetch. The modules and their text go to .cache.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

const LIMIT = 64 * 1024;
const FEATURES = {
  scalar: ['--disable', 'simd', '--enable', 'bulk-memory'],
  simd: ['--enable', 'simd', '--enable', 'bulk-memory'],
};

/** Builds the named modules of the package in folder `root`, and tells their sizes in bytes. */
export async function buildModules(root, names = Object.keys(FEATURES)) {
  const sizes = {};
  for (const name of names) {
    const out = `.cache/${name}.wasm`;
    const { error, stderr } = await asc.main([
      `assembly/${name}.ts`,
      ...['--baseDir', root, '--outFile', out, '--textFile', `.cache/${name}.wat`],
      ...['--runtime', 'stub', '--optimizeLevel', '3', '--shrinkLevel', '0', '--converge', '--noAssert'],
      ...[...FEATURES[name], '--use', 'abort=', '--initialMemory', '16', '--maximumMemory', '32768'],
    ]);
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
    sizes[name] = bytes.length;
  }
  return sizes;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const sizes = await buildModules(fileURLToPath(new URL('..', import.meta.url)));
  for (const [name, size] of Object.entries(sizes)) console.log(`${name}: ${size} bytes`);
}
