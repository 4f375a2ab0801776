/**
 * Vendor spellings of an instruction to the canonical identifier: PTX with every qualifier, LLVM intrinsics and
 * builtins, MFMA in both forms. Nothing here knows devices; findOp looks the result up on one.
 */

/** PTX qualifiers that do not enter the arithmetic. */
const PTX_NOISE = new Set([
  'aligned',
  'row',
  'col',
  'cta_group::1',
  'cta_group::2',
  'ashift',
  'ordered_metadata',
]);
const COLLECTOR = /^collector::/;
const PTX_TYPE = /^(f64|f32|f16|bf16|tf32|e4m3|e5m2|e2m3|e3m2|e2m1|s32|s8|u8|s4|u4|b1)$/;

const only = (tokens: readonly string[], pattern: RegExp) => tokens.filter((t) => pattern.test(t));

const SCALE_TYPE = /^(ue8m0|ue4m3)$/;
const SHAPE = /^m\d+n\d+k\d+$/;

const SCALE_QUALIFIER = /^(kind::.*|block_scale|scale_vec::[124]x|block16|block32)$/;

/** Sizes of a block-scaled kind's vector as written to the canonical name; '' where the kind has one alone. */
const SCALE_VECTORS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'kind::mxf8f6f4': { none: '', 'scale_vec::1x': '', block32: '' },
  'kind::mxf4': { none: 'scale_vec::2X', 'scale_vec::2x': 'scale_vec::2X', block32: 'scale_vec::2X' },
  'kind::mxf4nvf4': {
    'scale_vec::2x': 'scale_vec::2X',
    block32: 'scale_vec::2X',
    'scale_vec::4x': 'scale_vec::4X',
    block16: 'scale_vec::4X',
  },
};

/** `kind`, `block_scale` and the vector size in canonical order; as written where they make no known kind. */
function kindTokens(tokens: readonly string[]): readonly string[] {
  const written = only(tokens, SCALE_QUALIFIER);
  const [kinds, sizes] = [only(written, /^kind/), only(written, /^(scale_vec|block\d)/)];
  const vector = SCALE_VECTORS[kinds[0] ?? '']?.[sizes[0] ?? 'none'];
  const known = kinds.length === 1 && sizes.length <= 1 && written.includes('block_scale');
  if (!known || vector === undefined) return written;
  return [...kinds, 'block_scale', ...(vector === '' ? [] : [vector])];
}

/** Tokens that no rule above knows: kept, so that an unknown qualifier makes an unknown name. */
const leftover = (tokens: readonly string[]) =>
  tokens.filter(
    (t) =>
      !(
        PTX_TYPE.test(t) ||
        SCALE_TYPE.test(t) ||
        SHAPE.test(t) ||
        SCALE_QUALIFIER.test(t) ||
        t === 'satfinite'
      ),
  );

function mmaSync(tokens: readonly string[], llvm: boolean): string {
  const types = only(tokens, PTX_TYPE);
  return [
    'mma',
    'sync',
    ...only(tokens, SHAPE),
    ...only(tokens, /^satfinite$/),
    ...leftover(tokens),
    ...kindTokens(tokens),
    ...(llvm ? llvmTypes(types) : types),
    ...only(tokens, SCALE_TYPE),
  ].join('.');
}

/** LLVM names D and C of fp16 operands, A and B of others where they differ, all four for FP8. */
function llvmTypes(types: readonly string[]): readonly string[] {
  const [first, second] = types;
  if (types.length === 4 || first === undefined) return types;
  if (/^(f16|f32)$/.test(first)) return [first, 'f16', 'f16', second ?? first];
  const accumulator = first === 'f64' ? 'f64' : /^[su]/.test(first) ? 's32' : 'f32';
  return [accumulator, first, second ?? first, accumulator];
}

function wgmma(tokens: readonly string[]): string {
  const types = only(tokens, PTX_TYPE);
  const shapes = only(tokens, SHAPE).map((shape) => canonicalN(shape, types));
  return [
    'wgmma',
    'mma_async',
    ...leftover(tokens),
    ...shapes,
    ...only(tokens, /^satfinite$/),
    ...types,
  ].join('.');
}

/** m64nNk... with a legal N becomes m64n8k...: N does not enter the arithmetic. */
function canonicalN(shape: string, types: readonly string[]): string {
  const found = /^m64n(\d+)k(\d+)$/.exec(shape);
  if (!found) return shape;
  const n = Number(found[1]);
  const integer = types[0] === 's32';
  const legal = n >= 8 && n <= 256 && n % 8 === 0 && (!integer || n <= 24 || n % 16 === 0);
  return legal ? `m64n8k${found[2]}` : shape;
}

function tcgen05(tokens: readonly string[]): string {
  return [
    'tcgen05',
    'mma',
    ...leftover(tokens),
    ...kindTokens(tokens),
    ...only(tokens, PTX_TYPE),
    ...only(tokens, SCALE_TYPE),
    ...only(tokens, /^satfinite$/),
  ].join('.');
}

/** Canonical spelling of a PTX or NVVM name, or null if it is neither. */
function ptx(name: string): string | null {
  const bare = name.replace(/^llvm\.nvvm\./, '');
  const llvm = bare !== name;
  const tokens = bare.split('.').filter((t) => t !== '' && !PTX_NOISE.has(t) && !COLLECTOR.test(t));
  const [family, ...rest] = tokens;
  if (family === 'mma') {
    const body = rest[0] === 'sync' ? rest.slice(1) : rest;
    if (body[0]?.startsWith('sp')) return ['mma', ...body].join('.');
    return mmaSync(body, llvm);
  }
  if (family === 'wgmma') return wgmma(rest.filter((t) => t !== 'sync' && t !== 'mma_async'));
  if (family === 'tcgen05' && rest[0] === 'mma') return tcgen05(rest.slice(1));
  return family === 'wmma' ? tokens.join('.') : null;
}

/** `v_…` for every spelling of an AMD matrix instruction, or null if it is none. */
function amd(name: string): string | null {
  const stem = name.replace(/^(llvm\.amdgcn\.|__builtin_amdgcn_|v_)/, '').replaceAll('.', '_');
  return /^(mfma|smfmac|wmma|swmmac)_/.test(stem) && !name.startsWith('wmma.') ? `v_${stem}` : null;
}

/** The canonical spelling of an instruction name; a name of no known family comes back trimmed. */
export function normaliseInstruction(name: string): string {
  const lower = name.trim().replace(/;$/, '').toLowerCase();
  return amd(lower) ?? ptx(lower) ?? name.trim();
}
