// The tools that building and checking need beside cargo, as public Python wheels in .cache/tools: zig (a linker with
// every glibc version's symbols), ptxas of CUDA 12 (the last with sm_70) and 13, nvdisasm.
// usage: node scripts/tools.mjs   installs what is missing; build and tests use what is there.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../.cache/tools', import.meta.url));
const WHEELS = [
  'cargo-zigbuild==0.24.0',
  'ziglang==0.17.1',
  'nvidia-cuda-nvcc-cu12==12.9.86',
  'nvidia-cuda-nvcc==13.5.37',
  'nvidia-cuda-nvdisasm==13.5.37',
];

const run = (command, args) => {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
  if (error || status !== 0)
    throw new Error(`${command} ${args.join(' ')} failed: ${error?.message ?? `exit code ${status}`}`);
};

if (!existsSync(join(folder, 'bin', 'pip'))) run('python3', ['-m', 'venv', folder]);
run(join(folder, 'bin', 'pip'), [
  'install',
  '--quiet',
  '--disable-pip-version-check',
  '--no-deps',
  ...WHEELS,
]);
