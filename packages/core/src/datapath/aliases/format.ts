import { UnknownNameError } from '../../errors.js';
import { FORMAT_NAMES, type FormatName } from '../../formats/table.js';
import type { Device } from '../devices.js';
import { findDevice } from './device.js';
import { unknownName } from './nearest.js';

/**
 * Names of torch, ml_dtypes and jax, NumPy, OCP, safetensors, CUDA and AMD, lower case, prefix removed. MX names
 * give the element format; their scales are ue8m0 (NVFP4: ue4m3).
 */
const NAMES: Readonly<Record<FormatName, readonly string[]>> = {
  fp64: ['float64', 'double', 'f64', 'binary64', 'cuda_r_64f'],
  fp32: ['float32', 'float', 'single', 'f32', 'binary32', 'cuda_r_32f'],
  tf32: ['tensorfloat32', 'tensorfloat-32', 'tf19', 'xf32'],
  bf16: ['bfloat16', 'brainfloat16', '__nv_bfloat16', '__hip_bfloat16', 'cuda_r_16bf'],
  fp16: ['float16', 'half', 'f16', 'binary16', '__half', 'cuda_r_16f'],
  e5m2: [
    'float8_e5m2',
    'float8_e5m2fn',
    'f8_e5m2',
    'fp8_e5m2',
    'f8e5m2',
    'fp8e5m2',
    'mxfp8_e5m2',
    '__nv_fp8_e5m2',
    'cuda_r_8f_e5m2',
  ],
  e4m3: [
    'float8_e4m3fn',
    'e4m3fn',
    'f8_e4m3',
    'f8_e4m3fn',
    'f8e4m3fn',
    'fp8_e4m3',
    'fp8_e4m3fn',
    'fp8e4m3',
    'mxfp8_e4m3',
    '__nv_fp8_e4m3',
    'cuda_r_8f_e4m3',
  ],
  e5m2fnuz: ['float8_e5m2fnuz', 'f8_e5m2fnuz', 'f8e5m2fnuz', 'fp8_e5m2fnuz', '__hip_fp8_e5m2_fnuz'],
  e4m3fnuz: ['float8_e4m3fnuz', 'f8_e4m3fnuz', 'f8e4m3fnuz', 'fp8_e4m3fnuz', '__hip_fp8_e4m3_fnuz'],
  e3m2: ['float6_e3m2fn', 'e3m2fn', 'f6_e3m2', 'f6e3m2fn', 'fp6_e3m2', 'mxfp6_e3m2', '__nv_fp6_e3m2'],
  e2m3: ['float6_e2m3fn', 'e2m3fn', 'f6_e2m3', 'f6e2m3fn', 'fp6_e2m3', 'mxfp6_e2m3', '__nv_fp6_e2m3'],
  e2m1: [
    'float4_e2m1fn',
    'float4_e2m1fn_x2',
    'e2m1fn',
    'f4',
    'f4_e2m1',
    'f4e2m1fn',
    'fp4',
    'fp4_e2m1',
    'mxfp4',
    'mxfp4_e2m1',
    'nvfp4',
    '__nv_fp4_e2m1',
    'cuda_r_4f_e2m1',
  ],
  ue4m3: ['cuda_r_8f_ue4m3'],
  ue8m0: ['float8_e8m0fnu', 'e8m0', 'e8m0fnu', 'f8_e8m0', 'f8_e8m0fnu', 'f8e8m0fnu', 'cuda_r_8f_ue8m0'],
  s8: ['int8', 'i8', 'cuda_r_8i'],
  u8: ['uint8', 'cuda_r_8u'],
  s32: ['int32', 'i32', 'int', 'cuda_r_32i'],
};

const BY_NAME: ReadonlyMap<string, FormatName> = new Map(
  FORMAT_NAMES.flatMap((format) => [format, ...NAMES[format]].map((name) => [name, format] as const)),
);

/** Names that mean several formats, whatever the device. */
const AMBIGUOUS: ReadonlyMap<string, readonly FormatName[]> = new Map([
  ['fp8', ['e4m3', 'e5m2', 'e4m3fnuz']],
  ['f8', ['e4m3', 'e5m2', 'e4m3fnuz']],
  ['float8', ['e4m3', 'e5m2', 'e4m3fnuz']],
  ['bf8', ['e5m2', 'e5m2fnuz']],
  ['mxfp8', ['e4m3', 'e5m2']],
  ['fp6', ['e3m2', 'e2m3']],
  ['mxfp6', ['e3m2', 'e2m3']],
  // ml_dtypes' float8_e4m3 has infinities, which no catalogued unit has.
  ['float8_e4m3', ['e4m3', 'e4m3fnuz']],
]);

/** Names that leave open on AMD whether OCP's format or the fnuz one of CDNA3 is meant. */
const BARE_FP8: ReadonlyMap<string, readonly [ocp: FormatName, fnuz: FormatName]> = new Map(
  (
    [
      [
        ['e4m3', 'fp8', 'f8', 'float8', 'fp8_e4m3', 'fp8e4m3', 'float8_e4m3'],
        ['e4m3', 'e4m3fnuz'],
      ],
      [
        ['e5m2', 'bf8', 'fp8_e5m2', 'fp8e5m2'],
        ['e5m2', 'e5m2fnuz'],
      ],
    ] as const
  ).flatMap(([names, formats]) => names.map((name) => [name, formats] as const)),
);

const bare = (name: string) =>
  name
    .trim()
    .toLowerCase()
    .replace(/^(torch|ml_dtypes|jnp|jax\.numpy|np|numpy)\./, '')
    .replaceAll('-', '_');

/**
 * The format that a dtype name means: torch, ml_dtypes, OCP, safetensors, CUDA. On an AMD device a bare FP8 name
 * (`e4m3`, `fp8`, `e5m2`, `bf8`) is refused with both readings named: OCP's format and the fnuz one.
 * UnknownNameError, `nearest` listing the readings or the closest names.
 */
export function findFormat(name: string, options: { device?: string | Device } = {}): FormatName {
  const key = bare(name);
  const device = typeof options.device === 'string' ? findDevice(options.device) : options.device;
  const readings = BARE_FP8.get(key);
  if (device?.vendor === 'amd' && readings !== undefined) {
    const [ocp, fnuz] = readings;
    throw new UnknownNameError(
      `format '${name}' on ${device.id} has two readings: ${fnuz} (float8_${fnuz}, what CDNA3's units take) and ${ocp} (OCP, float8_${ocp === 'e4m3' ? 'e4m3fn' : ocp}); name one`,
      [fnuz, ocp],
    );
  }
  const several = AMBIGUOUS.get(key);
  if (several !== undefined) {
    throw new UnknownNameError(`format '${name}' may mean ${several.join(' or ')}; name one`, several);
  }
  const format = BY_NAME.get(key);
  if (format === undefined) throw unknownName('format', name, BY_NAME.keys());
  return format;
}
