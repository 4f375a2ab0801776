import { EngineUnavailableError } from '@bitmma/core';

/** Constants of the WebGPU specification; in Node they are no globals. */
export const USAGE = { MAP_READ: 0x1, COPY_SRC: 0x4, COPY_DST: 0x8, UNIFORM: 0x40, STORAGE: 0x80 } as const;
export const MAP_MODE_READ = 0x1;
export const STAGE_COMPUTE = 0x4;

export const unavailable = (reason: string, remedy: string): EngineUnavailableError =>
  new EngineUnavailableError('webgpu', reason, remedy);

/** Dawn's instance: collected while a device lives, the process crashes. */
let instance: GPU | undefined;

/**
 * The host's GPU object: the browser's `navigator.gpu`, in Node Dawn's.
 * @throws EngineUnavailableError
 */
export async function hostGpu(): Promise<GPU> {
  const browser = (globalThis as { navigator?: { gpu?: GPU } }).navigator?.gpu;
  if (browser) return browser;
  if (typeof process === 'undefined' || !process.versions?.node)
    throw unavailable('this browser has no WebGPU', 'use a browser with WebGPU over https or localhost');
  if (instance === undefined) {
    const name = 'webgpu';
    try {
      const dawn = (await import(/* @vite-ignore */ name)) as { create(options: string[]): GPU };
      instance = dawn.create([]);
    } catch (error) {
      throw unavailable(
        `Dawn did not load: ${(error as Error).message}`,
        'install the webgpu package for this platform',
      );
    }
  }
  return instance;
}
