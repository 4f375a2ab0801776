import { UncharacterisedError, UnknownNameError, UnsupportedError } from '../../errors.js';
import type { FormatName } from '../../formats/table.js';
import { ENTRIES } from '../catalog/index.js';
import type { Device } from '../devices.js';
import type { MmaOp, Scaling } from '../op.js';
import { findDevice } from './device.js';
import { normaliseInstruction } from './instruction.js';
import { nearest, unknownName } from './nearest.js';
import { UNCHARACTERISED_INSTRUCTIONS } from './uncharacterised.js';

/** Device id -> canonical name or spelling -> op. */
const BY_DEVICE: ReadonlyMap<string, ReadonlyMap<string, MmaOp>> = (() => {
  const index = new Map<string, Map<string, MmaOp>>();
  for (const { op } of ENTRIES) {
    const names = index.get(op.device) ?? new Map<string, MmaOp>();
    index.set(op.device, names.set(op.instruction, op));
  }
  for (const { op, spellings } of ENTRIES) {
    const names = index.get(op.device)!;
    for (const spelling of spellings) if (!names.has(spelling)) names.set(spelling, op);
  }
  return index;
})();

const resolve = (device: string | Device): Device =>
  typeof device === 'string' ? findDevice(device) : device;

/**
 * The op of an instruction on a device. Both names in any spelling that the alias layer knows: PTX, LLVM, MFMA
 * in either form, wgmma with any n. Throws UnknownNameError (with the nearest instructions of that device, and
 * the devices that have it where others do) or UncharacterisedError.
 */
export function findOp(device: string | Device, instruction: string): MmaOp {
  const target = resolve(device);
  const ops = BY_DEVICE.get(target.id)!;
  const name = normaliseInstruction(instruction);
  const op = ops.get(name);
  if (op !== undefined) return op;
  for (const { pattern, archs, what } of UNCHARACTERISED_INSTRUCTIONS) {
    if (pattern.test(name) && (archs === undefined || archs.includes(target.arch))) {
      throw new UncharacterisedError(
        `instruction '${instruction}' on ${target.id}: the arithmetic of ${what} has not been characterised`,
      );
    }
  }
  const elsewhere = [...BY_DEVICE].filter(([, names]) => names.has(name)).map(([id]) => id);
  if (elsewhere.length > 0) {
    const close = nearest(name, canonical(target.id));
    throw new UnknownNameError(
      `${target.id} has no instruction '${instruction}' (${elsewhere.join(', ')} have it); nearest on ${target.id}: ${close.join(', ')}`,
      close,
    );
  }
  throw unknownName('instruction', instruction, canonical(target.id), ` on ${target.id}`);
}

const canonical = (device: string) => [...BY_DEVICE.get(device)!.values()].map((op) => op.instruction);

export interface DefaultRequest {
  readonly a: FormatName;
  readonly b: FormatName;
  /** Format of c and d; absent: fp64 for fp64, s32 for integers, else fp32. */
  readonly accumulate?: FormatName;
  /** Scale format of a block-scaled instruction; absent: unscaled. */
  readonly scale?: Scaling['format'];
}

const accumulatorOf = (a: FormatName): FormatName =>
  a === 'fp64' ? 'fp64' : a === 's8' || a === 'u8' ? 's32' : 'fp32';

/**
 * The op that the device's libraries use for operands of formats a and b: tcgen05 on b200, wgmma on h100 and
 * h200, else mma.sync of the largest K; MFMA 16x16 of the largest K. UnsupportedError where the device has none.
 */
export function defaultOp(device: string | Device, request: DefaultRequest): MmaOp {
  const target = resolve(device);
  const { a, b, accumulate = accumulatorOf(a), scale } = request;
  const found = target.defaults.find(
    (line) =>
      line.a === a && line.b === b && line.accumulate === accumulate && line.scale === (scale ?? null),
  );
  if (found !== undefined) return findOp(target, found.instruction);
  const has = target.defaults.map(
    (line) => `${line.a} x ${line.b} -> ${line.accumulate}${line.scale ? ` (${line.scale} scales)` : ''}`,
  );
  throw new UnsupportedError(
    `${target.id} has no matrix instruction for ${a} x ${b} -> ${accumulate}${scale ? ` with ${scale} scales` : ''}; it has ${has.join(', ')}`,
  );
}
