import type { FormatName } from '../../formats/table.js';
import type { Datapath } from '../datapath.js';
import type { Scaling } from '../op.js';
import {
  fmaFp64,
  fusedWindow,
  hopperSplitFp8,
  integerSum,
  MX_FP8,
  MXFP4,
  nvfp4,
  type WindowConstants,
} from './families.js';
import { ptxName, type Row } from './row.js';

type Shape = readonly [m: number, n: number, k: number];
type Accumulator = 'fp32' | 'fp16';

export const FP8_PAIRS = pairs(['e4m3', 'e5m2']);
export const F8F6F4_PAIRS = pairs(['e4m3', 'e5m2', 'e2m3', 'e3m2', 'e2m1']);
export const INT8_PAIRS = pairs(['s8', 'u8']);

function pairs(formats: readonly FormatName[]): (readonly [FormatName, FormatName])[] {
  return formats.flatMap((a) => formats.map((b) => [a, b] as const));
}

interface MmaSync {
  readonly shape: Shape;
  readonly a: FormatName;
  readonly b: FormatName;
  readonly c: FormatName;
  readonly d: FormatName;
  readonly datapath: Datapath;
  /** Qualifiers between shape and types, e.g. `.kind::f8f6f4`. */
  readonly qualifier?: string;
  readonly scaling?: Scaling;
  readonly spellings?: readonly string[];
}

const mmaSync = ({
  shape: [m, n, k],
  a,
  b,
  c,
  d,
  datapath,
  qualifier,
  scaling,
  spellings,
}: MmaSync): Row => ({
  instruction: `mma.sync.m${m}n${n}k${k}${qualifier ?? ''}.${[d, a, b, c].map(ptxName).join('.')}${scaling ? `.${scaling.format}` : ''}`,
  spellings: spellings ?? [],
  shape: { m, n, k, blocks: 1 },
  a,
  b,
  c,
  d,
  datapath,
  scaling: scaling ?? null,
  sparsity: null,
});

/** fp16, bf16, tf32 or FP8 in one window; c has d's format. */
export const windowMma = (
  shapes: readonly Shape[],
  a: FormatName,
  b: FormatName,
  outputs: readonly Accumulator[],
  constants: WindowConstants,
): Row[] =>
  shapes.flatMap((shape) =>
    outputs.map((d) => mmaSync({ shape, a, b, c: d, d, datapath: fusedWindow(constants, shape[2], d) })),
  );

/** m8n8k4 with c in fp16 and d in fp32: c is widened exactly first (section 4). */
export const wideningMma = (constants: WindowConstants): Row =>
  mmaSync({
    shape: [8, 8, 4],
    a: 'fp16',
    b: 'fp16',
    c: 'fp16',
    d: 'fp32',
    datapath: fusedWindow(constants, 4, 'fp32'),
  });

/** Section 7: FP8 m16n8k32 on sm_90 and sm_100. */
export const splitFp8Mma = (d: Accumulator): Row[] =>
  FP8_PAIRS.map(([a, b]) => mmaSync({ shape: [16, 8, 32], a, b, c: d, d, datapath: hopperSplitFp8(d) }));

/** Section 4.7. */
export const fp64Mma = (shapes: readonly Shape[]): Row[] =>
  shapes.map((shape) => mmaSync({ shape, a: 'fp64', b: 'fp64', c: 'fp64', d: 'fp64', datapath: fmaFp64 }));

/** Section 4.8: every sign combination, wrapping and saturating. */
export const integerMma = (shapes: readonly Shape[]): Row[] =>
  shapes.flatMap((shape) =>
    INT8_PAIRS.flatMap(([a, b]) =>
      [false, true].map((saturate) =>
        mmaSync({
          shape,
          a,
          b,
          c: 's32',
          d: 's32',
          datapath: integerSum(saturate),
          ...(saturate ? { qualifier: '.satfinite' } : {}),
        }),
      ),
    ),
  );

const isFp8 = (format: FormatName) => format === 'e4m3' || format === 'e5m2';

/** sm_120's m16n8k32 over the five narrow formats; FP8 pairs are also written without the kind. */
export const f8f6f4Mma = (constants: WindowConstants): Row[] =>
  F8F6F4_PAIRS.flatMap(([a, b]) =>
    (['fp32', 'fp16'] as const).map((d) => {
      const plain = `mma.sync.m16n8k32.${[d, a, b, d].map(ptxName).join('.')}`;
      return mmaSync({
        shape: [16, 8, 32],
        a,
        b,
        c: d,
        d,
        datapath: fusedWindow(constants, 32, d),
        qualifier: '.kind::f8f6f4',
        spellings: isFp8(a) && isFp8(b) ? [plain] : [],
      });
    }),
  );

/** sm_120's block-scaled mma.sync: arithmetic of the tcgen05 kind of the same name. */
export const blockScaledMma = (): Row[] => [
  ...F8F6F4_PAIRS.map(([a, b]) =>
    mmaSync({
      shape: [16, 8, 32],
      a,
      b,
      c: 'fp32',
      d: 'fp32',
      datapath: MX_FP8,
      qualifier: '.kind::mxf8f6f4.block_scale',
      scaling: { format: 'ue8m0', block: 32 },
    }),
  ),
  ...(
    [
      ['mxf4', '2X', 'ue8m0', 32],
      ['mxf4nvf4', '2X', 'ue8m0', 32],
      ['mxf4nvf4', '4X', 'ue8m0', 16],
      ['mxf4nvf4', '4X', 'ue4m3', 16],
    ] as const
  ).map(([kind, vec, format, block]) =>
    mmaSync({
      shape: [16, 8, 64],
      a: 'e2m1',
      b: 'e2m1',
      c: 'fp32',
      d: 'fp32',
      datapath: format === 'ue4m3' ? nvfp4(block) : MXFP4,
      qualifier: `.kind::${kind}.block_scale.scale_vec::${vec}`,
      scaling: { format, block },
    }),
  ),
];
