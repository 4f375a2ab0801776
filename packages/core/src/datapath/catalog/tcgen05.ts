/**
 * tcgen05.mma (section 6). Types are D.A.B; c has d's format. m = 128, n = 8 stand for every M and N: they do
 * not enter the arithmetic. Sparse forms double K and the scale blocks.
 */
import type { FormatName } from '../../formats/table.js';
import type { Datapath } from '../datapath.js';
import type { Scaling, Sparsity } from '../op.js';
import { fusedWindow, integerSum, MX_FP8, MXFP4, nvfp4, tcgen05Window } from './families.js';
import { F8F6F4_PAIRS, INT8_PAIRS } from './mma-sync.js';
import { ptxName, type Row } from './row.js';

interface Tcgen05 {
  readonly sparse: boolean;
  readonly kind: string;
  /** Dense K. */
  readonly k: number;
  readonly a: FormatName;
  readonly b: FormatName;
  readonly d: FormatName;
  readonly datapath: Datapath;
  readonly sparsity?: Sparsity;
  readonly scaling?: Scaling;
  readonly suffix?: string;
}

const tcgen05 = (o: Tcgen05): Row => ({
  instruction: `tcgen05.mma.${o.sparse ? 'sp.' : ''}kind::${o.kind}.${[o.d, o.a, o.b].map(ptxName).join('.')}${
    o.scaling ? `.${o.scaling.format}` : ''
  }${o.suffix ?? ''}`,
  spellings: [],
  shape: { m: 128, n: 8, k: o.sparse ? 2 * o.k : o.k, blocks: 1 },
  a: o.a,
  b: o.b,
  c: o.d,
  d: o.d,
  datapath: o.datapath,
  scaling: o.scaling ?? null,
  sparsity: o.sparse ? (o.sparsity ?? '2:4') : null,
});

const window = (k: number, sparse: boolean, d: 'fp32' | 'fp16') => {
  const logical = sparse ? 2 * k : k;
  return fusedWindow(tcgen05Window(logical), logical, d);
};

/** kind::tf32 and kind::f16; f16 output for fp16 operands alone. */
export const wideKinds = (sparse: boolean): Row[] => [
  tcgen05({
    sparse,
    kind: 'tf32',
    k: 8,
    a: 'tf32',
    b: 'tf32',
    d: 'fp32',
    datapath: window(8, sparse, 'fp32'),
    sparsity: '1:2',
  }),
  ...(
    [
      ['fp32', 'fp16'],
      ['fp32', 'bf16'],
      ['fp16', 'fp16'],
    ] as const
  ).map(([d, a]) => tcgen05({ sparse, kind: 'f16', k: 16, a, b: a, d, datapath: window(16, sparse, d) })),
];

/** kind::f8f6f4: 25 mixes. */
export const f8f6f4Kind = (sparse: boolean, d: 'fp32' | 'fp16'): Row[] =>
  F8F6F4_PAIRS.map(([a, b]) =>
    tcgen05({ sparse, kind: 'f8f6f4', k: 32, a, b, d, datapath: window(32, sparse, d) }),
  );

export const i8Kind = (sparse: boolean): Row[] =>
  INT8_PAIRS.flatMap(([a, b]) =>
    [false, true].map((saturate) =>
      tcgen05({
        sparse,
        kind: 'i8',
        k: 32,
        a,
        b,
        d: 's32',
        datapath: integerSum(saturate),
        suffix: saturate ? '.satfinite' : '',
      }),
    ),
  );

const doubled = (format: Scaling['format'], block: number, sparse: boolean): Scaling => ({
  format,
  block: sparse ? 2 * block : block,
});

/** kind::mxf8f6f4: 25 mixes, ue8m0 scales of 32. */
export const mxf8f6f4Kind = (sparse: boolean): Row[] =>
  F8F6F4_PAIRS.map(([a, b]) =>
    tcgen05({
      sparse,
      kind: 'mxf8f6f4.block_scale',
      k: 32,
      a,
      b,
      d: 'fp32',
      datapath: MX_FP8,
      scaling: doubled('ue8m0', 32, sparse),
    }),
  );

/** kind::mxf4 (2X) and kind::mxf4nvf4 (2X, 4X) with ue8m0 scales. */
export const mxf4Kinds = (sparse: boolean): Row[] =>
  (
    [
      ['mxf4', '2X', 32],
      ['mxf4nvf4', '2X', 32],
      ['mxf4nvf4', '4X', 16],
    ] as const
  ).map(([kind, vec, block]) =>
    tcgen05({
      sparse,
      kind: `${kind}.block_scale.scale_vec::${vec}`,
      k: 64,
      a: 'e2m1',
      b: 'e2m1',
      d: 'fp32',
      datapath: MXFP4,
      sparsity: '4:8-pairs',
      scaling: doubled('ue8m0', block, sparse),
    }),
  );

/** NVFP4: kind::mxf4nvf4, 4X, ue4m3. */
export const nvfp4Kind = (sparse: boolean): Row[] => {
  const scaling = doubled('ue4m3', 16, sparse);
  return [
    tcgen05({
      sparse,
      kind: 'mxf4nvf4.block_scale.scale_vec::4X',
      k: 64,
      a: 'e2m1',
      b: 'e2m1',
      d: 'fp32',
      datapath: nvfp4(scaling.block),
      sparsity: '4:8-pairs',
      scaling,
    }),
  ];
};
