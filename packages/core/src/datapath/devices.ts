import { DEFAULTS, type DefaultInstruction } from './defaults.js';
import { deepFreeze } from './freeze.js';

export type Vendor = 'nvidia' | 'amd';
export type Arch =
  | 'volta'
  | 'turing'
  | 'ampere'
  | 'ada'
  | 'hopper'
  | 'blackwell'
  | 'blackwell-consumer'
  | 'cdna1'
  | 'cdna2'
  | 'cdna3';

/** A device of the catalog. */
export interface Device {
  readonly id: string;
  /** Marketing name. */
  readonly name: string;
  readonly vendor: Vendor;
  readonly arch: Arch;
  /** Compiler target: `sm_90`, `gfx942`. */
  readonly target: string;
  /** Other names that findDevice accepts, beside marketing decoration. */
  readonly aliases: readonly string[];
  /** Devices of the same architecture. */
  readonly siblings: readonly string[];
  /** The instruction that libraries use for each pair of operand formats. */
  readonly defaults: readonly DefaultInstruction[];
}

type Line = readonly [id: string, name: string, arch: Arch, target: string, aliases: readonly string[]];

/**
 * A target or architecture that several devices share names the first one recorded, else the most common:
 * sm_89 and `ada` the recorded RTX 1000 Ada, gfx90a the MI250, gfx942 the MI300X.
 */
const NVIDIA: readonly Line[] = [
  ['v100', 'Tesla V100', 'volta', 'sm_70', ['volta', 'sm_70', 'gv100']],
  ['t4', 'Tesla T4', 'turing', 'sm_75', ['turing', 'sm_75']],
  ['a100', 'A100', 'ampere', 'sm_80', ['ampere', 'sm_80', 'ga100']],
  ['a2', 'A2', 'ampere', 'sm_86', ['sm_86']],
  ['a30', 'A30', 'ampere', 'sm_80', []],
  ['l40s', 'L40S', 'ada', 'sm_89', []],
  ['rtx4060', 'GeForce RTX 4060', 'ada', 'sm_89', []],
  ['rtx1000', 'RTX 1000 Ada Generation', 'ada', 'sm_89', ['ada', 'ada lovelace', 'sm_89', 'rtx 1000 ada']],
  ['h100', 'H100', 'hopper', 'sm_90', ['hopper', 'sm_90', 'sm_90a']],
  ['h200', 'H200', 'hopper', 'sm_90', []],
  ['b200', 'B200', 'blackwell', 'sm_100', ['blackwell', 'sm_100', 'sm_100a', 'sm_100f']],
  [
    'rtx-pro-6000',
    'RTX PRO 6000 Blackwell',
    'blackwell-consumer',
    'sm_120',
    [
      'blackwell-consumer',
      'sm_120',
      'sm_120a',
      'sm_120f',
      'rtx pro 6000 blackwell server edition',
      'rtx pro 6000 blackwell workstation edition',
      'rtx pro 6000 blackwell max-q workstation edition',
    ],
  ],
  [
    'rtx50',
    'GeForce RTX 50 series',
    'blackwell-consumer',
    'sm_120',
    [
      'rtx 5090',
      'rtx 5090 d',
      'rtx 5080',
      'rtx 5070 ti',
      'rtx 5070',
      'rtx 5060 ti',
      'rtx 5060',
      'rtx 5050',
      'rtx 50',
      'rtx 50xx',
    ],
  ],
];

const AMD: readonly Line[] = [
  ['mi100', 'Instinct MI100', 'cdna1', 'gfx908', ['cdna1', 'cdna', 'gfx908']],
  ['mi210', 'Instinct MI210', 'cdna2', 'gfx90a', []],
  ['mi250', 'Instinct MI250', 'cdna2', 'gfx90a', ['cdna2', 'gfx90a']],
  ['mi250x', 'Instinct MI250X', 'cdna2', 'gfx90a', ['mi250x/mi250']],
  ['mi300a', 'Instinct MI300A', 'cdna3', 'gfx942', []],
  ['mi300x', 'Instinct MI300X', 'cdna3', 'gfx942', ['cdna3', 'gfx942', 'mi300']],
];

const LINES = [...NVIDIA, ...AMD];

const DEVICES: readonly Device[] = deepFreeze(
  LINES.map(([id, name, arch, target, aliases]) => ({
    id,
    name,
    vendor: arch.startsWith('cdna') ? ('amd' as const) : ('nvidia' as const),
    arch,
    target,
    aliases,
    siblings: LINES.filter((other) => other[2] === arch && other[0] !== id).map((other) => other[0]),
    defaults: DEFAULTS.get(id)!,
  })),
);

/** Every device of the catalog. */
export const devices = (): readonly Device[] => DEVICES;
