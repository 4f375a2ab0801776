import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const executable = `${root}bin/bitmma-hw`;

/** Output of the built executable; throws with its error. */
export function bitmmaHw(...args: string[]): string {
  if (!existsSync(executable))
    throw new Error(`${executable} is not built: npm run build in packages/hw-runner`);
  const { status, stdout, stderr } = spawnSync(executable, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (status !== 0) throw new Error(`bitmma-hw ${args.join(' ')}: ${stderr}`);
  return stdout;
}

export interface KernelLine {
  readonly instruction: string;
  readonly arch: string;
  readonly target: string;
  readonly language: 'ptx' | 'hip';
  readonly file: string;
}

/** Every kernel, its source written under `folder`. */
export function kernels(folder: string): KernelLine[] {
  return bitmmaHw('kernels', '--report', folder)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as KernelLine);
}
