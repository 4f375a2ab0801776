// Block steps that fp32 scaling does not hold, one output at a time on the integer path.
import { cdna3Step } from '../datapath/cdna3-window';
import { fusedStep } from '../datapath/fused-window';
import * as addend from '../number/addend';
import { INFINITE, NOT_A_NUMBER, ZERO } from '../number/element';
import { setScan } from '../number/special';
import { productBits, productOverflow, setProductBits, zeroAddendExponent } from '../params';
import { countRangeStep, lanes } from './params';
import { CARRIED } from './scratch';

/** Sums below 2^(E + 7) stay finite, and so do products of exponent E. */
export const HIGHEST_EXPONENT: i32 = 120;

/** An fp32 value's fraction bits: the elements here are fp32 numbers whatever format they came from. */
const VALUE_BITS: i32 = 23;
/** Terms of a block: the host admits at most these (src/simd-plan.ts). */
const ROW: usize = memory.data(512);
const COLUMN: usize = memory.data(512);

/** An fp32 value as a packed element; bf16 and tf32 have fp32's encoded exponents. */
function unpack(word: u32, at: usize): void {
  const m = word & 0x7fffff;
  const x = (word >> 23) & 0xff;
  store<u32>(at, (word & 0x80000000) | (x !== 0 ? m | 0x800000 : m));
  const e = x === 255 ? (m === 0 ? INFINITE : NOT_A_NUMBER) : x !== 0 ? <i32>x - 127 : m === 0 ? ZERO : -126;
  store<i32>(at, e, 4);
}

/** Replaces c's lanes of the mask by the step from CARRIED. */
export function slowSteps(mask: i32, a: usize, b: usize, n: i32, c: usize, cdna3: bool = false): void {
  mask &= lanes;
  if (mask === 0) return;
  const bits = productBits;
  setProductBits(2 * VALUE_BITS);
  setScan(false);
  for (let i = 0; i < n; i++) unpack(load<u32>(a + (<usize>i << 2)), ROW + (<usize>i << 3));
  for (let lane = 0; lane < 16; lane++) {
    if (((mask >> lane) & 1) === 0) continue;
    const at = <usize>lane << 2;
    for (let i = 0; i < n; i++) unpack(load<u32>(b + (<usize>i << 6) + at), COLUMN + (<usize>i << 3));
    addend.take(load<u32>(CARRIED + at));
    const d = cdna3 ? cdna3Step(ROW, COLUMN, n) : fusedStep(ROW, COLUMN, n, zeroAddendExponent, productOverflow);
    store<u32>(c + at, <u32>d);
    countRangeStep();
  }
  setProductBits(bits);
}
