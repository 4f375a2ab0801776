import { ContractValueError } from './errors.js';
import type { Preset } from './presets.js';
import { PRESETS } from './presets.js';

/** One platform and caller of the contract. */
export interface Profile {
  readonly name: string;
  readonly preset: Preset;
  readonly gpu: string;
  readonly smCount: number;
  readonly libraries: string;
  /** cuBLAS workspace of torch._scaled_mm on the platform, in bytes. */
  readonly workspace: number;
}

const LIBRARIES = 'cuBLAS/cuBLASLt 12.8.3.14, torch 2.7.1';

export const PROFILES: Readonly<Record<'hopper' | 'ada', Profile>> = Object.freeze({
  hopper: Object.freeze({
    name: 'hopper',
    preset: PRESETS.hopper,
    gpu: 'NVIDIA H100 PCIe (sm_90)',
    smCount: 114,
    libraries: LIBRARIES,
    workspace: 2 ** 20,
  }),
  ada: Object.freeze({
    name: 'ada',
    preset: PRESETS.ada,
    gpu: 'NVIDIA GeForce RTX 4060 (sm_89)',
    smCount: 24,
    libraries: LIBRARIES,
    workspace: 2 ** 20,
  }),
});

export const DEFAULT_PROFILE = 'hopper';

/** A profile by name. Throws ContractValueError for another name. */
export function findProfile(name: string = DEFAULT_PROFILE): Profile {
  const known = PROFILES[name as keyof typeof PROFILES];
  if (!known) throw new ContractValueError(`profile: expected hopper or ada, got ${name}`);
  return known;
}
