// Two fixed matrices, their product on one matrix instruction, and the SHA-256 of its words: the same code in Node and in
// a browser.
import { findOp } from '@bitmma/core';
import { campaignOf, generateCases } from '@bitmma/core/conformance';
import { wasmEngine } from '@bitmma/engine-wasm';

export const SIZE = 256;
export const INSTRUCTIONS = [
  ['h100', 'wgmma.mma_async.m64n8k32.f32.e4m3.e4m3'],
  ['l40s', 'mma.sync.m16n8k32.f32.e4m3.e4m3.f32'],
  ['b200', 'tcgen05.mma.kind::f8f6f4.f32.e4m3.e4m3'],
  ['h100', 'mma.sync.m16n8k16.f32.f16.f16.f32'],
  ['mi300x', 'v_mfma_f32_16x16x16_bf16'],
];

/** Hex SHA-256 of a typed array's bytes. */
async function sha256(words) {
  const digest = await crypto.subtle.digest('SHA-256', new Uint8Array(words.buffer, 0, words.byteLength));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Rows of A and columns of B are casts of standard normal numbers from a fixed seed. */
export async function product(device, instruction) {
  const op = findOp(device, instruction);
  const n = SIZE;
  const { a, b } = generateCases(op, campaignOf('normal'), { seed: 2026, count: n, k: n });
  const session = await (await wasmEngine()).open(op);
  const start = performance.now();
  const loaded = await session.load({
    ...{ m: n, n, k: n },
    a: { format: op.a, words: a, offset: 0, rowStride: n, colStride: 1 },
    b: { format: op.b, words: b, offset: 0, rowStride: 1, colStride: n },
  });
  const d = { format: op.d, words: new Uint32Array(n * n), offset: 0, rowStride: n, colStride: 1 };
  await session.tile(loaded, { m0: 0, m1: n, n0: 0, n1: n, chain: [{ k0: 0, k1: n }], d });
  const milliseconds = performance.now() - start;
  return { kernel: session.kernel, milliseconds, words: d.words, sha256: await sha256(d.words) };
}
