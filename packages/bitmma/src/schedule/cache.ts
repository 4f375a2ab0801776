import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import envPaths from 'env-paths';
import { engineBuild, type Machine, thisMachine } from './fingerprint.js';
import type { SpeedModel } from './speed.js';

/** Speeds measured on one machine: engine / kernel / family, each with the engine build it was measured with. */
interface CacheFile {
  readonly version: 2;
  readonly machine: Machine;
  readonly speeds: Record<string, SpeedModel & { readonly build: string; readonly measured: string }>;
}

/** The user's cache file, or BITMMA_CACHE's folder. */
export const cachePath = (): string =>
  join(process.env.BITMMA_CACHE ?? envPaths('bitmma', { suffix: '' }).cache, 'speeds.json');

const keyOf = (engine: string, kernel: string, family: string): string => `${engine}/${kernel}/${family}`;

/** A speed measured on this machine with this build, or null. A file that cannot be read counts as empty. */
export async function cachedSpeed(
  engine: string,
  kernel: string,
  family: string,
): Promise<SpeedModel | null> {
  const file = await read();
  const entry = file?.speeds[keyOf(engine, kernel, family)];
  if (!entry || entry.build !== engineBuild(engine)) return null;
  const { build: _, measured: __, ...model } = entry;
  return model;
}

/** Keeps a speed; whole files only, by rename. */
export async function keepSpeed(
  engine: string,
  kernel: string,
  family: string,
  model: SpeedModel,
): Promise<void> {
  const file: CacheFile = (await read()) ?? { version: 2, machine: thisMachine(), speeds: {} };
  file.speeds[keyOf(engine, kernel, family)] = {
    ...model,
    build: engineBuild(engine),
    measured: new Date().toISOString(),
  };
  const path = cachePath();
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}`;
  await writeFile(temporary, `${JSON.stringify(file, null, 1)}\n`);
  await rename(temporary, path);
}

async function read(): Promise<CacheFile | null> {
  try {
    const file = JSON.parse(await readFile(cachePath(), 'utf8')) as CacheFile;
    const same = JSON.stringify(file.machine) === JSON.stringify(thisMachine());
    return file.version === 2 && same ? file : null;
  } catch {
    return null;
  }
}
