import { describe, expect, test } from 'vitest';
import { findOp } from '../src/index.js';
import { type BlockTrace, referenceDot } from '../src/reference/index.js';

const op = findOp('b200', 'tcgen05.mma.sp.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.ue4m3');

/** Every active product 1 * 1 with unit scales, and the groups that the window formed. */
function groups(metadata: number): (readonly [number, number])[] {
  const traced: BlockTrace[] = [];
  const words = { k: 128, a: new Uint8Array(128).fill(2), b: new Uint8Array(128).fill(2) };
  const scales = { scaleA: new Uint8Array(4).fill(0x38), scaleB: new Uint8Array(4).fill(0x38) };
  referenceDot(op, { ...words, ...scales, sparse: Uint32Array.of(metadata, metadata) }, (b) =>
    traced.push(b),
  );
  const window = traced[0]!.stages.find((s) => s.stage === 'window');
  return window!.terms.map((t) => t.term as readonly [number, number]);
}

describe('sparse block-scaled groups are aligned logical positions', () => {
  // 9 keeps pairs 1 and 2 of each eight: positions 2..5, so that the first active position is not a multiple of 4.
  test.each([0x44444444, 0x99999999, 0xeeeeeeee, 0xcccccccc])('metadata %i', (metadata) => {
    for (const [first, last] of groups(metadata)) {
      expect(first % 4).toBe(0);
      expect(last).toBe(first + 3);
    }
  });
});
