import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { EngineUnavailableError } from '@bitmma/core';
import type { Session, Support } from './generated/binding.js';

/** What the .node file exports. */
export interface Binding {
  supports(op: string): Support;
  readonly Session: typeof Session;
  addInto(sum: Uint32Array, part: Uint32Array): void;
  canonicalise(words: Uint32Array): void;
  epilogue(
    acc: Uint32Array,
    d: Uint8Array | Uint16Array | Uint32Array,
    out: string,
    alpha: number,
    scale?: number,
  ): void;
}

/** Where a binding may lie, in the order tried. */
export interface Candidates {
  /** The file that a build of this package leaves beside dist. */
  readonly file: string;
  /** The platform package that npm installs. */
  readonly package: string;
}

/** napi-rs's name of a platform: `linux-x64-gnu`. */
export function platformName(): string {
  const { platform, arch } = process;
  if (platform === 'win32') return `win32-${arch}-msvc`;
  if (platform !== 'linux') return `${platform}-${arch}`;
  const { header } = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };
  return `linux-${arch}-${header.glibcVersionRuntime === undefined ? 'musl' : 'gnu'}`;
}

export function candidates(platform = platformName()): Candidates {
  return {
    file: fileURLToPath(new URL(`../bitmma-native.${platform}.node`, import.meta.url)),
    package: `@bitmma/engine-native-${platform}`,
  };
}

/**
 * Loads the binding: the built file where it is present, else the platform package.
 * @throws EngineUnavailableError whose reason is the first original error, and whose `cause` is that error.
 */
export function loadBinding(where = candidates()): Binding {
  const require = createRequire(import.meta.url);
  const built = existsSync(where.file);
  try {
    return require(built ? where.file : where.package) as Binding;
  } catch (error) {
    const { message } = error as Error;
    const reason = built
      ? `${where.file} does not load: ${message}`
      : `${where.file} is not built, and ${where.package} does not load: ${message.split('\n')[0]}`;
    const remedy = `install Rust (https://rustup.rs) and run \`pnpm --filter @bitmma/engine-native build\`, or install ${where.package}`;
    throw Object.assign(new EngineUnavailableError('native', reason, remedy), { cause: error });
  }
}
