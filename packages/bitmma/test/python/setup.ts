import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Folder of the files that NumPy, ml_dtypes and safetensors wrote; null where Python is absent. */
    fixtures: string | null;
    /** Folder of operands and expected results that test/python/commands.py wrote. */
    commands: string | null;
    /** The interpreter that has them. */
    python: string | null;
    /** Why there is no Python. */
    pythonReason: string;
  }
}

const here = fileURLToPath(new URL('.', import.meta.url));
const cache = fileURLToPath(new URL('../../../../.cache/', import.meta.url));

/** Makes the venv (NumPy, ml_dtypes, safetensors) and the fixture files once, under the repository's .cache. */
export default function setup(project: TestProject): void {
  try {
    const python = venv();
    project.provide('python', python);
    project.provide('fixtures', written(python, 'fixtures.py'));
    project.provide('commands', written(python, 'commands.py'));
    project.provide('pythonReason', '');
  } catch (error) {
    const reason = `Python with NumPy, ml_dtypes and safetensors is absent (${String(error).split('\n')[0]})`;
    console.warn(`bitmma: ${reason}; tests on their files are skipped`);
    project.provide('python', null);
    project.provide('fixtures', null);
    project.provide('commands', null);
    project.provide('pythonReason', reason);
  }
}

const hash = (file: string): string =>
  createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 12);

function venv(): string {
  const requirements = join(here, 'requirements.txt');
  const folder = join(cache, `python-${hash(requirements)}`);
  const python = join(folder, 'bin', 'python');
  const done = join(folder, 'complete');
  if (existsSync(done)) return python;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  const run = (file: string, args: string[]) =>
    execFileSync(file, args, { stdio: ['ignore', 'ignore', 'pipe'], timeout: 240_000 });
  run(process.env.BITMMA_PYTHON ?? 'python3', ['-m', 'venv', folder]);
  run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements]);
  writeFileSync(done, '');
  return python;
}

/** The folder that a script of this folder filled, made once for each version of the script. */
function written(python: string, name: string): string {
  const script = join(here, name);
  const folder = join(cache, `${name.replace('.py', '')}-${hash(script)}`);
  if (existsSync(folder)) return folder;
  const partial = `${folder}.${process.pid}`;
  execFileSync(python, [script, partial], { stdio: ['ignore', 'ignore', 'pipe'] });
  if (existsSync(folder)) rmSync(partial, { recursive: true });
  else renameSync(partial, folder);
  return folder;
}
