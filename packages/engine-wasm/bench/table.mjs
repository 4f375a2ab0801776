// The speed table: one thread, load (packing) included, against single-threaded OpenBLAS sgemm interleaved in the same
// process. `node bench/table.mjs [--rounds 5] [--cpu] [--only text] [--native] [--json]`; --cpu counts the process's CPU
// time instead of the clock's, for machines that others use; --native measures engine-native's scalar kernel beside each.
import { parseArgs } from 'node:util';
import { FORMATS, findOp } from '@bitmma/core';
import { campaignOf, generateCases } from '@bitmma/core/conformance';
import { wasmEngine } from '../dist/index.js';
import { openblas } from './openblas.mjs';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    cpu: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    native: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

/** device, instruction, name, n and the bar on the ratio. */
const ROWS = [
  ['h100', 'wgmma.mma_async.m64n8k32.f32.e4m3.e4m3', 'Hopper FP8 wgmma', 1024, 0.055],
  ['l40s', 'mma.sync.m16n8k32.f32.e4m3.e4m3.f32', 'Ada FP8', 1024],
  ['h100', 'mma.sync.m16n8k16.f32.f16.f16.f32', 'Hopper/Blackwell fp16', 1024, 0.028],
  ['h100', 'mma.sync.m16n8k16.f32.bf16.bf16.f32', 'Hopper/Blackwell bf16', 1024, 0.028],
  ['h100', 'mma.sync.m16n8k16.f16.f16.f16.f16', 'Hopper/Blackwell fp16, fp16 out', 1024],
  ['h100', 'mma.sync.m16n8k8.f32.tf32.tf32.f32', 'Hopper/Blackwell tf32', 1024],
  ['a100', 'mma.sync.m16n8k16.f32.f16.f16.f32', 'Ampere/Ada fp16', 1024],
  ['a100', 'mma.sync.m16n8k8.f32.tf32.tf32.f32', 'Ampere/Ada tf32', 1024],
  ['v100', 'mma.sync.m8n8k4.f32.f16.f16.f32', 'V100 fp16', 1024],
  ['b200', 'tcgen05.mma.kind::f8f6f4.f32.e4m3.e4m3', 'tcgen05 FP8', 1024],
  ['b200', 'tcgen05.mma.kind::f8f6f4.f32.e2m1.e2m1', 'tcgen05 FP4', 1024],
  ['b200', 'tcgen05.mma.kind::f16.f32.bf16.bf16', 'tcgen05 bf16', 1024],
  ['mi300x', 'v_mfma_f32_16x16x16_f16', 'CDNA3 fp16', 1024, 0.015],
  ['mi300x', 'v_mfma_f32_16x16x16_bf16', 'CDNA3 bf16', 1024, 0.015],
  ['mi300x', 'v_mfma_f32_16x16x8_xf32', 'CDNA3 xf32', 1024, 0.015],
  ['mi300x', 'v_mfma_f32_16x16x32_fp8_fp8', 'CDNA3 FP8', 256],
  ['h100', 'mma.sync.m16n8k32.f32.e4m3.e4m3.f32', 'FP8 mma.sync split', 256],
  ['mi250x', 'v_mfma_f32_16x16x16f16', 'CDNA2 fp16', 256],
  ['mi100', 'v_mfma_f32_16x16x16f16', 'CDNA1 fp16', 256],
  ['b200', 'tcgen05.mma.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.ue8m0', 'tcgen05 MXF8', 256],
  ['b200', 'tcgen05.mma.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.ue8m0', 'tcgen05 MXF4', 256],
  ['b200', 'tcgen05.mma.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.ue4m3', 'tcgen05 NVFP4', 256],
  ['b200', 'tcgen05.mma.kind::i8.s32.s8.s8', 'i8', 512],
  ['mi300x', 'v_mfma_f32_32x32x2_f32', 'fp32 FMA', 256],
  ['mi300x', 'v_mfma_f64_16x16x4_f64', 'fp64 FMA', 256],
];

const seconds = () => {
  if (!options.cpu) return performance.now() / 1000;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

async function timed(run) {
  const start = seconds();
  await run();
  return seconds() - start;
}

const median = (xs) => [...xs].sort((x, y) => x - y)[xs.length >> 1];

/** n x n operands, casts of standard normal numbers. */
function operands(op, n) {
  const k = Math.ceil(n / op.k) * op.k;
  const campaign = op.datapath.kind === 'integer' ? 'raw-bit' : 'normal';
  const set = generateCases(op, campaignOf(campaign), { seed: 1, count: n, k });
  const scales = op.scaling ? k / op.scaling.block : 0;
  const a = { format: op.a, words: set.a, offset: 0, rowStride: k, colStride: 1 };
  const b = { format: op.b, words: set.b, offset: 0, rowStride: 1, colStride: k };
  const scale = (words, row, col) => ({
    format: op.scaling.format,
    words,
    offset: 0,
    rowStride: row,
    colStride: col,
  });
  return {
    ...{ m: n, n, k, a, b },
    ...(op.scaling && { scaleA: scale(set.scaleA, scales, 1), scaleB: scale(set.scaleB, 1, scales) }),
  };
}

const blas = openblas();
const size = 1024;
const x = new Float32Array(size * size).fill(1);
const y = x.slice();
const z = x.slice();
const sgemm = () => {
  for (let i = 0; i < 3; i++) blas.sgemm(size, x, y, z);
};
const engine = await wasmEngine();
// By path: the package itself does not depend on another engine.
const native = options.native
  ? await (await import('../../engine-native/dist/index.js')).nativeEngine()
  : null;

/** Rows and columns of a tile: the scalar kernels' speed does not depend on it. */
const sideOf = (kernel, n) => (kernel === 'simd' ? n : Math.min(n, 256));

/** What one kernel runs: `run` loads, computes a side x side tile and releases. */
async function contender(from, kernel, op, inputs) {
  const session = await from.open(op, { kernel });
  const { n, k } = inputs;
  const side = sideOf(kernel, n);
  const { wordBits } = FORMATS[op.d];
  const words = new (wordBits === 16 ? Uint16Array : Uint32Array)((n * n * Math.max(wordBits, 32)) / 32);
  const d = { format: op.d, words, offset: 0, rowStride: n, colStride: 1 };
  const run = async () => {
    const loaded = await session.load(inputs);
    await session.tile(loaded, { m0: 0, m1: side, n0: 0, n1: side, chain: [{ k0: 0, k1: k }], d });
    loaded.release();
  };
  await run();
  const name = from === engine ? kernel : `native ${kernel}`;
  return { name, side, run, macs: side * side * k, session, speeds: [], ratios: [], shares: [] };
}

const results = [];
const print = (...cells) => options.json || console.log(`| ${cells.join(' | ')} |`);
if (!options.json)
  console.log(
    `OpenBLAS ${blas.corename}, ${options.cpu ? 'CPU' : 'wall'} time, medians of ${options.rounds}`,
  );
const heads = ['op', 'kernel', 'n', 'GMAC/s', 'ratio', 'bar', ...(native ? ['of native scalar'] : [])];
print(...heads);
print(...heads.map(() => '---'));
for (const [device, instruction, name, n, bar] of ROWS) {
  if (!`${name} ${device} ${instruction}`.includes(options.only)) continue;
  const op = findOp(device, instruction);
  const inputs = operands(op, n);
  const all = [];
  for (const kernel of engine.supports(op).kernels) all.push(await contender(engine, kernel, op, inputs));
  if (native) all.push(await contender(native, 'scalar', op, inputs));
  for (let round = 0; round < Number(options.rounds); round++) {
    const blasSpeed = (3 * size ** 3) / (await timed(sgemm));
    for (const one of all) {
      const speed = one.macs / (await timed(one.run));
      one.speeds.push(speed / 1e9);
      one.ratios.push(speed / blasSpeed);
    }
    for (const one of all) one.shares.push(one.speeds[round] / all.at(-1).speeds[round]);
  }
  for (const { name: kernel, side, speeds, ratios, shares, session } of all) {
    const result = { op: name, kernel, n: side, gmacs: median(speeds), ratio: median(ratios), bar };
    const share = native ? { ofNative: median(shares) } : {};
    results.push({ ...result, ...share, rarePaths: session.report().rarePaths });
    const shown = native ? [share.ofNative.toFixed(2)] : [];
    print(name, kernel, side, result.gmacs.toFixed(3), result.ratio.toFixed(4), bar ?? '', ...shown);
  }
}
if (options.json) console.log(JSON.stringify(results));
