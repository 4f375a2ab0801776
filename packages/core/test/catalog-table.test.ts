/** Sections 5 to 7 of the numerics page, transcribed row by row: every op must match exactly one line. */
import { describe, expect, it } from 'vitest';
import { catalog, type EvidenceLevel, FORMATS, type MmaOp } from '../src/index.js';

interface Line {
  readonly devices: string;
  readonly instruction: RegExp;
  readonly a: string;
  readonly d: string;
  readonly level: EvidenceLevel;
  /** Fields of the datapath; block is N, cut to the instruction's K where `cut`. */
  readonly datapath: object;
  readonly cut?: boolean;
  readonly scale?: readonly [format: string, block: number];
  readonly sparsity?: string;
}

const AMD32 = { format: 'fp32', rounding: 'RNE', precision: 23, underflow: 'signed', nan: 'ffc00000' };
const RZ32 = { format: 'fp32', rounding: 'RZ', precision: 23, underflow: 'positive', nan: '7fffffff' };
const RNE16 = { format: 'fp16', rounding: 'RNE', precision: 10, underflow: 'positive', nan: '7fff' };
const P13 = { ...RZ32, precision: 13 };
const IEEE64 = {
  format: 'fp64',
  rounding: 'RNE',
  precision: 52,
  underflow: 'signed',
  nan: 'fff8000000000000',
};

const fused = (block: number, fraction: number, floor: number | null, output: object) => ({
  kind: 'fused-window',
  block,
  fraction,
  floor,
  alignment: 'RZ',
  zeroAddendExponent: null,
  productOverflow: null,
  output,
});
const split = (floor: number, output: object) => ({
  kind: 'split-window',
  block: 16,
  fraction: 25,
  floor,
  alignment: 'RZ',
  selectBit: 1,
  output,
  addition: 'RNE',
});
const fma = (output: object) => ({ kind: 'sequential-fma', flushInputs: false, flushResults: false, output });
const pairwise = (block: number) => ({
  kind: 'pairwise',
  block,
  flushInputs: true,
  flushResults: true,
  output: AMD32,
});
const cdna3 = {
  fraction: 24,
  floor: null,
  alignment: 'RZ',
  zeroAddendExponent: -126,
  productOverflow: 128,
  addendFraction: 24,
  addendRounding: 'RD',
  sumFraction: 32,
  sumRounding: 'RD',
  normalFraction: 31,
  normalRounding: 'RD',
  output: AMD32,
};
const groups = (
  group: number,
  dominantGroup: number,
  groupAddendFraction: number | null,
  leaveOut: number | null,
) => ({
  kind: 'scaled-groups',
  group,
  dominantGroup,
  dominantFraction: 35,
  productFraction: 39,
  scaleFraction: 35,
  groupAddendFraction,
  leaveOut,
  output: RZ32,
});

const MMA = /^mma\.sync/;
const WGMMA = /^wgmma/;
const DENSE = /^tcgen05\.mma\.kind/;
const SPARSE = /^tcgen05\.mma\.sp\.kind/;
const OLD = /^v_mfma_f(32|64)_\d+x\d+x\d+[bf]/;
const NEW = /^v_mfma_f(32|64)_\d+x\d+x\d+_/;
const FP8 = 'e4m3 e5m2';
const NARROW = 'e4m3 e5m2 e2m3 e3m2 e2m1';

const nvidia = (
  devices: string,
  instruction: RegExp,
  a: string,
  block: number,
  fraction: number,
  floor32: number | null,
  floor16: number | null | undefined,
  level: EvidenceLevel,
): Line[] => [
  { devices, instruction, a, d: 'fp32', level, datapath: fused(block, fraction, floor32, RZ32), cut: true },
  ...(floor16 === undefined
    ? []
    : [
        {
          devices,
          instruction,
          a,
          d: 'fp16',
          level,
          datapath: fused(block, fraction, floor16, RNE16),
          cut: true,
        },
      ]),
];

const LINES: readonly Line[] = [
  ...nvidia('v100', MMA, 'fp16', 4, 23, null, -19, 'recorded'),
  ...nvidia('t4', MMA, 'fp16', 8, 24, -132, -20, 'published'),
  ...nvidia('a100 a2 l40s rtx4060 rtx1000', MMA, 'fp16', 8, 24, -132, -20, 'recorded'),
  ...nvidia('a100 a2 l40s rtx4060 rtx1000', MMA, 'bf16', 8, 24, -132, undefined, 'recorded'),
  ...nvidia('a100 a2 l40s rtx4060 rtx1000', MMA, 'tf32', 4, 24, -132, undefined, 'recorded'),
  ...nvidia('a30', MMA, 'fp16', 8, 24, -132, -20, 'derived'),
  ...nvidia('a30', MMA, 'bf16', 8, 24, -132, undefined, 'derived'),
  ...nvidia('a30', MMA, 'tf32', 4, 24, -132, undefined, 'derived'),
  ...(['m16n8k32', 'm16n8k16'] as const).flatMap((shape): Line[] => {
    const level = shape === 'm16n8k32' ? 'recorded' : 'derived';
    const line = { devices: 'l40s rtx4060 rtx1000', instruction: new RegExp(shape), a: FP8, level } as const;
    return [
      { ...line, d: 'fp32', datapath: fused(16, 13, -132, P13) },
      { ...line, d: 'fp16', datapath: fused(16, 13, null, RNE16) },
    ];
  }),
  ...nvidia('h100 h200 b200', MMA, 'fp16', 16, 25, -133, -21, 'recorded'),
  ...nvidia('h100 h200 b200', MMA, 'bf16', 16, 25, -133, undefined, 'recorded'),
  ...nvidia('h100 h200 b200', MMA, 'tf32', 8, 25, -133, undefined, 'recorded'),
  ...nvidia('h100 h200', WGMMA, 'fp16', 16, 25, -133, -21, 'recorded'),
  ...nvidia('h100 h200', WGMMA, 'bf16', 16, 25, -133, undefined, 'recorded'),
  ...nvidia('h100 h200', WGMMA, 'tf32', 8, 25, -133, undefined, 'recorded'),
  {
    devices: 'h100 h200',
    instruction: WGMMA,
    a: FP8,
    d: 'fp32',
    level: 'recorded',
    datapath: fused(32, 13, -133, P13),
  },
  {
    devices: 'h100 h200',
    instruction: WGMMA,
    a: FP8,
    d: 'fp16',
    level: 'derived',
    datapath: fused(32, 13, null, RNE16),
  },
  {
    devices: 'h100 h200 b200',
    instruction: MMA,
    a: FP8,
    d: 'fp16',
    level: 'recorded',
    datapath: split(-21, RNE16),
  },
  {
    devices: 'h100 h200',
    instruction: MMA,
    a: FP8,
    d: 'fp32',
    level: 'derived',
    datapath: split(-133, RZ32),
  },
  { devices: 'b200', instruction: MMA, a: FP8, d: 'fp32', level: 'recorded', datapath: split(-133, RZ32) },
  ...nvidia('rtx-pro-6000 rtx50', MMA, 'fp16', 16, 25, -133, -21, 'derived'),
  ...nvidia('rtx-pro-6000 rtx50', MMA, 'bf16', 16, 25, -133, undefined, 'derived'),
  ...nvidia('rtx-pro-6000 rtx50', MMA, 'tf32', 8, 25, -133, undefined, 'derived'),
  ...nvidia('rtx-pro-6000 rtx50', /kind::f8f6f4/, NARROW, 32, 25, null, null, 'published'),
  ...(['a100', 'h100'] as const).map(
    (devices): Line => ({
      devices,
      instruction: devices === 'a100' ? /m8n8k4/ : /m16n8k(4|8|16)\./,
      a: 'fp64',
      d: 'fp64',
      level: 'published',
      datapath: fma(IEEE64),
    }),
  ),
  {
    devices: 'a2 a30 l40s rtx4060 rtx1000 h200 b200 rtx-pro-6000 rtx50',
    instruction: MMA,
    a: 'fp64',
    d: 'fp64',
    level: 'derived',
    datapath: fma(IEEE64),
  },
  { devices: 'h100', instruction: /m8n8k4/, a: 'fp64', d: 'fp64', level: 'derived', datapath: fma(IEEE64) },

  // Section 6.
  {
    devices: 'b200',
    instruction: DENSE,
    a: 'tf32',
    d: 'fp32',
    level: 'published',
    datapath: fused(8, 25, null, RZ32),
  },
  ...nvidia('b200', DENSE, 'fp16', 16, 25, null, null, 'published'),
  ...nvidia('b200', DENSE, 'bf16', 16, 25, null, undefined, 'published'),
  ...nvidia('b200', /^tcgen05\.mma\.kind::f8f6f4/, NARROW, 32, 25, null, null, 'published'),
  {
    devices: 'b200',
    instruction: SPARSE,
    a: 'tf32',
    d: 'fp32',
    level: 'published',
    datapath: fused(16, 25, null, RZ32),
    sparsity: '1:2',
  },
  {
    devices: 'b200',
    instruction: SPARSE,
    a: 'fp16 bf16',
    d: 'fp32',
    level: 'published',
    datapath: fused(32, 25, null, RZ32),
    sparsity: '2:4',
  },
  {
    devices: 'b200',
    instruction: SPARSE,
    a: 'fp16',
    d: 'fp16',
    level: 'derived',
    datapath: fused(32, 25, null, RNE16),
    sparsity: '2:4',
  },
  {
    devices: 'b200',
    instruction: /^tcgen05\.mma\.sp\.kind::f8f6f4\.f32\.(e.m.)\.\1$/,
    a: NARROW,
    d: 'fp32',
    level: 'published',
    datapath: fused(64, 25, null, RZ32),
    sparsity: '2:4',
  },
  {
    devices: 'b200',
    instruction: /^tcgen05\.mma\.sp\.kind::f8f6f4\.f32\.(e.m.)\.(?!\1)/,
    a: NARROW,
    d: 'fp32',
    level: 'derived',
    datapath: fused(64, 25, null, RZ32),
    sparsity: '2:4',
  },
  {
    devices: 'b200',
    instruction: /^tcgen05\.mma\.sp\.kind::f8f6f4/,
    a: NARROW,
    d: 'fp16',
    level: 'derived',
    datapath: fused(64, 25, null, RNE16),
    sparsity: '2:4',
  },
  ...(['b200', 'rtx-pro-6000 rtx50'] as const).flatMap((devices): Line[] => {
    const level = devices === 'b200' ? 'published' : 'derived';
    const prefix = devices === 'b200' ? '^tcgen05\\.mma\\.' : '^mma\\.sync\\..*';
    const line = (kind: string, a: string, datapath: object, format: string, block: number): Line => ({
      devices,
      instruction: new RegExp(`${prefix}kind::${kind}.*${format}$`),
      a,
      d: 'fp32',
      level,
      datapath,
      scale: [format, block],
    });
    return [
      line('mxf8f6f4', NARROW, { kind: 'scaled-window', fraction: 25, output: RZ32 }, 'ue8m0', 32),
      line('mxf4\\..*2X', 'e2m1', groups(16, 16, 35, -174), 'ue8m0', 32),
      line('mxf4nvf4.*2X', 'e2m1', groups(16, 16, 35, -174), 'ue8m0', 32),
      line('mxf4nvf4.*4X', 'e2m1', groups(16, 16, 35, -174), 'ue8m0', 16),
      line('mxf4nvf4.*4X', 'e2m1', groups(4, 16, null, null), 'ue4m3', 16),
    ];
  }),
  {
    devices: 'b200',
    instruction: /sp\.kind::mxf8f6f4/,
    a: NARROW,
    d: 'fp32',
    level: 'derived',
    datapath: { kind: 'scaled-window', fraction: 25, output: RZ32 },
    scale: ['ue8m0', 64],
    sparsity: '2:4',
  },
  {
    devices: 'b200',
    instruction: /sp\.kind::mxf4.*2X/,
    a: 'e2m1',
    d: 'fp32',
    level: 'derived',
    datapath: groups(16, 16, 35, -174),
    scale: ['ue8m0', 64],
    sparsity: '4:8-pairs',
  },
  {
    devices: 'b200',
    instruction: /sp\.kind::mxf4nvf4.*4X.*ue8m0/,
    a: 'e2m1',
    d: 'fp32',
    level: 'derived',
    datapath: groups(16, 16, 35, -174),
    scale: ['ue8m0', 32],
    sparsity: '4:8-pairs',
  },
  {
    devices: 'b200',
    instruction: /sp\.kind::mxf4nvf4.*4X.*ue4m3/,
    a: 'e2m1',
    d: 'fp32',
    level: 'published',
    datapath: groups(4, 32, null, null),
    scale: ['ue4m3', 32],
    sparsity: '4:8-pairs',
  },
  {
    devices: 'b200',
    instruction: /^tcgen05\.mma\.kind::i8.*8$/,
    a: 's8 u8',
    d: 's32',
    level: 'published',
    datapath: { kind: 'integer', overflow: 'wrap' },
  },
  {
    devices: 'b200',
    instruction: /^tcgen05\.mma\.kind::i8.*satfinite$/,
    a: 's8 u8',
    d: 's32',
    level: 'published',
    datapath: { kind: 'integer', overflow: 'saturate' },
  },
  {
    devices: 'b200',
    instruction: /sp\.kind::i8.*8$/,
    a: 's8 u8',
    d: 's32',
    level: 'derived',
    datapath: { kind: 'integer', overflow: 'wrap' },
    sparsity: '2:4',
  },
  {
    devices: 'b200',
    instruction: /sp\.kind::i8.*satfinite$/,
    a: 's8 u8',
    d: 's32',
    level: 'derived',
    datapath: { kind: 'integer', overflow: 'saturate' },
    sparsity: '2:4',
  },

  // Section 4.8.
  ...(['wrap', 'saturate'] as const).map(
    (overflow): Line => ({
      devices: 't4 a100 a2 a30 l40s rtx4060 rtx1000 h100 h200 b200 rtx-pro-6000 rtx50',
      instruction:
        overflow === 'wrap' ? /^(mma\.sync|wgmma).*k\d+\.s32/ : /^(mma\.sync|wgmma).*k\d+\.satfinite/,
      a: 's8 u8',
      d: 's32',
      level: 'derived',
      datapath: { kind: 'integer', overflow },
    }),
  ),
  {
    devices: 'mi100 mi210 mi250 mi250x mi300a mi300x',
    instruction: /^v_mfma_i32/,
    a: 's8',
    d: 's32',
    level: 'derived',
    datapath: { kind: 'integer', overflow: 'wrap' },
  },

  // Section 5, AMD.
  {
    devices: 'mi100 mi210 mi250 mi250x',
    instruction: OLD,
    a: 'fp32',
    d: 'fp32',
    level: 'published',
    datapath: fma(AMD32),
  },
  {
    devices: 'mi210 mi250 mi250x',
    instruction: OLD,
    a: 'fp64',
    d: 'fp64',
    level: 'published',
    datapath: fma(IEEE64),
  },
  {
    devices: 'mi100',
    instruction: OLD,
    a: 'fp16',
    d: 'fp32',
    level: 'published',
    datapath: { kind: 'exact', block: 4, output: AMD32 },
  },
  {
    devices: 'mi100',
    instruction: OLD,
    a: 'bf16',
    d: 'fp32',
    level: 'published',
    datapath: { kind: 'exact', block: 2, output: AMD32 },
  },
  {
    devices: 'mi210 mi250 mi250x',
    instruction: OLD,
    a: 'fp16',
    d: 'fp32',
    level: 'published',
    datapath: pairwise(4),
  },
  {
    devices: 'mi210 mi250 mi250x',
    instruction: /bf16_1k$/,
    a: 'bf16',
    d: 'fp32',
    level: 'published',
    datapath: pairwise(4),
  },
  {
    devices: 'mi210 mi250 mi250x',
    instruction: /bf16$/,
    a: 'bf16',
    d: 'fp32',
    level: 'published',
    datapath: pairwise(2),
  },
  {
    devices: 'mi300a mi300x',
    instruction: NEW,
    a: 'fp32',
    d: 'fp32',
    level: 'published',
    datapath: fma(AMD32),
  },
  {
    devices: 'mi300a mi300x',
    instruction: NEW,
    a: 'fp64',
    d: 'fp64',
    level: 'published',
    datapath: fma(IEEE64),
  },
  {
    devices: 'mi300a mi300x',
    instruction: NEW,
    a: 'fp16 bf16',
    d: 'fp32',
    level: 'published',
    datapath: { kind: 'cdna3-window', block: 8, ...cdna3, addendReach: null },
    cut: true,
  },
  {
    devices: 'mi300a mi300x',
    instruction: /_xf32$/,
    a: 'tf32',
    d: 'fp32',
    level: 'published',
    datapath: { kind: 'cdna3-window', block: 4, ...cdna3, addendReach: null },
  },
  {
    devices: 'mi300a mi300x',
    instruction: /_[fb]p?f?8_/,
    a: 'e4m3fnuz e5m2fnuz',
    d: 'fp32',
    level: 'published',
    datapath: {
      kind: 'cdna3-odd-even',
      block: 16,
      ...cdna3,
      addendReach: 25,
      mergeFraction: 24,
      mergeRounding: 'RD',
    },
  },
];

const matches = (op: MmaOp, line: Line) =>
  line.devices.split(' ').includes(op.device) &&
  line.instruction.test(op.instruction) &&
  line.a.split(' ').includes(op.a) &&
  line.d === op.d;

describe('numerics sections 5 to 7', () => {
  it('states every op once', () => {
    const wrong = catalog()
      .map((op) => [op, LINES.filter((line) => matches(op, line)).length] as const)
      .filter(([, count]) => count !== 1)
      .map(([op, count]) => `${op.device} ${op.instruction}: ${count} lines`);
    expect(wrong).toEqual([]);
  });

  it('has an op for every line and device', () => {
    for (const line of LINES)
      for (const device of line.devices.split(' '))
        for (const a of line.a.split(' '))
          expect(catalog().some((op) => op.device === device && op.a === a && matches(op, line))).toBe(true);
  });

  it('is what every op says', () => {
    for (const op of catalog()) {
      const line = LINES.find((candidate) => matches(op, candidate))!;
      const block = (line.datapath as { block?: number }).block;
      const datapath = line.cut ? { ...line.datapath, block: Math.min(block!, op.k) } : line.datapath;
      expect({
        op: `${op.device} ${op.instruction}`,
        datapath: op.datapath,
        level: op.evidence.level,
        scaling: op.scaling,
        sparsity: op.sparsity,
      }).toEqual({
        op: `${op.device} ${op.instruction}`,
        datapath,
        level: line.level,
        scaling: line.scale ? { format: line.scale[0], block: line.scale[1] } : null,
        sparsity: line.sparsity ?? null,
      });
    }
  });

  it('names formats and K as the instruction does', () => {
    const ptx: Record<string, string> = { fp64: 'f64', fp32: 'f32', fp16: 'f16' };
    const kinds: Record<string, number> = {
      tf32: 8,
      f16: 16,
      f8f6f4: 32,
      i8: 32,
      mxf8f6f4: 32,
      mxf4: 64,
      mxf4nvf4: 64,
    };
    for (const op of catalog()) {
      const { a, b, c, d } = { a: op.a, b: op.b, c: op.c, d: op.d };
      const [pa, pb, pc, pd] = [a, b, c, d].map((format) => ptx[format] ?? format);
      const k = /m\d+n\d+k(\d+)/.exec(op.instruction)?.[1] ?? /\d+x\d+x(\d+)/.exec(op.instruction)?.[1];
      if (op.instruction.startsWith('tcgen05')) {
        expect(op.instruction).toContain(`.${pd}.${pa}.${pb}`);
        const dense = kinds[/kind::(\w+)/.exec(op.instruction)![1]];
        expect(op.k).toBe(op.sparsity ? 2 * dense : dense);
        expect(c).toBe(d);
      } else if (op.instruction.startsWith('wgmma')) {
        expect(op.instruction.endsWith(`.${pd}.${pa}.${pb}`)).toBe(true);
        expect(op.k).toBe(Number(k));
        // 32 bytes of K whatever the format.
        expect(op.k * (op.a === 'tf32' ? 32 : FORMATS[op.a].wordBits)).toBe(256);
      } else {
        expect(op.k).toBe(Number(k));
        if (op.instruction.startsWith('mma')) expect(op.instruction).toContain(`.${pd}.${pa}.${pb}.${pc}`);
      }
      expect(op.shape.k).toBe(op.k);
    }
  });

  it('cites a source for every op, and says what is open where it is derived', () => {
    for (const { evidence } of catalog()) {
      expect(evidence.source).not.toBe('');
      if (evidence.level === 'derived' && evidence.note === undefined)
        expect(evidence.source).toContain('numerics');
    }
  });
});
