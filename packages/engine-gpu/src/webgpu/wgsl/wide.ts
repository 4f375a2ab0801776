/**
 * Two-limb unsigned integers in WGSL: vec2u(low, high). WGSL shifts take counts modulo 32 only, so every count is
 * bounded here; a count of 64 or more gives zero.
 */
export const WIDE = /* wgsl */ `
fn isZero64(a: vec2u) -> bool { return (a.x | a.y) == 0u; }
fn add64(a: vec2u, b: vec2u) -> vec2u {
  let low = a.x + b.x;
  return vec2u(low, a.y + b.y + select(0u, 1u, low < a.x));
}
fn neg64(a: vec2u) -> vec2u {
  let low = ~a.x + 1u;
  return vec2u(low, ~a.y + select(0u, 1u, low == 0u));
}
fn less64(a: vec2u, b: vec2u) -> bool { return a.y < b.y || (a.y == b.y && a.x < b.x); }
fn extend64(a: i32) -> vec2u { return vec2u(u32(a), u32(a >> 31u)); }
fn negative64(a: vec2u) -> bool { return (a.y >> 31u) != 0u; }
fn magnitude64(a: vec2u) -> vec2u { if (negative64(a)) { return neg64(a); } return a; }
fn shl64(a: vec2u, n: u32) -> vec2u {
  if (n == 0u) { return a; }
  if (n >= 64u) { return vec2u(0u, 0u); }
  if (n >= 32u) { return vec2u(0u, a.x << (n - 32u)); }
  return vec2u(a.x << n, (a.y << n) | (a.x >> (32u - n)));
}
fn shr64(a: vec2u, n: u32) -> vec2u {
  if (n == 0u) { return a; }
  if (n >= 64u) { return vec2u(0u, 0u); }
  if (n >= 32u) { return vec2u(a.y >> (n - 32u), 0u); }
  return vec2u((a.x >> n) | (a.y << (32u - n)), a.y >> n);
}
fn lead64(a: vec2u) -> i32 {
  if (a.y != 0u) { return 63 - i32(countLeadingZeros(a.y)); }
  return 31 - i32(countLeadingZeros(a.x));
}
fn lowBits64(a: vec2u, n: u32) -> bool {
  if (n == 0u) { return false; }
  if (n >= 64u) { return !isZero64(a); }
  return !isZero64(shl64(a, 64u - n));
}
fn jam64(a: vec2u, n: u32) -> vec2u {
  let kept = shr64(a, n);
  return vec2u(kept.x | select(0u, 1u, lowBits64(a, n)), kept.y);
}
fn mulWide(a: u32, b: u32) -> vec2u {
  let a0 = a & 0xffffu; let a1 = a >> 16u;
  let b0 = b & 0xffffu; let b1 = b >> 16u;
  let low = a0 * b0;
  let mid = a1 * b0 + (low >> 16u);
  let mid2 = a0 * b1 + (mid & 0xffffu);
  return vec2u((mid2 << 16u) | (low & 0xffffu), a1 * b1 + (mid >> 16u) + (mid2 >> 16u));
}
`;

/** Signed sums in two's complement, cut to a multiple of 2^n of the unit: the value divided by 2^n, an integer. */
const CUTS: Readonly<Record<'RZ' | 'RD' | 'RNE', string>> = {
  RZ: `let kept = shr64(magnitude64(a), n); if (negative64(a)) { return neg64(kept); } return kept;`,
  // floor(a / 2^n) = -ceil(|a| / 2^n) for negative a.
  RD: `if (!negative64(a)) { return shr64(a, n); }
  let m = neg64(a);
  return neg64(add64(shr64(m, n), vec2u(select(0u, 1u, lowBits64(m, n)), 0u)));`,
  RNE: `if (n == 0u) { return a; }
  let m = magnitude64(a);
  var kept = shr64(m, n);
  if ((shr64(m, n - 1u).x & 1u) == 1u && ((kept.x & 1u) == 1u || lowBits64(m, n - 1u))) { kept = add64(kept, vec2u(1u, 0u)); }
  if (negative64(a)) { return neg64(kept); }
  return kept;`,
};

/** `fn NAME(a, n)`: a two's complement vec2u cut by n bits, n of any size. */
export function cutFunction(name: string, rounding: 'RZ' | 'RD' | 'RNE'): string {
  return `fn ${name}(a: vec2u, n: u32) -> vec2u {\n  ${CUTS[rounding]}\n}\n`;
}

/** `fn NAME(a, n)`: a two's complement vec2u times 2^n, cut where n is negative. */
export function scaleFunction(name: string, rounding: 'RZ' | 'RD' | 'RNE'): string {
  return `${cutFunction(`${name}Cut`, rounding)}fn ${name}(a: vec2u, n: i32) -> vec2u {
  if (n >= 0) { return shl64(a, u32(n)); }
  return ${name}Cut(a, u32(-n));
}
`;
}
