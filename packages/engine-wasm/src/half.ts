/** An fp16 word as the fp32 word of the same value; NaN keeps its sign and payload, made quiet. */
export function widenHalf(word: number): number {
  const sign = ((word >> 15) & 1) * 0x80000000;
  const x = (word >> 10) & 31;
  const m = word & 0x3ff;
  if (x === 31) return (sign + 0x7f800000 + (m === 0 ? 0 : (m << 13) | 0x400000)) >>> 0;
  if (x !== 0) return (sign + ((x + 112) << 23) + (m << 13)) >>> 0;
  if (m === 0) return sign >>> 0;
  const shift = Math.clz32(m) - 21;
  return (sign + ((113 - shift) << 23) + (((m << shift) & 0x3ff) << 13)) >>> 0;
}
