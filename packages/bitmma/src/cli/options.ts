import { readFileSync } from 'node:fs';
import { InputError, type MmaOp, parseOp } from '@bitmma/core';
import type { Command } from 'commander';
import type { DotOptions } from '../dot/dot.js';
import { inlineTensor, isInline } from '../dot/inline.js';
import { ENGINE_IDS } from '../engines.js';
import type { GemmOptions } from '../gemm/gemm.js';
import type { GemmOperands } from '../gemm/prepare.js';

/** Options that name an op and how to run it. Values stay strings: 0x1F is never made a number on the way. */
export interface OpFlags {
  device?: string;
  instruction?: string;
  datapath?: string;
  aFormat?: string;
  bFormat?: string;
  scaleFormat?: string;
  accumulate?: string;
  engine?: string;
  kernel?: string;
  threads?: string;
  json?: boolean;
}

export interface OperandFlags {
  c?: string;
  transA?: boolean;
  transB?: boolean;
  scaleA?: string;
  scaleB?: string;
  sparseMeta?: string;
  cast?: string;
  saturate?: string;
}

export const addDeviceOptions = (command: Command): Command =>
  command
    .option('--device <device>', 'device of the catalog: h100, b200, mi300x, …')
    .option('--instruction <name>', "instruction; absent: the one the device's libraries use")
    .option('--datapath <file>', 'JSON file with a datapath of your own, in place of a device');

export const addEngineOptions = (command: Command): Command =>
  command
    .option('--engine <engine>', `auto ${ENGINE_IDS.join(' ')}`)
    .option('--kernel <kernel>', "force one of the engine's kernels")
    .option('--threads <count>', 'worker threads; default: every core');

export const addFormatOptions = (command: Command): Command =>
  command
    .option('--a-format <format>', 'format of A: what raw words are, or what to cast to')
    .option('--b-format <format>', 'format of B')
    .option('--scale-format <format>', 'ue8m0 or ue4m3, where the scale files do not say')
    .option('--accumulate <format>', "the instruction's own output: f32 or f16");

export const addOperandOptions = (command: Command): Command =>
  command
    .option('--c <file>', 'addend C, M x N')
    .option('--trans-a', 'A is stored K x M')
    .option('--trans-b', "B is stored N x K, torch's weight layout")
    .option('--scale-a <file>', 'scales of A, M x ceil(K / block)')
    .option('--scale-b <file>', 'scales of B, N x ceil(K / block)')
    .option('--sparse-meta <file>', 'sparsity metadata of A, one row of 32-bit words a row of A')
    .option('--cast <rounding>', 'rounding of casts into operand formats: rne (default) or rz')
    .option('--saturate <yes|no>', 'whether casts saturate; absent: where the format has no infinity');

const CASTS: Record<string, 'RNE' | 'RZ'> = { rne: 'RNE', rz: 'RZ' };
const YES_NO: Record<string, boolean> = { yes: true, no: false };

/** One of a few words, or InputError naming them. */
export function choice<T>(
  flag: string,
  text: string | undefined,
  choices: Readonly<Record<string, T>>,
): T | undefined {
  if (text === undefined) return undefined;
  const key = text.toLowerCase();
  if (!Object.hasOwn(choices, key))
    throw new InputError(`${flag}: expected ${Object.keys(choices).join(' or ')}, got ${text}`);
  return choices[key];
}

/** A whole number of decimal digits within a range, or InputError. */
export function wholeNumber(flag: string, text: string, low: number, high: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= low && value <= high))
    throw new InputError(`${flag}: expected a whole number of ${low} to ${high}, got ${text}`);
  return value;
}

/** Reads a datapath of the user's own: the JSON form of a catalog entry. */
export function readDatapath(path: string): MmaOp {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new InputError(`--datapath: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  return parseOp(text, path);
}

/** The library's options of a command's flags. */
export function gemmOptions(flags: OpFlags & OperandFlags): GemmOptions {
  const rounding = choice('--cast', flags.cast, CASTS);
  const saturate = choice('--saturate', flags.saturate, YES_NO);
  const scale = choice('--scale-format', flags.scaleFormat, { ue8m0: 'ue8m0', ue4m3: 'ue4m3' } as const);
  return {
    ...(flags.device !== undefined && { device: flags.device }),
    ...(flags.instruction !== undefined && { instruction: flags.instruction }),
    ...(flags.datapath !== undefined && { op: readDatapath(flags.datapath) }),
    ...(flags.aFormat !== undefined && { aFormat: flags.aFormat }),
    ...(flags.bFormat !== undefined && { bFormat: flags.bFormat }),
    ...(flags.accumulate !== undefined && { accumulate: flags.accumulate }),
    ...(scale !== undefined && { scale }),
    ...(flags.engine !== undefined && { engine: flags.engine }),
    ...(flags.kernel !== undefined && { kernel: flags.kernel }),
    ...(flags.threads !== undefined && { threads: threadCount(flags.threads) }),
    cast: { ...(rounding !== undefined && { rounding }), ...(saturate !== undefined && { saturate }) },
  };
}

export const gemmOperands = (a: string, b: string, flags: OperandFlags): GemmOperands => ({
  a,
  b,
  ...(flags.c !== undefined && { c: flags.c }),
  ...(flags.transA === true && { transA: true }),
  ...(flags.transB === true && { transB: true }),
  ...(flags.scaleA !== undefined && { scaleA: flags.scaleA }),
  ...(flags.scaleB !== undefined && { scaleB: flags.scaleB }),
  ...(flags.sparseMeta !== undefined && { sparseMeta: flags.sparseMeta }),
});

export interface DotFlags extends OpFlags, OperandFlags {
  row?: string;
  col?: string;
  batch?: string;
}

/** Arguments and options of the commands about one dot product. */
export const addDotArguments = (command: Command, description: string): Command =>
  addEngineOptions(addOperandOptions(addFormatOptions(addDeviceOptions(command))))
    .description(description)
    .argument('<A>', 'words (3c00,3c00) or a file: a vector, or a matrix with --row')
    .argument('<B>', 'words or a file: a vector, or a matrix with --col')
    .option('--row <i>', 'row of the result')
    .option('--col <j>', 'column of the result')
    .option('--batch <i>', 'batch index');

/** Words on the command line become a row of A, a column of B, one element of C, a row of scales. */
export function dotOperands(a: string, b: string, flags: DotFlags): GemmOperands {
  const operands = gemmOperands(a, b, flags);
  const words = (name: string, input: GemmOperands['a'], orientation: 'row' | 'column') =>
    typeof input === 'string' && isInline(input) ? inlineTensor(name, input, orientation) : input;
  return {
    ...operands,
    a: words('A', operands.a, 'row'),
    b: words('B', operands.b, operands.transB === true ? 'row' : 'column'),
    ...(operands.c !== undefined && { c: words('C', operands.c, 'row') }),
    ...(operands.scaleA !== undefined && { scaleA: words('scales of A', operands.scaleA, 'row') }),
    ...(operands.scaleB !== undefined && { scaleB: words('scales of B', operands.scaleB, 'row') }),
    ...(operands.sparseMeta !== undefined && { sparseMeta: words('metadata', operands.sparseMeta, 'row') }),
  };
}

export function dotOptions(flags: DotFlags): DotOptions {
  const at = (flag: string, text: string | undefined) =>
    text === undefined ? undefined : wholeNumber(flag, text, 0, Number.MAX_SAFE_INTEGER);
  const [row, col, batch] = [at('--row', flags.row), at('--col', flags.col), at('--batch', flags.batch)];
  return {
    ...gemmOptions(flags),
    ...(row !== undefined && { row }),
    ...(col !== undefined && { col }),
    ...(batch !== undefined && { batch }),
  };
}

function threadCount(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text))
    throw new InputError(`--threads: expected a whole number from 1 to 9999, got ${text}`);
  return Number(text);
}
