// Where the tools of scripts/tools.mjs are; null where they are not installed.
import { accessSync, chmodSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../.cache/tools', import.meta.url));

const executable = (path) => {
  if (!existsSync(path)) return null;
  try {
    accessSync(path, constants.X_OK);
  } catch {
    // Wheels unpacked by pip lose the mode of some executables.
    chmodSync(path, 0o755);
  }
  return path;
};

const packages = () => {
  const lib = join(folder, 'lib');
  if (!existsSync(lib)) return null;
  const python = readdirSync(lib).find((name) => name.startsWith('python'));
  return python ? join(lib, python, 'site-packages', 'nvidia') : null;
};

const onPath = (name) =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((dir) => join(dir, name))
    .find((path) => existsSync(path)) ?? null;

/** `bin` of the tools' environment, for PATH; null: not installed. */
export const zigbuild = () =>
  executable(join(folder, 'bin', 'cargo-zigbuild')) ? join(folder, 'bin') : null;
/** ptxas of CUDA 12 and of CUDA 13. */
export const ptxas12 = () => packages() && executable(join(packages(), 'cuda_nvcc', 'bin', 'ptxas'));
export const ptxas13 = () => packages() && executable(join(packages(), 'cu13', 'bin', 'ptxas'));
export const nvdisasm = () => packages() && executable(join(packages(), 'cu13', 'bin', 'nvdisasm'));
/** A clang that knows gfx942's FP8 instructions: 17 or later. */
export const clang = () =>
  ['clang-22', 'clang-21', 'clang-20', 'clang-19', 'clang-18', 'clang-17'].map(onPath).find((path) => path) ??
  null;
