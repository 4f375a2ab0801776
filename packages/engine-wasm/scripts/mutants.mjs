// Breaks the kernels one rule at a time and demands that the tests see each: `node scripts/mutants.mjs [texts of names]`.
// Works in ../.engine-wasm-mutants, a copy of the package; prints a line a mutant and exits 1 where one survives.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';
import { buildModules } from './build-module.mjs';
import { SCALAR_MUTANTS } from './mutants/scalar.mjs';
import { SIMD_MUTANTS } from './mutants/simd.mjs';

const MUTANTS = [...SIMD_MUTANTS, ...SCALAR_MUTANTS];
const root = new URL('..', import.meta.url).pathname;
// As deep in the repository as the package itself, so that its tests find the vectors.
const wanted = process.argv.slice(2);
const copy = new URL('../../.engine-wasm-mutants/', import.meta.url).pathname;

/** The modules that a file is part of. */
function modulesOf(file) {
  if (file.startsWith('src/')) return [];
  return file.startsWith('assembly/simd/') ? ['simd'] : ['scalar', 'simd'];
}

/** Builds the copy's modules and runs test/suite/check.ts on it: the first difference, or null where there is none. */
async function difference(modules) {
  await buildModules(copy, modules);
  await build({
    entryPoints: [`${copy}test/suite/check.ts`],
    outfile: `${copy}check.mjs`,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
  });
  const { status, stdout, stderr } = spawnSync('node', ['check.mjs'], { cwd: copy, encoding: 'utf8' });
  // A trap or an exception is seen as well as a wrong word.
  return status === 0 ? null : stdout.trim() || stderr.trim().split('\n').at(-3);
}

for (const [name, file, text] of MUTANTS)
  if (!readFileSync(`${root}${file}`, 'utf8').includes(text))
    throw new Error(`${name}: ${file} has no ${text}`);
rmSync(copy, { recursive: true, force: true });
mkdirSync(copy);
for (const name of ['assembly', 'src', 'test', 'package.json'])
  cpSync(`${root}${name}`, `${copy}${name}`, { recursive: true });
symlinkSync(`${root}node_modules`, `${copy}node_modules`);
let survived = 0;
let ran = 0;
try {
  const clean = await difference(['scalar', 'simd']);
  if (clean) throw new Error(`the unbroken kernels differ: ${clean}`);
  // A mutant of one module leaves the other as it was.
  cpSync(`${copy}src/generated`, `${copy}clean`, { recursive: true });
  for (const [name, file, text, replacement] of MUTANTS) {
    if (wanted.length > 0 && !wanted.some((part) => name.includes(part))) continue;
    const original = readFileSync(`${root}${file}`, 'utf8');
    writeFileSync(`${copy}${file}`, original.replace(text, replacement));
    const found = await difference(modulesOf(file));
    writeFileSync(`${copy}${file}`, original);
    cpSync(`${copy}clean`, `${copy}src/generated`, { recursive: true });
    console.log(found ? `caught    ${name}  (${found})` : `SURVIVED  ${name}`);
    ran++;
    if (!found) survived++;
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
console.log(`${ran} mutants, ${survived} survived`);
process.exitCode = survived > 0 || ran === 0 ? 1 : 0;
