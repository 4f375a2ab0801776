import { type Datapath, findOp, type MmaOp, parseOp } from '@bitmma/core';
import { CaseRandom, campaignsFor, generateCases, runSuite } from '@bitmma/core/conformance';
import { referenceEngine } from '@bitmma/core/reference';
import { expect, it } from 'vitest';
import { nativeEngine } from '../src/index.js';
import { arithmetics } from './ops.js';

const engine = await nativeEngine();

/** A catalog op with some of its constants drawn anew; null where the draw contradicts itself. */
function customOp(op: MmaOp, random: CaseRandom): MmaOp | null {
  const below = (n: number) => random.below(n);
  const pick = <T>(...from: T[]): T => from[below(from.length)];
  const fraction = () => pick(1, 8, 13, 24, 25, 40, 60, 61, 62, 63, 64, 100, 126, 127, 128, 150, 200);
  const values: Record<string, () => unknown> = {
    block: () => pick(1, 2, 3, 4, 5, 8, 16, 32),
    fraction,
    floor: () => pick(null, -20, -133, -300, 3),
    alignment: () => pick('RZ', 'RD', 'RNE'),
    addition: () => pick('RZ', 'RNE', 'RD', 'RU'),
    selectBit: () => below(4),
    zeroAddendExponent: () => pick(-126, -30, 0),
    productOverflow: () => pick(128, 20, 0),
    addendFraction: fraction,
    addendRounding: () => pick('RZ', 'RD', 'RNE'),
    addendReach: () => pick(null, 0, 25, 60),
    sumFraction: fraction,
    sumRounding: () => pick('RZ', 'RD', 'RNE'),
    normalFraction: () => pick(null, 12, 31, 60),
    normalRounding: () => pick('RZ', 'RD', 'RNE'),
    mergeFraction: fraction,
    mergeRounding: () => pick('RZ', 'RD', 'RNE'),
    group: () => pick(1, 2, 4, 8, 16, 32),
    dominantGroup: () => pick(4, 8, 16, 32),
    dominantFraction: fraction,
    productFraction: fraction,
    scaleFraction: fraction,
    groupAddendFraction: () => pick(null, 20, 35, 64),
    leaveOut: () => pick(null, -174, -150, -130),
    flushInputs: () => pick(true, false),
    flushResults: () => pick(true, false),
    overflow: () => pick('wrap', 'saturate'),
  };
  const formats = [
    'fp64',
    'fp32',
    'tf32',
    'bf16',
    'fp16',
    'e5m2',
    'e4m3',
    'e4m3fnuz',
    'e5m2fnuz',
    'e2m1',
    'e3m2',
  ];
  const datapath: Record<string, unknown> = { ...op.datapath };
  for (const field of Object.keys(datapath))
    if (values[field] && below(3) === 0) datapath[field] = values[field]();
  const { kind } = op.datapath as Datapath;
  if (kind !== 'integer') {
    const { output } = op.datapath as Exclude<Datapath, { kind: 'integer' }>;
    const format = below(3) === 0 ? pick('fp16', 'fp32', 'fp64') : output.format;
    const all = { fp16: 10, fp32: 23, fp64: 52 }[format];
    datapath.output = {
      format,
      rounding: pick('RZ', 'RNE', 'RD', 'RU'),
      precision: below(4) === 0 && kind !== 'pairwise' && kind !== 'sequential-fma' ? 1 + below(all) : all,
      underflow: pick('positive', 'signed'),
      nan: { fp16: '7e01', fp32: 'ffc00001', fp64: '7ff8000000000001' }[format],
    };
  }
  const operand = (format: string) => (kind !== 'integer' && below(3) === 0 ? pick(...formats) : format);
  try {
    return parseOp(
      { a: operand(op.a), b: operand(op.b), k: op.k, datapath, scaling: op.scaling, sparsity: op.sparsity },
      'drawn op',
    );
  } catch {
    return null;
  }
}

/** The catalog has no late-window: one is made of a fused window's constants. */
function lateWindow(): MmaOp {
  const op = findOp('b200', 'mma.sync.m16n8k16.f32.f16.f16.f32');
  if (op.datapath.kind !== 'fused-window') throw new Error('expected a fused-window');
  const { block, fraction, floor, alignment, output } = op.datapath;
  return {
    ...op,
    datapath: { kind: 'late-window', block, fraction, floor, alignment, output, addition: 'RNE' },
  };
}

it('agrees with the reference on custom datapaths', async () => {
  const kinds = new Map<string, number>();
  function* sets() {
    for (const [i, op] of [...arithmetics(), lateWindow()].entries())
      for (let draw = 0; draw < 6; draw++) {
        const custom = customOp(op, new CaseRandom(7, 0x637573, i * 64 + draw));
        if (custom === null) continue;
        kinds.set(custom.datapath.kind, (kinds.get(custom.datapath.kind) ?? 0) + 1);
        for (const campaign of campaignsFor(custom))
          yield generateCases(custom, campaign, { seed: draw, count: 4, k: custom.k * (1 + (draw % 2)) });
      }
  }
  const result = await runSuite(sets(), { engine, kernel: 'scalar', against: referenceEngine(), keep: 1 });
  const wrong = result.ops.flatMap((op) =>
    op.mismatches.map(
      (m) =>
        `${JSON.stringify(op.op.datapath)} ${op.op.a} ${op.op.b} ${op.op.k} ${m.inputs}: ${m.expected}, got ${m.got}`,
    ),
  );
  expect(wrong.slice(0, 5)).toEqual([]);
  expect(result.passed).toBeGreaterThan(5_000);
  expect(kinds.size).toBe(11);
});

it("gives the NaN word of the datapath on every kernel, not the device's", async () => {
  const kernels = new Map<string, MmaOp[]>();
  for (const op of arithmetics()) {
    if (op.datapath.kind === 'integer') continue;
    const nan = { fp16: 'fe01', fp32: '7fc00001', fp64: '7ff8000000000001' }[op.datapath.output.format];
    const other: MmaOp = { ...op, datapath: { ...op.datapath, output: { ...op.datapath.output, nan } } };
    const support = engine.supports(other);
    if (!support.ok) throw new Error(support.reason);
    for (const kernel of support.kernels)
      if (kernel !== 'scalar') kernels.set(kernel, [...(kernels.get(kernel) ?? []), other]);
  }
  for (const [kernel, ops] of kernels) {
    function* sets() {
      for (const op of ops)
        for (const name of ['raw-bit', 'specials']) {
          const campaign = campaignsFor(op).find((each) => each.name.startsWith(name));
          if (campaign) yield generateCases(op, campaign, { seed: 3, count: 24 });
        }
    }
    const result = await runSuite(sets(), { engine, kernel, against: referenceEngine(), keep: 1 });
    const wrong = result.ops.flatMap(({ op, mismatches }) =>
      mismatches.map((m) => `${op.device} ${op.instruction} ${m.inputs}: ${m.expected}, got ${m.got}`),
    );
    expect(wrong, kernel).toEqual([]);
    expect(result.passed, kernel).toBeGreaterThan(500);
  }
});
