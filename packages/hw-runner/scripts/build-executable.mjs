// Builds bin/bitmma-hw for x86-64 Linux. With zig (scripts/tools.mjs) it needs glibc 2.17 alone; without, this machine's.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, renameSync } from 'node:fs';
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { zigbuild } from './find-tools.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const tools = process.platform === 'linux' && process.arch === 'x64' ? zigbuild() : null;
const triple = 'x86_64-unknown-linux-gnu';
const args = tools
  ? ['zigbuild', '--release', '--locked', '--package', 'bitmma-hw', '--target', `${triple}.2.17`]
  : ['build', '--release', '--locked', '--package', 'bitmma-hw'];
const env = tools ? { ...process.env, PATH: `${tools}${delimiter}${process.env.PATH}` } : process.env;
if (spawnSync('cargo', ['--version']).status !== 0) {
  console.log(
    'bitmma-hw is absent: cargo is not installed; install Rust from https://rustup.rs and build again',
  );
  process.exit(0);
}
const { status, error } = spawnSync('cargo', args, { cwd: root, env, stdio: 'inherit' });
if (error || status !== 0) {
  console.error(`cargo ${args.join(' ')} failed: ${error?.message ?? `exit code ${status}`}`);
  process.exit(1);
}
if (!tools)
  console.warn(
    "zig is not installed: bin/bitmma-hw needs a glibc as new as this machine's (node scripts/tools.mjs)",
  );
mkdirSync(`${root}bin`, { recursive: true });
// Replaced in one step, so that a running executable is not written over.
copyFileSync(`${root}target/${tools ? `${triple}/` : ''}release/bitmma-hw`, `${root}bin/bitmma-hw.new`);
renameSync(`${root}bin/bitmma-hw.new`, `${root}bin/bitmma-hw`);
