import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, availableParallelism, cpus, platform } from 'node:os';
import { dirname, join } from 'node:path';

/** What a speed depends on besides the engine: processor, cores, Node and its V8. */
export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly platform: string;
  readonly node: string;
}

export const thisMachine = (): Machine => ({
  processor: cpus()[0]?.model.trim() ?? 'unknown processor',
  cores: availableParallelism(),
  platform: `${platform()}-${arch()}`,
  node: process.versions.node,
});

/** Packages whose build an engine's speed depends on. */
const PACKAGE: Readonly<Record<string, string>> = {
  reference: '@bitmma/core',
  native: '@bitmma/engine-native',
  wasm: '@bitmma/engine-wasm',
  webgl: '@bitmma/engine-gpu',
  webgpu: '@bitmma/engine-gpu',
  cuda: '@bitmma/hw-runner',
  hip: '@bitmma/hw-runner',
};

const builds = new Map<string, string>();

/**
 * A hash over the names, sizes and times of an engine package's built files: another build is another fingerprint.
 * An engine without a package of its own has the empty build.
 */
export function engineBuild(engine: string): string {
  const known = builds.get(engine);
  if (known !== undefined) return known;
  const build = hashPackage(PACKAGE[engine]);
  builds.set(engine, build);
  return build;
}

function hashPackage(name: string | undefined): string {
  if (name === undefined) return '';
  const hash = createHash('sha256');
  let root: string;
  try {
    root = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    return '';
  }
  const walk = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true }).sort((x, y) =>
      x.name < y.name ? -1 : 1,
    )) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!['node_modules', 'target', 'src', 'test', 'crates'].includes(entry.name)) walk(path);
      } else if (/\.(js|mjs|wasm|node)$/.test(entry.name)) {
        const { size, mtimeMs } = statSync(path);
        hash.update(`${entry.name} ${size} ${Math.round(mtimeMs)}\n`);
      }
    }
  };
  const packageFile = join(root, 'package.json');
  if (existsSync(packageFile)) hash.update(readFileSync(packageFile));
  walk(root);
  return hash.digest('hex').slice(0, 16);
}
