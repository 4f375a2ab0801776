import { fileURLToPath } from 'node:url';
// The built program, as users run it: its worker threads load files of dist.
import { runCli } from '../../dist/cli/program.js';

/** The repository's root. */
export const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command line in process. */
export async function run(...argv: readonly string[]): Promise<Ran> {
  let out = '';
  let err = '';
  const code = await runCli(argv, {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    signal: new AbortController().signal,
    terminal: false,
  });
  return { code, out, err };
}
