import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './executable.js';

const LIBRARIES = [
  'libcuda.so.1',
  'libamdhip64.so',
  'libhiprtc.so',
  'libcublasLt.so.12',
  'libcublasLt.so.13',
];

/** Builds the fake drivers and points the executable to them; returns what undoes it. */
export function useFakeDrivers(): () => void {
  const { status, stderr } = spawnSync(
    'cargo',
    ['build', '--release', '--locked', '--quiet', '--package', 'fake-driver'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  if (status !== 0) throw new Error(`the fake driver does not build: ${stderr}`);
  const folder = mkdtempSync(join(tmpdir(), 'bitmma-fake-'));
  for (const name of LIBRARIES)
    symlinkSync(join(root, 'target/release/libbitmma_fake_driver.so'), join(folder, name));
  process.env.BITMMA_HW_LIB_DIR = folder;
  return () => {
    delete process.env.BITMMA_HW_LIB_DIR;
    delete process.env.BITMMA_FAKE;
    rmSync(folder, { recursive: true });
  };
}

/** The machine that the fake drivers play: `sm=80,gpu=NVIDIA A100-SXM4-40GB`. */
export function machine(text: string): void {
  process.env.BITMMA_FAKE = text;
}
