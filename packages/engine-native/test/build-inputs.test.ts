import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** A crate's folder and those of its path dependencies, all the way. */
function closure(crate: string, found = new Set<string>()): Set<string> {
  if (found.has(crate)) return found;
  found.add(crate);
  const manifest = readFileSync(join(crate, 'Cargo.toml'), 'utf8');
  const section = manifest.split('[dev-dependencies]')[0];
  for (const [, path] of section.matchAll(/path\s*=\s*"([^"]+)"/g)) closure(join(crate, path), found);
  return found;
}

const { tasks } = JSON.parse(readFileSync(join(root, 'turbo.json'), 'utf8'));
const inputs: string[] = tasks.build.inputs;

it('turbo sees every crate that the binding is built from', () => {
  const crates = [...closure(join(root, 'crates/binding'))].map((path) => relative(root, path)).sort();
  expect(crates).toEqual(['crates/binding', 'crates/kernel', 'crates/microkernel']);
  for (const crate of crates) expect(inputs).toContain(`${crate}/**`);
});

it('turbo sees the lock file, the toolchain, the workspace and the build script, and they exist', () => {
  for (const file of ['Cargo.lock', 'rust-toolchain.toml', 'Cargo.toml', 'package.json', 'tsconfig.json']) {
    expect(inputs).toContain(file);
    expect(existsSync(join(root, file))).toBe(true);
  }
  for (const input of inputs) expect(existsSync(join(root, dirname(input))), input).toBe(true);
  expect(readdirSync(join(root, 'scripts'))).toContain('build.mjs');
});
