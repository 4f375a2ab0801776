// Breaks the kernels one rule at a time and demands that the tests see each: `node scripts/mutants.mjs [text of a name]`.
// Works in ../.engine-wasm-mutants, a copy of the package; prints a line a mutant and exits 1 where one survives.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';
import { buildModules } from './build-module.mjs';

const root = new URL('..', import.meta.url).pathname;
// As deep in the repository as the package itself, so that its tests find the vectors.
const copy = new URL('../../.engine-wasm-mutants/', import.meta.url).pathname;

/** name, file, text, replacement. */
const MUTANTS = [
  [
    'f32: c is not truncated',
    'assembly/simd/window-f32.ts',
    'f32x4.trunc(f32x4.mul(c2, s2))',
    'f32x4.mul(c2, s2)',
  ],
  [
    'f32: a product is not truncated',
    'assembly/simd/window-f32.ts',
    'f32x4.trunc(f32x4.mul(f32x4.mul(y, v128.load(b, 112)), s3))',
    'f32x4.mul(f32x4.mul(y, v128.load(b, 112)), s3)',
  ],
  ['f32: precision is not kept', 'assembly/simd/window-f32.ts', 'v128.and(sum, mask)', 'sum'],
  [
    'byte codes: zero counts',
    'assembly/simd/pack.ts',
    'const ZERO_BYTE: i32 = 0;',
    'const ZERO_BYTE: i32 = 64;',
  ],
  [
    'byte codes: no product is not seen',
    'assembly/simd/exponents.ts',
    'return v128.and(x, i8x16.lt_s(x, i8x16.splat(0)));',
    'return x;',
  ],
  [
    'short codes: zero counts',
    'assembly/simd/pack.ts',
    'const ZERO_SHORT: i32 = -0x4000;',
    'const ZERO_SHORT: i32 = 0;',
  ],
  [
    "fp16 c: a subnormal has its value's exponent",
    'assembly/simd/window-exponent.ts',
    'e = i32x4.max_s(e, v128.and(nonzero, i32x4.splat(codeBias + HALF_EMIN)));',
    '',
  ],
  [
    'window: no lowest exponent',
    'assembly/simd/window-exponent.ts',
    'return i32x4.max_s(e, i32x4.splat(codeBias + lowestExponent));',
    'return e;',
  ],
  [
    'i32: the result rounds to nearest',
    'assembly/simd/finish-i32.ts',
    'const y = v128.andnot(m, i32x4.shr_u(m, 24));',
    'const y = m;',
  ],
  [
    'i32: sums beyond 2^31 convert as signed',
    'assembly/simd/finish-i32.ts',
    'i32x4.bitmask(m) === 0 ?',
    'true ?',
  ],
  [
    "i32: the sum's sign is the wrapped one's",
    'assembly/simd/finish-i32.ts',
    'v128.bitselect(r, x, v128.xor(x, y))',
    'r',
  ],
  [
    'two runs: a carry of c is lost',
    'assembly/simd/finish-i32.ts',
    'i32x4.add(i32x4.add(half, i32x4.shr_s(z, 1)), v128.and(bit, z))',
    'i32x4.add(half, i32x4.shr_s(z, 1))',
  ],
  [
    'two runs: the low bit is always kept',
    'assembly/simd/finish-i32.ts',
    'const kept = v128.and(bit, i32x4.lt_u(m, i32x4.splat(0x800000)));',
    'const kept = bit;',
  ],
  [
    "two runs: a negative's low bit is not borrowed",
    'assembly/simd/finish-i32.ts',
    'i32x4.sub(magnitude(upper, sign), v128.and(bit, sign))',
    'magnitude(upper, sign)',
  ],
  [
    'fp16: what the sum drops is forgotten',
    'assembly/simd/finish-i32.ts',
    'v128.and(i32x4.ne(i32x4.trunc_sat_f32x4_u(f), m), i32x4.splat(1))',
    'i32x4.splat(0)',
  ],
  [
    'fp16: subnormals keep their bits',
    'assembly/simd/finish-i32.ts',
    'i32x4.splat(113 << 23)',
    'i32x4.splat(1 << 23)',
  ],
  [
    'fp16: no overflow',
    'assembly/simd/finish-i32.ts',
    'return v128.bitselect(infinite, r, over);',
    'return r;',
  ],
  [
    'cdna3: c is not floored',
    'assembly/simd/cdna3-window.ts',
    'f64x2.floor(f64x2.mul(c, y))',
    'f64x2.trunc(f64x2.mul(c, y))',
  ],
  [
    'cdna3: the sum is not floored',
    'assembly/simd/cdna3-window.ts',
    'f64x2.floor(f64x2.mul(s, x))',
    'f64x2.trunc(f64x2.mul(s, x))',
  ],
  [
    'cdna3: no cut after normalising',
    'assembly/simd/cdna3-window.ts',
    'const cut = v128.and(sum, i64x2.splat(-1 << CUT_BITS));',
    'const cut = sum;',
  ],
  ['cdna3: the cut truncates', 'assembly/simd/cdna3-window.ts', 'i64x2.add(cut, down)', 'cut'],
  [
    'cdna3: 31 bits below c',
    'assembly/simd/cdna3-window.ts',
    'const SUM_FRACTION: i32 = 32;',
    'const SUM_FRACTION: i32 = 31;',
  ],
  [
    'cdna3: small sums take a floored c for exact',
    'assembly/simd/cdna3-window.ts',
    'f32x4.floor(f32x4.mul(v128.load(c + at), v128.load(SCALES + at)))',
    'f32x4.mul(v128.load(c + at), v128.load(SCALES + at))',
  ],
  [
    "cdna3: small sums lose the first addition's error",
    'assembly/simd/cdna3-window.ts',
    'f32x4.add(error, f32x4.convert_i32x4_s(lower))',
    'f32x4.convert_i32x4_s(lower)',
  ],
  [
    'cdna3: small sums lose their lower bits',
    'assembly/simd/cdna3-window.ts',
    'f32x4.add(error, f32x4.convert_i32x4_s(lower))',
    'error',
  ],
  [
    'cdna3: the upper bits of a sum round',
    'assembly/simd/cdna3-window.ts',
    'i32x4.splat(0xff)',
    'i32x4.splat(0x3)',
  ],
  [
    'cdna3: the cut begins a bit late',
    'assembly/simd/cdna3-window.ts',
    'const CUT_BEGINS: i32 = (127 + 32) << 23;',
    'const CUT_BEGINS: i32 = (127 + 33) << 23;',
  ],
  [
    'cdna3: a lane beyond the cut is left as the other lanes are',
    'assembly/simd/cdna3-window.ts',
    'if (beyond(magnitude(d))) finishLanes(c, at);',
    'if (false) finishLanes(c, at);',
  ],
  [
    'cdna3: tiny addends vanish beside large products',
    'assembly/simd/cdna3-window.ts',
    'const HIGHEST_DIRECT: i32 = 24;',
    'const HIGHEST_DIRECT: i32 = 120;',
  ],
  [
    'cdna3: no exponent where there is no product',
    'assembly/simd/cdna3-window.ts',
    'i8x16.max_u(byteExponents(aCodes, bCodes, n), least)',
    'byteExponents(aCodes, bCodes, n)',
  ],
  [
    'cdna3: c beside no product is floored',
    'src/simd-plan.ts',
    'codeBytes === 1 ? -100 : -90',
    'codeBytes === 1 ? -88 : -90',
  ],
  [
    'range: windows above fp32 are taken',
    'assembly/simd/slow-step.ts',
    'HIGHEST_EXPONENT: i32 = 120',
    'HIGHEST_EXPONENT: i32 = 300',
  ],
  [
    'range: windows below fp32 are taken',
    'src/simd-plan.ts',
    'const least = fraction - 125;',
    'const least = fraction - 160;',
  ],
  [
    'range: cdna3 windows below fp32 are taken',
    'src/simd-plan.ts',
    'codeBytes === 1 ? -100 : -90',
    'codeBytes === 1 ? -100 : -280',
  ],
  [
    'slow step: an infinite c is computed',
    'assembly/simd/window-i32.ts',
    'v128.bitselect(before, v128.load(c + at), special)',
    'v128.load(c + at)',
  ],
  [
    'slow step: other lanes change too',
    'assembly/simd/slow-step.ts',
    'if (((mask >> lane) & 1) === 0) continue;',
    '',
  ],
  [
    "slow step: the product's bits are not fp32's",
    'assembly/simd/slow-step.ts',
    'setProductBits(2 * VALUE_BITS);',
    '',
  ],
  [
    'pack: an fp16 subnormal has exponent emin - 1',
    'assembly/simd/pack.ts',
    'max(<i32>(m >> 10), 1) - 1 + LEAST_BYTE',
    '<i32>(m >> 10) - 1 + LEAST_BYTE',
  ],
  [
    'pack: a bf16 subnormal has exponent emin - 1',
    'assembly/simd/pack.ts',
    'max(<i32>(m >> 23), 1) - 127',
    '<i32>(m >> 23) - 127',
  ],
  [
    'pack: tf32 keeps its dropped bits',
    'assembly/simd/pack.ts',
    '(source + (i << 2)) & keep)',
    '(source + (i << 2)))',
  ],
  [
    'pack: the padding is not cleared',
    'assembly/simd/pack.ts',
    'for (let i = k; i < padded; i++) {',
    'for (let i = padded; i < padded; i++) {',
  ],
  [
    'pack: absent positions count',
    'assembly/simd/pack.ts',
    'if (mask === 0 || load<u8>(mask + <usize>i) !== 0) x =',
    'x =',
  ],
  [
    'pack: non-finite operands are not seen',
    'assembly/simd/pack.ts',
    'return <i32>(seen >> 63);',
    'return 0;',
  ],
  [
    'state: tiny and non-finite addends are taken',
    'assembly/simd/state.ts',
    'const mark = m >= 0x7f800000 || (m !== 0 && m < least);',
    'const mark = m > 0x7f800000;',
  ],
  [
    'runner: special outputs start from d',
    'src/simd-runner.ts',
    'const from = at(this.#saved, i);',
    'const from = at(this.state, i);',
  ],
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

/** The modules that a file is part of. */
function modulesOf(file) {
  if (file.startsWith('src/')) return [];
  return file.startsWith('assembly/simd/') ? ['simd'] : ['scalar', 'simd'];
}

/** Builds the copy's modules and runs test/suite/check.ts on it: the first difference, or null where there is none. */
async function difference(modules) {
  await buildModules(copy, modules);
  await build({
    entryPoints: [`${copy}test/suite/check.ts`],
    outfile: `${copy}check.mjs`,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
  });
  const { status, stdout, stderr } = spawnSync('node', ['check.mjs'], { cwd: copy, encoding: 'utf8' });
  // A trap or an exception is seen as well as a wrong word.
  return status === 0 ? null : stdout.trim() || stderr.trim().split('\n').at(-3);
}

for (const [name, file, text] of MUTANTS)
  if (!readFileSync(`${root}${file}`, 'utf8').includes(text))
    throw new Error(`${name}: ${file} has no ${text}`);
rmSync(copy, { recursive: true, force: true });
mkdirSync(copy);
for (const name of ['assembly', 'src', 'test', 'package.json'])
  cpSync(`${root}${name}`, `${copy}${name}`, { recursive: true });
symlinkSync(`${root}node_modules`, `${copy}node_modules`);
let survived = 0;
let ran = 0;
try {
  const clean = await difference(['scalar', 'simd']);
  if (clean) throw new Error(`the unbroken kernels differ: ${clean}`);
  // A mutant of one module leaves the other as it was.
  cpSync(`${copy}src/generated`, `${copy}clean`, { recursive: true });
  for (const [name, file, text, replacement] of MUTANTS) {
    if (!name.includes(process.argv[2] ?? '')) continue;
    const original = readFileSync(`${root}${file}`, 'utf8');
    writeFileSync(`${copy}${file}`, original.replace(text, replacement));
    const found = await difference(modulesOf(file));
    writeFileSync(`${copy}${file}`, original);
    cpSync(`${copy}clean`, `${copy}src/generated`, { recursive: true });
    console.log(found ? `caught    ${name}  (${found})` : `SURVIVED  ${name}`);
    ran++;
    if (!found) survived++;
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
console.log(`${ran} mutants, ${survived} survived`);
process.exitCode = survived > 0 || ran === 0 ? 1 : 0;
