// What scripts/mutants.mjs breaks in the integer path.
/** name, file, text, replacement. */
export const SCALAR_MUTANTS = [
  [
    'scalar: truncation rounds down',
    'assembly/number/terms.ts',
    'sum += (i64(mag >> u64(shift > 63 ? 63 : shift)) ^ sign) - sign;',
    'sum += ((i64(mag) ^ sign) - sign) >> u64(shift > 63 ? 63 : shift);',
  ],
  ['scalar: the floor is ignored', 'assembly/datapath/fused-window.ts', 'if (floor > e) e = floor;', ''],
  [
    'scalar: an exact sum wraps',
    'assembly/datapath/exact.ts',
    'high - low <= 62 - HEADROOM',
    'high - low <= 120',
  ],
  [
    'scalar: fp32 FMA rounds twice',
    'assembly/datapath/sequential-fma.ts',
    '(bits & 1) === 0 && (error > 0 || error < 0)',
    'false',
  ],
  [
    'scalar: CDNA2 keeps subnormal products',
    'assembly/datapath/pairwise.ts',
    'return flushed(load<f32>(a + at) * load<f32>(b + at));',
    'return load<f32>(a + at) * load<f32>(b + at);',
  ],
  [
    'scalar: no reach',
    'assembly/number/late-addend.ts',
    '(addendReach === NONE || e - ce <= addendReach)',
    'true',
  ],
  [
    'scalar: leave-out never acts',
    'assembly/datapath/scaled-groups.ts',
    'const mayPrune = leaveOut !== NONE && zero && quantum < leaveOut;',
    'const mayPrune = false;',
  ],
  ['scalar: integers do not saturate', 'assembly/datapath/integer.ts', 'if (saturate !== 0)', 'if (false)'],
];
