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
  [
    'scalar: fp64 FMAs round twice',
    'assembly/datapath/sequential-fma-doubles.ts',
    'if (reinterpret<u64>(s) << 16 === 0) s = odd(vl, u, s);',
    '',
  ],
  [
    'scalar: fp64 ties round to odd the other way',
    'assembly/datapath/sequential-fma-doubles.ts',
    '(error > 0 === s > 0 ? 1 : -1)',
    '(error > 0 === s > 0 ? -1 : 1)',
  ],
  [
    'scalar: fp64 products lose their error below 2^-1022',
    'assembly/datapath/sequential-fma-doubles.ts',
    'const LEAST_PRODUCT: i32 = 2046 - 960;',
    'const LEAST_PRODUCT: i32 = 2046 - 1022;',
  ],
  [
    'scalar: fp64 sums overflow on the way',
    'assembly/datapath/sequential-fma-doubles.ts',
    'const LARGEST_PRODUCT: i32 = 2046 + 990;',
    'const LARGEST_PRODUCT: i32 = 2046 + 1023;',
  ],
  [
    'scalar: fp64 factors overflow in their halves',
    'assembly/datapath/sequential-fma-doubles.ts',
    'if (max(xm, ym) > LARGEST_FACTOR || xm',
    'if (xm',
  ],
  [
    'scalar: fp64 c of -0 is taken',
    'assembly/datapath/sequential-fma-doubles.ts',
    ' && c !== 0x8000000000000000',
    '',
  ],
  [
    'scalar: fp64 addends of any size are taken',
    'assembly/datapath/sequential-fma-doubles.ts',
    '(<i32>(c >> 52) & 0x7ff) <= LARGEST_ADDEND',
    'true',
  ],
  [
    'scalar: fp64 columns have one range',
    'assembly/datapath/sequential-fma-doubles.ts',
    'right = join(right, range(column, k));',
    'right = range(column, k);',
  ],
];
