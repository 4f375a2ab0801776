// Compiles the AssemblyScript modules and embeds each as base64 in src/generated, so that Node, browsers and bundlers
// load the same package without a file system or a fetch.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import asc from 'assemblyscript/asc';

const LIMIT = 64 * 1024;
const root = new URL('..', import.meta.url).pathname;
await mkdir(`${root}/src/generated`, { recursive: true });
await mkdir(`${root}/dist`, { recursive: true });

for (const [name, flags] of [
  ['scalar', []],
  ['simd', ['--enable', 'simd']],
]) {
  const out = `dist/${name}.wasm`;
  const { error, stderr } = await asc.main(
    [
      `assembly/${name}.ts`,
      ...['--outFile', out, '--textFile', `dist/${name}.wat`],
      ...['--runtime', 'stub', '--optimizeLevel', '3', '--shrinkLevel', '0', '--converge', '--noAssert'],
      ...['--enable', 'bulk-memory', '--disable', 'simd', ...flags, '--use', 'abort='],
      ...['--initialMemory', '16', '--maximumMemory', '32768'],
    ].filter((flag, i, all) => !(name === 'simd' && (flag === '--disable' || all[i - 1] === '--disable'))),
    { cwd: root },
  );
  if (error) {
    process.stderr.write(`${stderr}\n`);
    throw error;
  }
  const bytes = await readFile(`${root}/${out}`);
  if (bytes.length >= LIMIT)
    throw new Error(`${out}: expected less than ${LIMIT} bytes, got ${bytes.length}`);
  const text = `/** The ${name} module, base64; written by scripts/build-module.mjs. */\nexport const ${name.toUpperCase()} =\n  '${bytes.toString('base64')}';\n`;
  await writeFile(`${root}/src/generated/${name}.ts`, text);
  console.log(`${name}: ${bytes.length} bytes`);
}
