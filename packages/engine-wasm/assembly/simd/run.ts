import { rowCdna3OddEven } from './cdna3-odd-even';
import { rowCdna3, rowCdna3Shorts } from './cdna3-window';
import { rowInteger } from './integer';
import { rowLate } from './late-window';
import { rowPairwise } from './pairwise';
import { setLanes } from './params';
import { rowFma } from './sequential-fma';
import { rowF32 } from './window-f32';
import { rowI32, rowI32Shorts } from './window-i32';

// Kernels, as the host numbers them (src/simd-plan.ts).
const F32: i32 = 0;
const I32: i32 = 1;
const I32_SHORTS: i32 = 2;
const CDNA3: i32 = 3;
const CDNA3_SHORTS: i32 = 4;
const LATE: i32 = 5;
const INTEGER: i32 = 6;
const PAIRWISE: i32 = 7;
const FMA: i32 = 8;
const CDNA3_ODD_EVEN: i32 = 9;

// @ts-ignore: decorator
@inline
function row(kernel: i32, a: usize, aCodes: usize, b: usize, bCodes: usize, k: i32, c: usize): void {
  switch (kernel) {
    case F32:
      rowF32(a, aCodes, b, bCodes, k, c);
      break;
    case I32:
      rowI32(a, aCodes, b, bCodes, k, c);
      break;
    case I32_SHORTS:
      rowI32Shorts(a, aCodes, b, bCodes, k, c);
      break;
    case CDNA3:
      rowCdna3(a, aCodes, b, bCodes, k, c);
      break;
    case CDNA3_SHORTS:
      rowCdna3Shorts(a, aCodes, b, bCodes, k, c);
      break;
    case LATE:
      rowLate(a, aCodes, b, bCodes, k, c);
      break;
    case INTEGER:
      rowInteger(a, b, k, c);
      break;
    case PAIRWISE:
      rowPairwise(a, b, k, c);
      break;
    case FMA:
      rowFma(a, b, k, c);
      break;
    case CDNA3_ODD_EVEN:
      rowCdna3OddEven(a, aCodes, b, bCodes, k, c);
      break;
    default:
      unreachable();
  }
}

/**
 * One stretch of k positions of every output's chain. Rows are `positions` values and codes apart, panels 16 times that;
 * c: fp32 words, `cStride` bytes a row, 16 for each panel.
 */
export function runPanels(
  kernel: i32,
  codeBytes: i32,
  rows: i32,
  columns: i32,
  k: i32,
  positions: i32,
  a: usize,
  aCodes: usize,
  b: usize,
  bCodes: usize,
  c: usize,
  cStride: i32,
): void {
  const codes = positions * codeBytes;
  for (let j = 0; j < columns; j += 16) {
    setLanes(columns - j >= 16 ? 0xffff : (1 << (columns - j)) - 1);
    const panel = b + <usize>(j * positions * 4);
    const panelCodes = bCodes + <usize>(j * codes);
    for (let i = 0; i < rows; i++) {
      const left = a + <usize>(i * positions * 4);
      row(kernel, left, aCodes + <usize>(i * codes), panel, panelCodes, k, c + <usize>(i * cStride + (j << 2)));
    }
  }
}

const LINE: usize = memory.data(64, 16);

/** The same for one output: the column in lane `lane` of the panel at b, the other lanes zero. */
export function runSingle(
  kernel: i32,
  k: i32,
  a: usize,
  aCodes: usize,
  b: usize,
  bCodes: usize,
  c: usize,
  lane: i32,
): void {
  setLanes(1 << lane);
  memory.fill(LINE, 0, 64);
  const at = LINE + (<usize>lane << 2);
  store<u32>(at, load<u32>(c));
  row(kernel, a, aCodes, b, bCodes, k, LINE);
  store<u32>(c, load<u32>(at));
}
