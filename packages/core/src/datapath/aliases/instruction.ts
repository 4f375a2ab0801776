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
/** scale_vec::1X is the only vector size of mxf8f6f4; block16 and block32 are the later spelling. */
const SCALE_ALIAS: Readonly<Record<string, string | null>> = {
  'scale_vec::1x': null,
  'scale_vec::2x': 'scale_vec::2X',
  'scale_vec::4x': 'scale_vec::4X',
};
const PTX_TYPE = /^(f64|f32|f16|bf16|tf32|e4m3|e5m2|e2m3|e3m2|e2m1|s32|s8|u8|s4|u4|b1)$/;

function mmaSync(tokens: string[], llvm: boolean): string {
  const qualifiers = tokens.filter((t) => !PTX_TYPE.test(t) && !/^(m\d|satfinite|ue8m0|ue4m3)/.test(t));
  const shape = tokens.filter((t) => /^m\d+n\d+k\d+$/.test(t));
  const saturate = tokens.filter((t) => t === 'satfinite');
  const scales = tokens.filter((t) => /^(ue8m0|ue4m3)$/.test(t));
  const types = tokens.filter((t) => PTX_TYPE.test(t));
  const full = llvm ? llvmTypes(types) : types;
  return ['mma', 'sync', ...shape, ...saturate, ...qualifiers, ...full, ...scales].join('.');
}

/** LLVM names D and C of fp16 operands, A and B of others where they differ, all four for FP8. */
function llvmTypes(types: readonly string[]): readonly string[] {
  const [first, second] = types;
  if (types.length === 4 || first === undefined) return types;
  if (/^(f16|f32)$/.test(first)) return [first, 'f16', 'f16', second ?? first];
  const accumulator = first === 'f64' ? 'f64' : /^[su]/.test(first) ? 's32' : 'f32';
  return [accumulator, first, second ?? first, accumulator];
}

function wgmma(tokens: string[]): string {
  const shape = tokens.find((t) => /^m\d+n\d+k\d+$/.test(t)) ?? '';
  const types = tokens.filter((t) => PTX_TYPE.test(t));
  const rest = tokens.filter((t) => t === 'sp');
  const saturate = tokens.filter((t) => t === 'satfinite');
  return ['wgmma', 'mma_async', ...rest, canonicalN(shape, types), ...saturate, ...types].join('.');
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

function tcgen05(tokens: string[]): string {
  const saturate = tokens.filter((t) => t === 'satfinite');
  const sparse = tokens.filter((t) => t === 'sp' || t === 'ws');
  const rest = tokens.filter((t) => !['satfinite', 'sp', 'ws'].includes(t));
  return ['tcgen05', 'mma', ...sparse, ...rest, ...saturate].join('.');
}

/** Canonical spelling of a PTX or NVVM name, or null if it is neither. */
function ptx(name: string): string | null {
  const bare = name.replace(/^llvm\.nvvm\./, '');
  const llvm = bare !== name;
  const tokens = bare
    .split('.')
    .filter((t) => t !== '' && !PTX_NOISE.has(t) && !COLLECTOR.test(t))
    .flatMap((t) => (t in SCALE_ALIAS ? (SCALE_ALIAS[t] ?? []) : [t]));
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
