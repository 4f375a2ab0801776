// choose on ten pinned problems: predictions against measured times, one line each. A pick is right where its measured
// time is at most 1.15 x the fastest engine's. Exit 1 below nine right, or where one constant answer would do as well.
import { findOp } from '@bitmma/core';
import { closePools } from 'bitmma/schedule';
import { choose } from '../dist/choose.js';

const fp8 = findOp('h100', 'wgmma.mma_async.m64n8k32.f32.e4m3.e4m3');
const fp16 = findOp('a100', 'mma.sync.m16n8k16.f32.f16.f16.f32');
const cdna3 = findOp('mi300x', 'v_mfma_f32_16x16x16_f16');
const i8 = findOp('b200', 'tcgen05.mma.kind::i8.s32.s8.s8');
const nvfp4 = findOp('b200', 'tcgen05.mma.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.ue4m3');
/** Hosts without a Rust build have these. */
const PORTABLE = ['wasm', 'reference'];

const PROBLEMS = [
  ['large FP8', fp8, 1024, 1024, 1024],
  ['large fp16', fp16, 512, 512, 1024],
  ['tall CDNA3', cdna3, 2048, 64, 256],
  ['deep integers', i8, 64, 64, 8192],
  ['NVFP4', nvfp4, 256, 256, 512],
  ['one FP8 dot', fp8, 1, 1, 32],
  ['one integer dot', i8, 1, 1, 32],
  ['FP8 without Rust', fp8, 256, 256, 256, PORTABLE],
  ['fp16 without Rust', fp16, 256, 256, 256, PORTABLE],
  ['one fp16 dot without Rust', fp16, 1, 1, 16, PORTABLE],
];

let right = 0;
const winners = new Map();
for (const [name, op, m, n, k, engines] of PROBLEMS) {
  const report = await choose(op, { m, n, k }, { measure: true, limit: 5, ...(engines && { engines }) });
  const good = report.off !== null && report.off <= 1.15;
  if (good) right++;
  winners.set(report.fastest, (winners.get(report.fastest) ?? 0) + 1);
  const rows = report.rows
    .map(
      (r) =>
        `${r.engine}/${r.threads} ${(r.predicted * 1e3).toPrecision(3)}|${r.measured === null ? '-' : (r.measured * 1e3).toPrecision(3)}`,
    )
    .join('  ');
  console.log(
    `${good ? 'right' : 'WRONG'}  ${name.padEnd(26)} pick ${report.pick}, fastest ${report.fastest}   predicted|measured ms: ${rows}`,
  );
}
await closePools();
const constant = Math.max(...winners.values());
console.log(`${right} of ${PROBLEMS.length} right; the best constant answer would be right in ${constant}`);
process.exitCode = right >= 9 && constant < right ? 0 : 1;
