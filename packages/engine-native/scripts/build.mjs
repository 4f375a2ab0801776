// Builds the TypeScript, and the .node file where cargo is installed.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const cwd = join(dirname(fileURLToPath(import.meta.url)), '..');

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

if (spawnSync('cargo', ['--version'], { cwd }).status === 0) {
  const manifest = ['--manifest-path', 'crates/binding/Cargo.toml', '--target-dir', 'target'];
  run('napi', [
    'build',
    '--release',
    '--platform',
    '--no-js',
    '--dts',
    'src/generated/binding.d.ts',
    ...manifest,
    '-o',
    '.',
  ]);
} else {
  process.stdout.write(
    'engine native is absent: cargo is not installed; install Rust from https://rustup.rs and build again\n',
  );
}
run('tsc', ['-b']);
