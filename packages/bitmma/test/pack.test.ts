import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { ROOT } from './cli/run.js';

const folder = mkdtempSync(join(tmpdir(), 'bitmma-pack-'));
afterAll(() => rmSync(folder, { recursive: true }));

const { packageManager } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  packageManager: string;
};

interface Manifest {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

const manifest = (folder: string) =>
  JSON.parse(readFileSync(join(ROOT, 'packages', folder, 'package.json'), 'utf8')) as Manifest;
const built = (name: string) => existsSync(join(ROOT, 'packages', name, 'dist'));
const ownNames = (dependencies: Record<string, string> = {}) =>
  Object.keys(dependencies)
    .filter((name) => name.startsWith('@bitmma/'))
    .map((name) => name.replace('@bitmma/', ''));

/** The package and the workspace packages it reaches: needed ones all, optional engines where they are built here. */
function reached(name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  const { dependencies, optionalDependencies } = manifest(name);
  for (const next of [...ownNames(dependencies), ...ownNames(optionalDependencies).filter(built)])
    reached(next, seen);
  return seen;
}

const PACKAGES = [...reached('bitmma')];

it('packed tarballs install and run in an empty project outside the workspace', { timeout: 600_000 }, () => {
  const project = join(folder, 'project');
  mkdirSync(project);
  const pack = { stdio: 'ignore', cwd: ROOT } as const;
  for (const name of PACKAGES)
    execFileSync(
      'npx',
      ['-y', packageManager, '--dir', join('packages', name), 'pack', '--pack-destination', folder],
      pack,
    );
  const tarballs = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  expect(tarballs).toHaveLength(PACKAGES.length);
  writeFileSync(join(project, 'package.json'), '{"name":"empty","private":true,"type":"module"}');
  const at = { cwd: project, encoding: 'utf8' } as const;
  execFileSync(
    'npm',
    ['install', '--no-audit', '--no-fund', ...tarballs.map((name) => join('..', name))],
    at,
  );
  const word = execFileSync(
    'npx',
    [
      '--no-install',
      'bitmma',
      'dot',
      '7800,3f00,f800',
      '6000,3c00,6000',
      '--a-format',
      'fp16',
      '--device',
      'h100',
    ],
    at,
  );
  expect(word).toMatch(/^0x3fc00000 {2}1\.5 {2}fp32, h100/);
  writeFileSync(
    join(project, 'use.js'),
    `import { gemm } from 'bitmma';
import { catalog } from '@bitmma/core';
const f32 = (shape, values) => ({ name: 'x', dtype: { name: 'f4', format: 'fp32', bits: 32, restatable: false },
  words: new Uint32Array(new Float32Array(values).buffer), shape, strides: [shape[1], 1] });
const { words, engine } = await gemm({ a: f32([1, 2], [1, 2]), b: f32([2, 1], [3, 4]) }, { device: 'a100', aFormat: 'bf16' });
console.log(new Float32Array(words.slice().buffer)[0], engine.length > 0, catalog().length > 300);
`,
  );
  expect(execFileSync('node', ['use.js'], at)).toBe('11 true true\n');
});
