import { describe, expect, it } from 'vitest';
import {
  canonicalJson,
  catalog,
  type Datapath,
  DatapathError,
  findOp,
  InputError,
  type MmaOp,
  opHash,
  opJsonSchema,
  parseDatapath,
  parseOp,
} from '../src/index.js';

type Loose = { [key: string]: Loose };

/** A mutable copy of a catalog op. */
const copy = (device: string, instruction: string): Loose =>
  JSON.parse(JSON.stringify(findOp(device, instruction))) as Loose;

const WINDOW = ['h100', 'mma.sync.m16n8k16.f32.f16.f16.f32'] as const;
const SPLIT = ['h100', 'mma.sync.m16n8k32.f16.e4m3.e4m3.f16'] as const;
const FMA = ['mi100', 'v_mfma_f32_16x16x4f32'] as const;
const PAIRWISE = ['mi250', 'v_mfma_f32_16x16x16f16'] as const;
const ODD_EVEN = ['mi300x', 'v_mfma_f32_16x16x32_fp8_bf8'] as const;
const INTEGER = ['a100', 'mma.sync.m16n8k32.s32.s8.s8.s32'] as const;
const NVFP4 = ['b200', 'tcgen05.mma.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.ue4m3'] as const;
const SPARSE = ['b200', 'tcgen05.mma.sp.kind::f16.f32.bf16.bf16'] as const;

/** What is changed, and the field that the refusal must name. */
const REFUSED: readonly (readonly [
  name: string,
  base: readonly [string, string],
  change: (op: Loose) => void,
  field: string,
])[] = [
  [
    'precision above the format',
    WINDOW,
    (o) => set(o.datapath.output, 'precision', 24),
    'datapath.output.precision',
  ],
  [
    'precision above fp16',
    SPLIT,
    (o) => set(o.datapath.output, 'precision', 11),
    'datapath.output.precision',
  ],
  [
    'reduced precision of an IEEE operation',
    FMA,
    (o) => set(o.datapath.output, 'precision', 22),
    'datapath.output.precision',
  ],
  ['a NaN word that is Inf', WINDOW, (o) => set(o.datapath.output, 'nan', '7f800000'), 'datapath.output.nan'],
  [
    'a NaN word that is finite',
    WINDOW,
    (o) => set(o.datapath.output, 'nan', '00000001'),
    'datapath.output.nan',
  ],
  [
    'a NaN word of another width',
    WINDOW,
    (o) => set(o.datapath.output, 'nan', '7fff'),
    'datapath.output.nan',
  ],
  [
    'a NaN word that is not hex',
    WINDOW,
    (o) => set(o.datapath.output, 'nan', 'quiet'),
    'datapath.output.nan',
  ],
  ['fraction 0', WINDOW, (o) => set(o.datapath, 'fraction', 0), 'datapath.fraction'],
  ['fraction 201', WINDOW, (o) => set(o.datapath, 'fraction', 201), 'datapath.fraction'],
  ['fraction of a half', WINDOW, (o) => set(o.datapath, 'fraction', 1.5), 'datapath.fraction'],
  ['block 0', WINDOW, (o) => set(o.datapath, 'block', 0), 'datapath.block'],
  ['block 1025', WINDOW, (o) => set(o.datapath, 'block', 1025), 'datapath.block'],
  ['a floor beyond range', WINDOW, (o) => set(o.datapath, 'floor', -2201), 'datapath.floor'],
  ['a floor left out', WINDOW, (o) => drop(o.datapath, 'floor'), 'datapath.floor'],
  ['an unknown alignment', WINDOW, (o) => set(o.datapath, 'alignment', 'RU'), 'datapath.alignment'],
  ['an unknown kind', WINDOW, (o) => set(o.datapath, 'kind', 'window'), 'datapath.kind'],
  ['an unknown field of the op', WINDOW, (o) => set(o, 'name', 'x'), 'name'],
  ['an unknown field of the datapath', WINDOW, (o) => set(o.datapath, 'fractions', 1), 'datapath.fractions'],
  ['an unknown field of the output', WINDOW, (o) => set(o.datapath.output, 'p', 1), 'datapath.output.p'],
  ["another kind's field", WINDOW, (o) => set(o.datapath, 'selectBit', 1), 'datapath.selectBit'],
  ['no k', WINDOW, (o) => drop(o, 'k'), 'k'],
  ['k apart from the shape', WINDOW, (o) => set(o, 'k', 8), 'shape.k'],
  ['an unknown format', WINDOW, (o) => set(o, 'a', 'e4m4'), 'a'],
  ['a scale format as operand', WINDOW, (o) => set(o, 'b', 'ue8m0'), 'b'],
  ['integers in a window', WINDOW, (o) => set(o, 'a', 's8'), 'a'],
  ['d apart from the output', WINDOW, (o) => set(o, 'd', 'fp16'), 'd'],
  ['c apart from d', WINDOW, (o) => set(o, 'c', 'fp64'), 'c'],
  ['fp16 c of an fp32 d outside the fused window', ODD_EVEN, (o) => set(o, 'c', 'fp16'), 'c'],
  ['floats in an integer sum', INTEGER, (o) => set(o, 'b', 'fp16'), 'b'],
  ['a float result of an integer sum', INTEGER, (o) => set(o, 'd', 'fp32'), 'd'],
  ['fp64 operands of an fp32 FMA', FMA, (o) => set(o, 'a', 'fp64'), 'a'],
  ['a tree of three leaves', PAIRWISE, (o) => set(o.datapath, 'block', 3), 'datapath.block'],
  ['an odd block of an odd-even window', ODD_EVEN, (o) => set(o.datapath, 'block', 15), 'datapath.block'],
  ['a select bit beyond k', SPLIT, (o) => set(o.datapath, 'selectBit', 5), 'datapath.selectBit'],
  ['scaled without scaling', NVFP4, (o) => drop(o, 'scaling'), 'scaling'],
  [
    'scaling without a scaled kind',
    WINDOW,
    (o) => set(o, 'scaling', { format: 'ue8m0', block: 16 }),
    'scaling',
  ],
  ['a scale block across instructions', NVFP4, (o) => set(o.scaling, 'block', 24), 'scaling.block'],
  ['an unknown scale format', NVFP4, (o) => set(o.scaling, 'format', 'fp32'), 'scaling.format'],
  [
    'a group that does not divide the dominant one',
    NVFP4,
    (o) => set(o.datapath, 'group', 3),
    'datapath.dominantGroup',
  ],
  [
    'a dominant group across instructions',
    NVFP4,
    (o) => set(o.datapath, 'dominantGroup', 48),
    'datapath.dominantGroup',
  ],
  ['an unknown sparsity', SPARSE, (o) => set(o, 'sparsity', '1:4'), 'sparsity'],
  ['a ragged sparse chunk', SPARSE, (o) => resize(o, 30), 'k'],
  ['sparsity of interleaved halves', SPLIT, (o) => set(o, 'sparsity', '2:4'), 'sparsity'],
  ['an evidence level of its own', WINDOW, (o) => set(o.evidence, 'level', 'guessed'), 'evidence.level'],
];

function set(target: Loose, field: string, value: unknown): void {
  target[field] = value as Loose;
}
function drop(target: Loose, field: string): void {
  delete target[field];
}
function resize(op: Loose, k: number): void {
  set(op, 'k', k);
  set(op.shape, 'k', k);
}

describe('custom ops', () => {
  it('accepts every op of the catalog unchanged', () => {
    for (const op of catalog()) {
      const again = parseOp(JSON.stringify(op), 'catalog');
      expect(canonicalJson(again)).toBe(canonicalJson(op));
      expect(Object.isFrozen(again.datapath)).toBe(true);
    }
  });

  it.each(REFUSED)('refuses %s', (_, [device, instruction], change, field) => {
    const op = copy(device, instruction);
    change(op);
    const error = caught(() => parseOp(op, 'my.json'));
    expect(error).toBeInstanceOf(DatapathError);
    expect((error as DatapathError).field).toBe(field);
    expect((error as Error).message).toMatch(
      new RegExp(`^my.json: ${field.replaceAll('.', '\\.')}: expected .+, got .+`),
    );
  });

  it('fills what the datapath already says', () => {
    const { a, b, k, datapath } = findOp(...WINDOW);
    const op = parseOp({ a, b, k, datapath }, 'my.json');
    expect(op).toMatchObject({
      device: 'custom',
      instruction: 'custom',
      shape: { m: 1, n: 1, k: 16, blocks: 1 },
      c: 'fp32',
      d: 'fp32',
      scaling: null,
      sparsity: null,
      evidence: { level: 'derived', source: 'custom datapath' },
    });
    expect(opHash(op)).toBe(opHash(findOp(...WINDOW)));
    const whole: MmaOp = parseOp(
      { a: 's8', b: 'u8', k: 4, datapath: { kind: 'integer', overflow: 'wrap' } },
      'i',
    );
    expect([whole.c, whole.d]).toEqual(['s32', 's32']);
  });

  it('writes NaN words in one case', () => {
    const datapath = JSON.parse(JSON.stringify(findOp(...WINDOW).datapath)) as Datapath & {
      output: { nan: string };
    };
    datapath.output.nan = '7FFFFFFF';
    expect(parseDatapath(datapath, 'd')).toEqual(findOp(...WINDOW).datapath);
  });

  it('says where text is no JSON', () => {
    expect(caught(() => parseOp('{', 'my.json'))).toBeInstanceOf(InputError);
    expect(() => parseOp('3', 'my.json')).toThrow('my.json: expected an object, got 3');
  });

  it('has its JSON Schema in schemas/op.schema.json', async () => {
    await expect(`${JSON.stringify(opJsonSchema(), null, 2)}\n`).toMatchFileSnapshot(
      '../schemas/op.schema.json',
    );
  });
});

function caught(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}
