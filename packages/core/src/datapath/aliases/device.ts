import { UncharacterisedError } from '../../errors.js';
import { type Device, devices } from '../devices.js';
import { unknownName } from './nearest.js';
import { UNCHARACTERISED_DEVICES } from './uncharacterised.js';

/** Lower case, letters and digits alone. */
const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** Words around a marketing name that do not tell devices apart. */
const DECORATION =
  /\b(nvidia|amd|ati|geforce|tesla|instinct|radeon|graphics|corporation|inc|gpu|laptop|mobile|tensor core|accelerator|oam|pcie|sxm[0-9]*|nvl|nvlink|hgx|dgx|fhhl|mem|[0-9]+ ?gi?b|hbm[0-9]e?|ada generation|generation|series)\b/g;

const undecorated = (name: string) =>
  plain(
    name
      .toLowerCase()
      .replace(/[-_()/,]/g, ' ')
      .replace(DECORATION, ' '),
  );

const BY_NAME: ReadonlyMap<string, Device> = new Map(
  devices().flatMap((device) =>
    [device.id, device.name, ...device.aliases].flatMap((name) => [
      [plain(name), device] as const,
      [undecorated(name), device] as const,
    ]),
  ),
);

/** `9.0`, `compute capability 9.0`, `cc 90`, `compute_90`, `sm90` as `sm_90`; null for anything else. */
function computeTarget(name: string): string | null {
  const found = /^(?:compute[ _]?capability|compute|cc|sm)?[ _:]*(\d{1,2})\.?(\d)([af]?)$/.exec(
    name.trim().toLowerCase(),
  );
  if (!found || !/\.|sm|cc|compute/i.test(name)) return null;
  return `sm_${found[1]}${found[2]}${found[3]}`;
}

/** The target in an AMD target id or triple (`gfx90a:sramecc+`, `amdgcn-amd-amdhsa--gfx942`); null for others. */
const gfxTarget = (name: string) => /(?:^|-)(gfx[0-9a-f]{3,4})(?::.*)?$/i.exec(name.trim())?.[1] ?? null;

const catalogued = () => devices().map((device) => device.id);

/**
 * The device that a name means: catalog id, marketing name, compiler target, architecture or compute capability.
 * Throws UncharacterisedError for real hardware that nobody characterised, UnknownNameError with the nearest
 * ids otherwise.
 */
export function findDevice(name: string): Device {
  const target = computeTarget(name) ?? gfxTarget(name);
  const forms = target === null ? [plain(name), undecorated(name)] : [plain(target)];
  for (const form of forms) {
    const device = BY_NAME.get(form);
    if (device !== undefined) return device;
  }
  for (const { pattern, what } of UNCHARACTERISED_DEVICES) {
    if (forms.some((form) => pattern.test(form))) {
      throw new UncharacterisedError(
        `device '${name}': the arithmetic of ${what} has not been characterised; characterised devices: ${catalogued().join(', ')}`,
      );
    }
  }
  throw unknownName(
    'device',
    name,
    devices().flatMap((device) => [device.id, ...device.aliases]),
  );
}
