import {
  type Api,
  deviceArguments,
  errorOf,
  executablePath,
  type HardwareOptions,
  runExecutable,
} from './executable.js';

/** A GPU that a driver shows. */
export interface Gpu {
  readonly api: Api;
  readonly gpu: number;
  /** The driver's name of it. */
  readonly name: string;
  /** `sm_90`, `gfx942`. */
  readonly arch: string;
  /** The catalog's id; the architecture's name where the catalog has no such device. */
  readonly device: string;
  readonly driver: string;
  readonly toolkit: string;
}

export interface Listing {
  readonly gpus: readonly Gpu[];
  /** Of the chosen GPU: instruction to compiler target, or to the reason why it lacks it. */
  readonly targets: ReadonlyMap<string, string>;
  readonly reasons: ReadonlyMap<string, string>;
}

interface InstructionLine {
  readonly instruction: string;
  readonly supported: boolean;
  readonly target?: string;
  readonly reason?: string;
}

/**
 * GPUs of an API and what the chosen one can run.
 * @throws EngineUnavailableError without executable, driver or device; HardwareError where the driver hangs.
 */
export async function listGpu(api: Api, options: HardwareOptions = {}): Promise<Listing> {
  const path = executablePath(api, options);
  const { code, stdout, stderr } = await runExecutable(path, ['list', ...deviceArguments(api, options)]);
  if (code !== 0) throw errorOf(code, stderr, api);
  const gpus: Gpu[] = [];
  const targets = new Map<string, string>();
  const reasons = new Map<string, string>();
  for (const line of stdout.trim().split('\n')) {
    const value = JSON.parse(line) as Gpu | InstructionLine;
    if (!('instruction' in value)) gpus.push(value);
    else if (value.supported) targets.set(value.instruction, value.target ?? '');
    else reasons.set(value.instruction, value.reason ?? '');
  }
  return { gpus, targets, reasons };
}
