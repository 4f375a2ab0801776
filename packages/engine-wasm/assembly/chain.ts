import { cdna3OddEven } from './datapath/cdna3-odd-even';
import { cdna3Window } from './datapath/cdna3-window';
import { exact } from './datapath/exact';
import { fusedWindow } from './datapath/fused-window';
import { integer } from './datapath/integer';
import { lateWindow } from './datapath/late-window';
import { pairwise, pairwiseNative } from './datapath/pairwise';
import { scaledGroups, setScales } from './datapath/scaled-groups';
import { scaledWindow } from './datapath/scaled-window';
import { sequentialFma, sequentialFma64, sequentialFmaNative } from './datapath/sequential-fma';
import { runDoubles } from './datapath/sequential-fma-doubles';
import { splitWindow } from './datapath/split-window';
import { setScan } from './number/special';

// Rules, as the host numbers them (src/rules.ts).
function chain(rule: i32, a: usize, b: usize, k: i32, word: u64): u64 {
  switch (rule) {
    case 0:
      return fusedWindow(a, b, k, word);
    case 1:
      return lateWindow(a, b, k, word);
    case 2:
      return splitWindow(a, b, k, word);
    case 3:
      return exact(a, b, k, word);
    case 4:
      return pairwise(a, b, k, word);
    case 5:
      return cdna3Window(a, b, k, word);
    case 6:
      return cdna3OddEven(a, b, k, word);
    case 7:
      return sequentialFma(a, b, k, word);
    case 8:
      return integer(a, b, k, word);
    case 9:
      return scaledWindow(a, b, k, word);
    case 10:
      return scaledGroups(a, b, k, word);
    case 11:
      return pairwiseNative(a, b, k, word);
    case 12:
      return sequentialFmaNative(a, b, k, word);
    case 13:
      return sequentialFma64(a, b, k, word);
    default:
      return unreachable();
  }
}

/** The rule that runs a tile at a time. */
const DOUBLES: i32 = 14;

/**
 * Runs the chain of every output (i, j), or of every (i, i) where `diagonal`: k packed elements from `a + i * aStride`
 * and `b + j * bStride`; the word at c + i * cStride + j * wordSize is c before and d after. Flags: a byte a vector, 1
 * where it holds NaN or Inf. Scale exponents: `scaleStride` bytes a vector.
 */
export function run(
  rule: i32,
  rows: i32,
  columns: i32,
  diagonal: i32,
  k: i32,
  a: usize,
  aStride: i32,
  aFlags: usize,
  b: usize,
  bStride: i32,
  bFlags: usize,
  c: usize,
  cStride: i32,
  wordSize: i32,
  aScales: usize,
  bScales: usize,
  scaleStride: i32,
): void {
  if (rule === DOUBLES) {
    runDoubles(rows, columns, diagonal !== 0, k, a, usize(aStride), b, usize(bStride), c, usize(cStride));
    return;
  }
  for (let i = 0; i < rows; i++) {
    const from = diagonal !== 0 ? i : 0;
    const to = diagonal !== 0 ? i + 1 : columns;
    for (let j = from; j < to; j++) {
      setScan((load<u8>(aFlags + usize(i)) | load<u8>(bFlags + usize(j))) !== 0);
      setScales(aScales + usize(i * scaleStride), bScales + usize(j * scaleStride));
      const at = c + usize(i * cStride + (diagonal !== 0 ? 0 : j) * wordSize);
      const word: u64 = wordSize === 8 ? load<u64>(at) : load<u32>(at);
      const result = chain(rule, a + usize(i * aStride), b + usize(j * bStride), k, word);
      if (wordSize === 8) store<u64>(at, result);
      else store<u32>(at, u32(result));
    }
  }
}
