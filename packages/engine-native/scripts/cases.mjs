// Writes crates/kernel/src/tests/cases.jsonl: ops, words of generated cases, and the reference's results. The crate's
// own tests read it, so that they need neither Node nor recordings. `--check` compares instead of writing.
import { readFileSync, writeFileSync } from 'node:fs';
import { findOp } from '@bitmma/core';
import { batchOf, campaignsFor, formatWords, generateCases, runBatch } from '@bitmma/core/conformance';
import { referenceEngine } from '@bitmma/core/reference';

const file = new URL('../crates/kernel/src/tests/cases.jsonl', import.meta.url);

const OPS = [
  ['h100', 'wgmma.mma_async.m64n8k32.f32.e4m3.e5m2'],
  ['h100', 'mma.sync.m16n8k16.f32.bf16.bf16.f32'],
  ['a100', 'mma.sync.m16n8k16.f16.f16.f16.f16'],
  ['v100', 'mma.sync.m8n8k4.f32.f16.f16.f16'],
  ['b200', 'mma.sync.m16n8k32.f16.e4m3.e5m2.f16'],
  ['b200', 'tcgen05.mma.sp.kind::tf32.f32.tf32.tf32'],
  ['b200', 'tcgen05.mma.sp.kind::f16.f32.f16.f16'],
  ['b200', 'tcgen05.mma.kind::mxf8f6f4.block_scale.f32.e5m2.e2m3.ue8m0'],
  ['b200', 'tcgen05.mma.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.ue4m3'],
  ['b200', 'tcgen05.mma.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.ue8m0'],
  ['b200', 'tcgen05.mma.kind::i8.s32.u8.s8.satfinite'],
  ['mi100', 'v_mfma_f32_32x32x4bf16'],
  ['mi250x', 'v_mfma_f32_16x16x16bf16_1k'],
  ['mi250x', 'v_mfma_f64_16x16x4f64'],
  ['mi300x', 'v_mfma_f32_16x16x16_bf16'],
  ['mi300x', 'v_mfma_f32_16x16x32_bf8_fp8'],
].map(([device, instruction]) => findOp(device, instruction));

/** Cases that one rule alone decides: those on which the op and the op without the rule differ. */
const WITNESSES = [
  ['mi300x', 'bf16', { normalFraction: null }],
  ['mi300x', 'bf8_fp8', { addendReach: null }],
  ['b200', 'scale_vec::4X', { scaleFraction: 60 }],
];

/** Operands of [device, part of the instruction] by position, the rest of the words zero. */
const BY_HAND = [
  // 255 * 2^-157 and 15 times 2^-160: with the floor -133 the small ones are cut and the sum stays below 2^-149.
  ['h100', 'bf16.bf16', { a: [0x1a70, ...Array(15).fill(0x1780)], b: [0x1a08, ...Array(15).fill(0x1780)] }],
  // -2^-155 rounds to +0.
  ['h100', 'bf16.bf16', { a: [0x9880], b: [0x1900] }],
  // 2^-150 + 2^-160 with c = 0, whose exponent -126 cuts the sum to 2^-158: a tie, to even.
  ['mi300x', 'bf16', { a: [0x1a00, 0x1780], b: [0x1a00, 0x1780] }],
  // 36 + 8 - 2^-34, the last group below c: cut to 2^(3 - 35) it vanishes.
  [
    'b200',
    'scale_vec::2X',
    { a: { 0: 7, 32: 2 }, b: { 0: 7, 32: 0xa }, c: [0x41000000], scaleA: [0x7f, 0x5d], scaleB: [0x7f, 0x7f] },
  ],
  // 36 - 2^-36 - 2^-36 in quanta of 2^-35: the small ones count together.
  [
    'b200',
    'scale_vec::2X',
    { a: { 0: 7, 32: 2, 33: 2 }, b: { 0: 7, 32: 0xa, 33: 0xa }, scaleA: [0x7f, 0x5b], scaleB: [0x7f, 0x7f] },
  ],
  // 2^-148 - 2^-180: subnormal, so that the smaller group is left out.
  [
    'b200',
    'scale_vec::2X',
    { a: { 0: 2, 32: 2 }, b: { 0: 2, 32: 0xa }, scaleA: [0, 0], scaleB: [0x6a, 0x4a] },
  ],
  // A zero times 2^127 raises no window: 2^-30 stays.
  ['h100', 'bf16.bf16', { a: [0, 0x3f80], b: [0x7f00, 0x3080] }],
  // Inf times zero.
  ['h100', 'bf16.bf16', { a: [0x7f80, 0x3f80], b: [0, 0x3f80] }],
  // (1 + 0) + (2^-24 + 2^-24) is above 1, ((1 + 0) + 2^-24) + 2^-24 is 1.
  ['mi250x', 'bf16_1k', { a: [0x3f80, 0, 0x3380, 0x3380], b: [0x3f80, 0x3f80, 0x3f80, 0x3f80] }],
  // A NaN scale over zero products alone.
  ['b200', 'scale_vec::2X', { a: [2], b: [2], scaleA: [0x7f, 0xff], scaleB: [0x7f, 0x7f] }],
  // Sums beyond both ends of s32.
  ['b200', 'satfinite', { a: [255, 255], b: [127, 127], c: [0x7fffffff] }],
  ['b200', 'satfinite', { a: [255, 255], b: [128, 128], c: [0x80000000] }],
];

const session = (op) => referenceEngine().open(op);

/** Cases of a set as the file has them: [a, b, c, scaleA, scaleB, sparse, d], words in hex without spaces. */
async function rows(op, set, indices) {
  const d = await runBatch(await session(op), batchOf(set));
  const part = (format, words, i) => {
    if (words === undefined) return '';
    const each = words.length / set.count / wide(format);
    return formatWords(format, words, i * each, each).replaceAll(' ', '');
  };
  return indices(d).map((i) => [
    part(op.a, set.a, i),
    part(op.b, set.b, i),
    part(op.c, set.c, i),
    part('ue8m0', set.scaleA, i),
    part('ue8m0', set.scaleB, i),
    part('s32', set.sparse, i),
    part(op.d, d, i),
  ]);
}

async function witnesses(op, bent) {
  const { output, ...rest } = bent;
  const datapath = {
    ...op.datapath,
    ...rest,
    ...(output && { output: { ...op.datapath.output, ...output } }),
  };
  const other = await session({ ...op, datapath });
  const found = [];
  for (let start = 0; found.length < 3 && start < 6000; start += 300)
    for (const campaign of campaignsFor(op)) {
      if (found.length >= 3) break;
      const set = generateCases(op, campaign, { seed: 6, start, count: 300 });
      const without = await runBatch(other, batchOf(set));
      found.push(
        ...(await rows(op, set, (d) => [...d.keys()].filter((i) => d[i] !== without[i]).slice(0, 1))),
      );
    }
  if (found.length === 0) process.stdout.write(`no witness: ${op.instruction} ${JSON.stringify(bent)}\n`);
  return found;
}

async function byHand(op, given) {
  const set = { ...generateCases(op, campaignsFor(op)[0], { seed: 0, count: 1 }) };
  for (const name of ['a', 'b', 'c', 'scaleA', 'scaleB'])
    if (set[name] !== undefined) {
      set[name] = set[name].slice().fill(0);
      for (const [position, word] of Object.entries(given[name] ?? {})) set[name][position] = word;
    }
  return rows(op, set, () => [0]);
}

/** One line an op; of the generated cases every second four chain two instructions. */
async function line(op) {
  const cases = [];
  for (const campaign of campaignsFor(op))
    for (const chain of [1, 2]) {
      const set = generateCases(op, campaign, { seed: 5, count: 4, k: op.k * chain });
      cases.push(...(await rows(op, set, () => [0, 1, 2, 3])));
    }
  const here = ([device, part]) => op.device === device && op.instruction.includes(part);
  for (const entry of WITNESSES.filter(here)) cases.push(...(await witnesses(op, entry[2])));
  for (const entry of BY_HAND.filter(here)) cases.push(...(await byHand(op, entry[2])));
  return JSON.stringify({ op, cases });
}

const wide = (format) => (format === 'fp64' ? 2 : 1);

const lines = [];
for (const op of OPS) lines.push(await line(op));
const text = `${lines.join('\n')}\n`;
if (!process.argv.includes('--check')) writeFileSync(file, text);
else if (readFileSync(file, 'utf8') !== text) {
  process.stderr.write('cases.jsonl differs from what the reference computes; run node scripts/cases.mjs\n');
  process.exitCode = 1;
}
