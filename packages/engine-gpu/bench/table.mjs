// Speed of both engines on this machine: pnpm bench [n]. n x n x n per op, best of three after a warm-up, upload and
// readback included; cells are compared with the reference before anything is timed.
import { allocateWords, FORMATS, findOp } from '@bitmma/core';
import { referenceEngine } from '@bitmma/core/reference';
import { webglEngine, webgpuEngine } from '../dist/index.js';

const OPS = [
  ['h100', 'wgmma.mma_async.m64n8k32.f32.e4m3.e4m3'],
  ['h100', 'mma.sync.m16n8k16.f32.f16.f16.f32'],
  ['a100', 'mma.sync.m16n8k16.f32.bf16.bf16.f32'],
  ['a100', 'mma.sync.m16n8k8.f32.tf32.tf32.f32'],
  ['mi300x', 'v_mfma_f32_16x16x16_f16'],
  ['mi300x', 'v_mfma_f32_16x16x32_fp8_fp8'],
  ['b200', 'tcgen05.mma.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.ue8m0'],
  ['b200', 'tcgen05.mma.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.ue4m3'],
  ['a100', 'mma.sync.m16n8k32.s32.s8.s8.s32'],
  ['mi210', 'v_mfma_f32_16x16x16f16'],
];

const words = (format, count, seed) => {
  let state = seed;
  const out = allocateWords(FORMATS[format].wordBits, count);
  const { kind, wordBits, fractionBits = 0, bias = 0 } = FORMATS[format];
  for (let i = 0; i < count; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    // Floats of exponent -4 ... 3: sign and fraction random.
    out[i] =
      kind !== 'float' || wordBits === 8
        ? format === 'ue8m0'
          ? 120 + ((state >>> 4) % 14)
          : state & (format === 'e2m1' ? 15 : 0x77)
        : (state & (2 ** (wordBits - 1) + 2 ** (fractionBits + FORMATS[format].droppedBits) - 1)) |
          ((bias - 4 + ((state >>> 9) & 7)) << (fractionBits + FORMATS[format].droppedBits));
  }
  return out;
};

const dense = (format, rows, cols, seed) => ({
  format,
  words: words(format, rows * cols, seed),
  offset: 0,
  rowStride: cols,
  colStride: 1,
});

const inputsOf = (op, n) => {
  const blocks = op.scaling ? Math.ceil(n / op.scaling.block) : 0;
  return {
    m: n,
    n,
    k: n,
    a: dense(op.a, n, n, 1),
    b: dense(op.b, n, n, 2),
    ...(op.scaling && {
      scaleA: dense(op.scaling.format, n, blocks, 3),
      scaleB: dense(op.scaling.format, blocks, n, 4),
    }),
  };
};

async function run(session, op, inputs, corner) {
  const { n } = inputs;
  const d = {
    format: op.d,
    words: allocateWords(FORMATS[op.d].wordBits, n * n),
    offset: 0,
    rowStride: n,
    colStride: 1,
  };
  const loaded = await session.load(inputs);
  await session.tile(loaded, {
    m0: 0,
    m1: corner ?? n,
    n0: 0,
    n1: corner ?? n,
    chain: [{ k0: 0, k1: n }],
    d,
  });
  await session.settle();
  loaded.release();
  return d.words;
}

async function seconds(engine, op, n) {
  const inputs = inputsOf(op, n);
  const session = await engine.open(op);
  const got = await run(session, op, inputs);
  const expected = await run(await referenceEngine().open(op), op, inputs, 3);
  for (let i = 0; i < 3; i++)
    for (let j = 0; j < 3; j++)
      if (got[i * n + j] !== expected[i * n + j])
        throw new Error(`${engine.id} ${op.instruction}: row ${i}, column ${j} differs`);
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round++) {
    const start = performance.now();
    await run(session, op, inputs);
    best = Math.min(best, (performance.now() - start) / 1000);
  }
  await session.close();
  return best;
}

const size = Number(process.argv[2] ?? 0);
process.stdout.write(`| engine | device | op | n | seconds | GMAC/s |\n|---|---|---|---|---|---|\n`);
for (const create of [webgpuEngine, webglEngine]) {
  let engine;
  try {
    engine = await create();
  } catch (error) {
    process.stdout.write(`${error.message}\n`);
    continue;
  }
  const name = engine.device ?? engine.mode;
  const n = size || (/swiftshader|llvmpipe|headlessgl/i.test(name) ? 256 : 4096);
  for (const [device, instruction] of OPS) {
    const op = findOp(device, instruction);
    const support = engine.supports(op);
    if (!support.ok) continue;
    const time = await seconds(engine, op, n);
    process.stdout.write(
      `| ${engine.id} | ${name} | ${device} ${instruction} | ${n} | ${time.toPrecision(3)} | ${(n ** 3 / time / 1e9).toPrecision(3)} |\n`,
    );
  }
  await engine.close();
}
process.exit(0);
