import { catalog, findOp, opHash } from '@bitmma/core';
import { CaseRandom, sameWord, streamOf } from '@bitmma/core/conformance';
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
