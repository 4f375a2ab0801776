import { catalog, type Datapath, findOp, type MmaOp, opHash } from '@bitmma/core';
import { CaseRandom, sameWord, streamOf } from '@bitmma/core/conformance';
import { referenceEngine } from '@bitmma/core/reference';
import { describe, expect, it } from 'vitest';
import { normalForm, opWith, proveEqual, signatureOf } from '../src/index.js';
import { runCases } from '../src/infer/book.js';
import { AXES, withValue } from '../src/space/axes.js';
import { firstQuestions } from '../src/vectors/pool.js';
import { FAMILIES, judge } from './engines.js';

describe('normal form', () => {
  it('names the floor of a window as the exponent of c = 0, and drops it where it cannot bind', () => {
    const bf16 = findOp('h100', 'mma.sync.m16n8k16.f32.bf16.bf16.f32');
    const signature = signatureOf(bf16);
    if (bf16.datapath.kind !== 'fused-window') throw new Error('expected a fused window');
    expect(
      proveEqual(signature, bf16.datapath, { ...bf16.datapath, floor: null, zeroAddendExponent: -133 }),
    ).not.toBeNull();
    expect(proveEqual(signature, bf16.datapath, { ...bf16.datapath, floor: null })).toBeNull();
    const fp8 = findOp('h100', 'wgmma.mma_async.m64n8k32.f32.e4m3.e4m3');
    if (fp8.datapath.kind !== 'fused-window') throw new Error('expected a fused window');
    expect(proveEqual(signatureOf(fp8), fp8.datapath, { ...fp8.datapath, floor: null })).not.toBeNull();
  });

  it('shows that 32 bits of the sum of CDNA3 cannot be told from more, and can from 31', () => {
    const op = findOp('mi300x', 'v_mfma_f32_16x16x16_f16');
    if (op.datapath.kind !== 'cdna3-window') throw new Error('expected a CDNA3 window');
    const signature = signatureOf(op);
    expect(proveEqual(signature, op.datapath, { ...op.datapath, sumFraction: 40 })).not.toBeNull();
    expect(proveEqual(signature, op.datapath, { ...op.datapath, sumFraction: 31 })).toBeNull();
  });

  it('shows that c = 0 has no exponent of its own where products are too narrow to be cut', () => {
    const op = findOp('mi300x', 'v_mfma_f32_16x16x32_fp8_fp8');
    const at = (zeroAddendExponent: number) => ({ ...op.datapath, zeroAddendExponent }) as Datapath;
    // Products of e4m3fnuz are multiples of 2^-20, which 12 - 32 keeps and 13 - 32 does not.
    expect(proveEqual(signatureOf(op), op.datapath, at(12))).not.toBeNull();
    expect(proveEqual(signatureOf(op), op.datapath, at(13))).toBeNull();
  });

  it('counts the bits that a finer merge of two windows hands on', async () => {
    const fp8 = findOp('mi300x', 'v_mfma_f32_16x16x32_fp8_fp8');
    const at = (zeroAddendExponent: number): MmaOp => ({
      ...fp8,
      shape: { ...fp8.shape, k: 16 },
      a: 'bf16',
      b: 'bf16',
      k: 16,
      datapath: { ...fp8.datapath, mergeFraction: 30, zeroAddendExponent } as Datapath,
    });
    // Odd: eight of 2.25 * 2^-126. Even: half of the result's last place, and 2^-156, which decides the tie unless c = 0
    // at -125 leads and the cut after normalisation takes it.
    const a = Uint16Array.from({ length: 16 }, (_, k) => [0x1b00, 0x1880][k / 2] ?? (k % 2 ? 0x2040 : 0));
    const words: string[] = [];
    for (const op of [at(-126), at(-125)]) {
      const session = await referenceEngine().open(op);
      const d = new Uint32Array(1);
      for await (const _ of session.dots([{ a, b: a, c: new Uint32Array(1), d, count: 1, k: 16 }]));
      words.push(d[0]!.toString(16));
      await session.close();
    }
    expect(words).toEqual(['2900001', '2900000']);
    expect(proveEqual(signatureOf(at(-126)), at(-126).datapath, at(-125).datapath)).toBeNull();
  });

  it('gives the words of the datapath it replaces, over the vectors of every feature', async () => {
    const engine = await judge();
    for (const op of FAMILIES) {
      const signature = signatureOf(op);
      const { datapath } = op;
      if (datapath.kind === 'integer') throw new Error('expected a float family');
      const parts = firstQuestions(signature, { drawn: 300, perCampaign: 8, perGroup: 160 });
      for (let i = 0; i < 24; i++) {
        // Two axes moved at random, then the canonical form of the result.
        const random = new CaseRandom(3, streamOf(datapath.kind), i);
        let moved = datapath;
        for (let n = 0; n < 2; n++) {
          const axis = random.pick(AXES[datapath.kind]);
          const domain = axis.domain(signature);
          if (domain.length > 0) moved = withValue(moved, axis.name, random.pick(domain));
        }
        const { datapath: canonical, rewrites } = normalForm(signature, moved);
        if (rewrites.length === 0) continue;
        const [x, y] = [opWith(signature, moved), opWith(signature, canonical)];
        const [left, right] = [await engine.open(x), await engine.open(y)];
        for (const { set, note } of parts) {
          const got = await runCases(left, { ...set, op: x });
          const want = await runCases(right, { ...set, op: y });
          for (let at = 0; at < set.count; at++)
            if (!sameWord(op.d, got, at, want, at))
              expect.fail(
                `${JSON.stringify(moved)}: ${rewrites.map((r) => r.reason).join('; ')}: ${note(at)}`,
              );
        }
        await left.close();
        await right.close();
      }
    }
  });

  it('is itself canonical, for every arithmetic of the catalog', () => {
    const seen = new Set<string>();
    for (const op of catalog()) {
      if (seen.has(opHash(op))) continue;
      seen.add(opHash(op));
      const once = normalForm(signatureOf(op), op.datapath).datapath;
      expect(normalForm(signatureOf(op), once).datapath).toEqual(once);
    }
  });
});
