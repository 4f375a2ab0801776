import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BitmmaError, EngineUnavailableError, InputError } from '@bitmma/core';
import { HardwareError } from './errors.js';

export type Api = 'cuda' | 'hip';

export interface HardwareOptions {
  /** Device number of the driver; what BITMMA_GPU says, else 0. */
  readonly gpu?: number;
  /** The executable; the package's `bin/bitmma-hw`, or what BITMMA_HW names. */
  readonly executable?: string;
  /** Longest wait for one driver call, seconds; 60. */
  readonly timeout?: number;
}

/** Path of the executable. @throws EngineUnavailableError where it is not built. */
export function executablePath(engine: string, options: HardwareOptions = {}): string {
  const path =
    options.executable ??
    process.env.BITMMA_HW ??
    fileURLToPath(new URL('../bin/bitmma-hw', import.meta.url));
  if (!existsSync(path))
    throw new EngineUnavailableError(
      engine,
      `${path} does not exist`,
      'build it with `npm run build` in packages/hw-runner (needs Rust), or name it in BITMMA_HW',
    );
  return path;
}

/** Number of the device: the option, BITMMA_GPU, or 0. */
export function gpuNumber(options: HardwareOptions): number {
  const gpu = options.gpu ?? Number(process.env.BITMMA_GPU ?? 0);
  if (!Number.isSafeInteger(gpu) || gpu < 0)
    throw new InputError(`gpu: expected a device number, got ${options.gpu ?? process.env.BITMMA_GPU}`);
  return gpu;
}

/** Arguments that choose the device. */
export const deviceArguments = (api: Api | undefined, options: HardwareOptions): string[] => [
  ...(api ? ['--api', api] : []),
  '--gpu',
  String(gpuNumber(options)),
  ...(options.timeout === undefined ? [] : ['--timeout', String(options.timeout)]),
];

/** The error that an exit code of the executable stands for. */
export function errorOf(code: number | null, text: string, engine: string): BitmmaError {
  const message = text.trim().replace(/^bitmma-hw: /, '') || `bitmma-hw ended with code ${code}`;
  if (code === 2) return new InputError(message);
  if (code === 3) {
    const at = message.lastIndexOf('; ');
    return at < 0
      ? new EngineUnavailableError(engine, message, 'check the driver')
      : new EngineUnavailableError(engine, message.slice(0, at), message.slice(at + 2));
  }
  if (code === 4 || code === 5 || code === 6)
    return new HardwareError(message, code === 4 ? 'device' : code === 5 ? 'probe' : 'position');
  return new BitmmaError(message);
}

export interface Output {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the executable to its end. */
export function runExecutable(path: string, args: readonly string[]): Promise<Output> {
  return new Promise((resolve, reject) => {
    const child = spawn(path, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}
