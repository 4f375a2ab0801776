import { findOp, type Sparsity } from '@bitmma/core';
import { activePositions } from '@bitmma/core/reference';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toDoubles } from '../../src/numbers/value.js';
import { prune } from '../../src/quantize/prune.js';

const OPS: Record<Sparsity, string> = {
  '2:4': 'tcgen05.mma.sp.kind::f16.f32.f16.f16',
  '1:2': 'tcgen05.mma.sp.kind::tf32.f32.tf32.tf32',
  '4:8-pairs': 'tcgen05.mma.sp.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.ue8m0',
};

const pruneBytes = (bytes: readonly number[], pattern: Sparsity, rows = 1) => {
  const words = Uint8Array.from(bytes);
  return prune(words, toDoubles(words, 'e4m3'), rows, words.length / rows, pattern);
};

it('2:4 keeps the two largest magnitudes, the earlier on a tie, NaN first', () => {
  // 1, -2, 0.5, 1 | 0, 0, 0, 0 | 1, NaN, -448, 2 in e4m3.
  const found = pruneBytes([0x38, 0xc0, 0x30, 0x38, 0, 0, 0, 0, 0x38, 0x7f, 0xfe, 0x40], '2:4');
  expect([...found.words]).toEqual([0x38, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0x7f, 0xfe, 0]);
  expect([...found.compressed]).toEqual([0x38, 0xc0, 0, 0, 0x7f, 0xfe]);
  // Positions (0, 1), (0, 1), (1, 2), then legal selectors to the word's end.
  expect(found.meta[0]!.toString(16)).toBe('44444944');
});

it('1:2 keeps the larger of two, 4:8-pairs the two pairs of largest sum', () => {
  expect(pruneBytes([0x30, 0x38, 0x40, 0x38], '1:2').meta[0]!.toString(16)).toBe('4444444e');
  const pairs = pruneBytes([0x38, 0x38, 0x40, 0x40, 0x30, 0x30, 0x48, 0x00], '4:8-pairs');
  expect([...pairs.compressed]).toEqual([0x40, 0x40, 0x48, 0x00]);
  expect(pairs.meta[0]!.toString(16)).toBe('4444444d');
});

it.each(Object.keys(OPS) as Sparsity[])(
  '%s metadata is what the instruction reads, row by row',
  (pattern) => {
    const op = findOp('b200', OPS[pattern]);
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 48, maxLength: 48 }), (bytes) => {
        const { words, compressed, meta, metaColumns } = pruneBytes([...bytes], pattern, 3);
        let at = 0;
        for (let row = 0; row < 3; row++) {
          const active = activePositions(op, meta.subarray(row * metaColumns), 16, `row ${row}`);
          expect(active.reduce((sum, flag) => sum + flag, 0)).toBe(8);
          for (let p = 0; p < 16; p++) {
            expect(words[row * 16 + p]).toBe(active[p] === 1 ? bytes[row * 16 + p] : 0);
            if (active[p] === 1) expect(compressed[at++]).toBe(bytes[row * 16 + p]);
          }
        }
      }),
    );
  },
);
