import { catalog, type DatapathKind, FORMATS, findOp, type MmaOp } from '@bitmma/core';
import { batchOf, campaignsFor, generateCases } from '@bitmma/core/conformance';
import { decode, readWord, wordToHex } from '@bitmma/core/formats';
import { addExact, referenceDot } from '@bitmma/core/reference';
import { describe, expect, it } from 'vitest';
import type { DotCase } from '../../src/dot/dot.js';
import { explain, explanationJson } from '../../src/explain/explain.js';
import { explanationHtml } from '../../src/explain/html.js';
import { explanationSvg } from '../../src/explain/svg.js';
import { explanationText } from '../../src/explain/text.js';
import { findParting, versusText } from '../../src/explain/versus.js';

/** One op of every datapath kind, sparse and scaled ones among them. */
const KINDS = [
  ...new Map(catalog().map((op) => [`${op.datapath.kind} ${op.sparsity ?? 'dense'}`, op])).entries(),
];

/** Cases of every campaign that the op can run, over two instructions. */
function casesOf(op: MmaOp, count: number): DotCase[] {
  return campaignsFor(op).flatMap((campaign) => {
    const set = generateCases(op, campaign, { seed: 11, count, k: 2 * op.k });
    const { a, b, c, d, scaleA, scaleB, sparse, k } = batchOf(set);
    return Array.from({ length: count }, (_, i) => {
      const part = <T extends { length: number; subarray(from: number, to: number): T }>(words: T): T =>
        words.subarray((i * words.length) / count, ((i + 1) * words.length) / count);
      return {
        op,
        row: 0,
        col: 0,
        batch: 0,
        casts: [],
        words: {
          count: 1,
          k,
          a: part(a as Uint8Array),
          b: part(b as Uint8Array),
          ...(c !== undefined && { c: part(c as Uint8Array) }),
          ...(scaleA !== undefined && { scaleA: part(scaleA) }),
          ...(scaleB !== undefined && { scaleB: part(scaleB) }),
          ...(sparse !== undefined && { sparse: part(sparse) }),
          d: part(d as Uint8Array),
        },
      };
    });
  });
}

describe.each(KINDS)('%s', (_, op) => {
  it('gives the word of the reference and draws every campaign', () => {
    for (const element of casesOf(op, 3)) {
      const explanation = explain(element);
      expect(explanation.d).toBe(wordToHex(referenceDot(op, element.words), FORMATS[op.d].wordBits));
      if (op.sparsity === null) {
        expect(explanation.blocks[0]!.k0).toBe(0);
        expect(explanation.blocks.at(-1)!.k1).toBe(element.words.k);
      }
      const shown = [explanationText(explanation), explanationSvg(explanation), explanationHtml(explanation)];
      for (const text of shown) expect(text).not.toMatch(/undefined|\[object|="(NaN|-?Infinity)"/);
      expect(() => JSON.stringify(explanationJson(explanation))).not.toThrow();
      expect(shown[1]).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"[\s\S]*<\/svg>\n$/);
    }
  });
});

/** Kinds whose windows hold every term of the sum: what goes in is what comes out plus what was dropped. */
const WHOLE: readonly DatapathKind[] = ['fused-window', 'scaled-window', 'scaled-groups'];

it.each(KINDS.filter(([, op]) => WHOLE.includes(op.datapath.kind)))(
  '%s: nothing is lost but what is shown',
  (_, op) => {
    let checked = 0;
    for (const element of casesOf(op, 6)) {
      const { blocks, losses } = explain(element);
      for (const [i, { stages, d }] of blocks.entries()) {
        const window = stages.find((stage) => stage.stage === 'window');
        const result = decode(FORMATS[op.d], d);
        if (window === undefined || result.kind !== 'finite' || stages.some(({ stage }) => stage === 'sum'))
          continue;
        const terms = window.terms.map(({ value }) => value).reduce(addExact, { signed: 0n, lsb: 0 });
        const kept = addExact({ signed: BigInt(result.signed), lsb: result.lsb }, losses[i]!.dropped);
        expect(addExact(terms, { signed: -kept.signed, lsb: kept.lsb }).signed).toBe(0n);
        checked++;
      }
    }
    expect(checked).toBeGreaterThan(10);
  },
);

describe('where two devices part', () => {
  const element = (op: MmaOp, values: readonly number[], weights: readonly number[]): DotCase => ({
    op,
    row: 0,
    col: 0,
    batch: 0,
    casts: [],
    words: {
      count: 1,
      k: values.length,
      a: Uint16Array.from(values),
      b: Uint16Array.from(weights),
      d: new Uint32Array(1),
    },
  });
  const h100 = findOp('h100', 'wgmma.mma_async.m64n8k16.f32.f16.f16');
  const mi300 = findOp('mi300x', 'v_mfma_f32_16x16x16_f16');

  it('names the block, at a boundary that both have', () => {
    // 2^24, 1.75, -2^24 in the second block of 16: window of 25 bits keeps 1.5, CDNA3's of 24 keeps 1.
    const a = [
      ...new Array<number>(16).fill(0x3c00),
      0x7800,
      0x3f00,
      0xf800,
      ...new Array<number>(13).fill(0),
    ];
    const b = [
      ...new Array<number>(16).fill(0x3c00),
      0x6000,
      0x3c00,
      0x6000,
      ...new Array<number>(13).fill(0),
    ];
    const [left, right] = [explain(element(h100, a, b)), explain(element(mi300, a, b))];
    expect(findParting(left, right)).toEqual({ from: 16, to: 32, left: [1], right: [2, 3] });
    expect(versusText(left, right)).toContain('Equal up to k = 16');
  });

  it('says so where they agree', () => {
    const ones = new Array<number>(32).fill(0x3c00);
    const [left, right] = [explain(element(h100, ones, ones)), explain(element(mi300, ones, ones))];
    expect(findParting(left, right)).toBeNull();
    expect(versusText(left, right)).toContain('equal at every block boundary');
    expect(readWord(Uint32Array.of(Number.parseInt(left.d, 16)), 0, 32)).toBe(0x42000000);
  });
});
