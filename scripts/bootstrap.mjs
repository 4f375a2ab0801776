// Installs and builds the workspace where needed. Used by npm start, npm test and ./bitmma.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');

const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** The environment of every child: where node-gyp finds headers, and no telemetry. */
export function childEnv() {
  const headers = resolve(dirname(process.execPath), '..');
  const env = { TURBO_TELEMETRY_DISABLED: '1', ...process.env };
  if (!env.npm_config_nodedir && existsSync(join(headers, 'include/node/node.h')))
    env.npm_config_nodedir = headers;
  return env;
}

/** Runs a command in the root; its output is shown, or kept and shown only on failure where `quiet`. */
export function run(command, args, { quiet = false, cwd = root } = {}) {
  const done = spawnSync(command, args, {
    cwd,
    env: childEnv(),
    stdio: quiet ? 'pipe' : 'inherit',
    encoding: 'utf8',
  });
  if (done.error) throw new Error(`${command} did not start: ${done.error.message}`);
  if (done.status !== 0 && quiet) process.stderr.write(`${done.stdout}${done.stderr}`);
  return done.status ?? 1;
}

const must = (what, status) => {
  if (status !== 0) throw new Error(`${what} failed with exit code ${status}; its output is above`);
};

/** Installs the locked dependencies; throws where that fails. */
export function install({ quiet = false } = {}) {
  if (Number(process.versions.node.split('.')[0]) < 20)
    throw new Error(`expected Node 20 or newer, got ${process.versions.node}`);
  must('install', run('npx', ['-y', packageManager, 'install', '--frozen-lockfile'], { quiet }));
}

const BUILD = ['turbo', 'run', 'build', '--output-logs=errors-only', '--no-color'];

/** Installs the locked dependencies and builds every package. Throws where a step fails. */
export function bootstrap({ quiet = false } = {}) {
  install({ quiet });
  must('build', run('npx', BUILD, { quiet }));
}

/** What the command line cannot do without. */
const NEEDED = ['packages/core', 'packages/bitmma'];

/**
 * Builds every package quietly and returns the folders of those that failed: engines are optional. Throws where a
 * needed one did.
 */
export function buildAvailable() {
  const done = spawnSync('npx', [...BUILD, '--continue=always'], {
    cwd: root,
    env: childEnv(),
    encoding: 'utf8',
  });
  if (done.error) throw new Error(`npx did not start: ${done.error.message}`);
  if (done.status === 0) return [];
  const failed = ['packages', 'apps'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .map((name) => `${folder}/${name}`)
      .filter((path) =>
        new RegExp(`(@bitmma/|\\b)${path.split('/')[1]}(#|:)build`).test(done.stdout + done.stderr),
      ),
  );
  for (const path of NEEDED)
    if (!existsSync(join(root, path, 'dist', 'index.js'))) {
      process.stderr.write(done.stdout + done.stderr);
      throw new Error(`building ${path} failed; its output is above`);
    }
  return failed;
}
