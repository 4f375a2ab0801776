import { FORMATS, type MmaOp } from '@bitmma/core';
import { stepSource } from './plan.js';
import type { Rows } from './step.js';
import { ABSENT_CODE } from './wgsl/decode.js';

/** Invocations of a GEMM workgroup: `rows` quads of rows by `cols` quads of columns, 16 outputs each. */
export interface WorkgroupShape {
  readonly rows: number;
  readonly cols: number;
}

export type Mode =
  /** An m x n tile; elements decoded once into workgroup memory. */
  | { readonly kind: 'gemm'; readonly shape: WorkgroupShape }
  /** Independent dot products, four an invocation; elements decoded where they are used. */
  | { readonly kind: 'dots' };

export interface Shader {
  readonly source: string;
  readonly workgroup: WorkgroupShape;
}

/** Bytes of workgroup memory for a tile of `depth` k positions. */
export const tileBytes = (shape: WorkgroupShape, depth: number): number =>
  (shape.rows + shape.cols) * 16 * depth;

/** k positions held at once: whole steps, about 16 of them. */
export const tileDepth = (length: number): number => length * Math.max(1, Math.floor(16 / length));

/**
 * Largest first: 128 invocations (four warps) share 24 quads; 16 x 32 outputs and less where a long step needs the
 * memory. Null: no shape fits, elements are decoded where they are used.
 */
const SHAPES: readonly WorkgroupShape[] = [
  { rows: 8, cols: 16 },
  { rows: 8, cols: 8 },
  { rows: 4, cols: 8 },
  { rows: 4, cols: 4 },
];

/**
 * The workgroup of an op. SwiftShader clears workgroup memory with one compiled store an item, so that most of its
 * compile time goes by the tile's bytes: a software renderer gets the smallest shape.
 */
export function chooseShape(op: MmaOp, memory: number, software: boolean): WorkgroupShape | null {
  const depth = tileDepth(stepSource(op).length);
  const shapes = software ? SHAPES.toReversed() : SHAPES;
  return shapes.find((shape) => tileBytes(shape, depth) <= memory) ?? null;
}

const DOTS_INVOCATIONS = 64;

const PARAMS = `
struct Params {
  k0: u32, k1: u32, kEnd: u32, scaleBlocks: u32,
  aQuads: u32, bQuads: u32, rowQuad0: u32, rowQuads: u32,
  colQuad0: u32, colQuads: u32, widen: u32, spare: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4u>;
@group(0) @binding(2) var<storage, read> b: array<vec4u>;
@group(0) @binding(3) var<storage, read_write> acc: array<vec4u>;
`;

/** Words of elements a u32 carries: low element first. */
export const elementsPerWord = (bits: number): number => 32 / bits;

function fetch(name: 'A' | 'B', bits: number, sparse: boolean): string {
  const per = elementsPerWord(bits);
  const v = name.toLowerCase();
  const mask = bits === 32 ? '' : ` & vec4u(${2 ** bits - 1}u)`;
  const word =
    per === 1
      ? `${v}[k * p.${v}Quads + quad]`
      : `(${v}[(k / ${per}u) * p.${v}Quads + quad] >> vec4u((k % ${per}u) * ${bits}u))${mask}`;
  const absent = sparse
    ? `let enabled = (masks[(k / 32u) * p.aQuads + quad] >> vec4u(k % 32u)) & vec4u(1u);
  return select(vec4u(${ABSENT_CODE << 16}u), decodeA(${word}), enabled == vec4u(1u));`
    : `return decode${name}(${word});`;
  return `fn fetch${name}(k: u32, quad: u32) -> vec4u {
  if (k >= p.k1) { return vec4u(0u); }
  ${absent}
}
`;
}

/** fp16 words to fp32 words, exactly (PTX m8n8k4 with an fp16 c and an fp32 d). */
const WIDEN_ADDEND = `
fn widenAddend(w: u32) -> u32 {
  let signBit = (w & 0x8000u) << 16u;
  let x = (w >> 10u) & 31u;
  let m = w & 0x3ffu;
  if (x == 31u) { return select(signBit | 0x7f800000u, 0x7fffffffu, m != 0u); }
  if (x != 0u) { return signBit | ((x + 112u) << 23u) | (m << 13u); }
  if (m == 0u) { return signBit; }
  let lift = countLeadingZeros(m) - 21u;
  return signBit | ((113u - lift) << 23u) | (((m << lift) & 0x3ffu) << 13u);
}
`;

function rowsOf(mode: Mode, together: boolean): Rows {
  if (mode.kind === 'dots') return { indices: [0], a: (_, quad = 'va') => quad, row: () => '0u' };
  if (together)
    return {
      indices: [0, 1, 2, 3],
      a: (i, quad = 'va') => `vec4u(${quad}.${'xyzw'[i]})`,
      row: (i) => `${i}u`,
    };
  return { indices: [0], a: (_, quad = 'va') => `vec4u(${quad}[row])`, row: () => 'row' };
}

/** WGSL of one op: its constants injected, K in order, the words of c taken from and left in `acc`. */
export function buildShader(op: MmaOp, mode: Mode): Shader {
  const step = stepSource(op);
  const rows = rowsOf(mode, step.together);
  const gemm = mode.kind === 'gemm';
  const shape = gemm ? mode.shape : { rows: 1, cols: DOTS_INVOCATIONS };
  const depth = gemm ? tileDepth(step.length) : step.length;
  const widens = op.c !== op.d;
  const scaled = op.scaling !== null;
  const bindings = `${PARAMS}${
    scaled
      ? `@group(0) @binding(4) var<storage, read> scalesA: array<vec4u>;
@group(0) @binding(5) var<storage, read> scalesB: array<vec4u>;
`
      : ''
  }${op.sparsity === null ? '' : '@group(0) @binding(6) var<storage, read> masks: array<vec4u>;\n'}
var<private> rowQuad: u32;
var<private> colQuad: u32;
`;
  const access = gemm
    ? `var<workgroup> tileA: array<vec4u, ${shape.rows * depth}>;
var<workgroup> tileB: array<vec4u, ${shape.cols * depth}>;
var<private> localRow: u32;
var<private> localCol: u32;
fn elementA(k: u32) -> vec4u { return tileA[k * ${shape.rows}u + localRow]; }
fn elementB(k: u32) -> vec4u { return tileB[k * ${shape.cols}u + localCol]; }
fn rowOf(quad: vec4u, row: u32) -> vec4u { return vec4u(quad[row]); }
`
    : `fn elementA(k: u32) -> vec4u { return fetchA(k, rowQuad); }
fn elementB(k: u32) -> vec4u { return fetchB(k, colQuad); }
fn rowOf(quad: vec4u, row: u32) -> vec4u { return quad; }
`;
  const scaleAccess = scaled
    ? `fn scaleA(block: u32) -> vec4u {
  if (block >= p.scaleBlocks) { return vec4u(SCALE_NEUTRAL); }
  return scalesA[block * p.aQuads + rowQuad];
}
fn scaleB(block: u32) -> vec4u {
  if (block >= p.scaleBlocks) { return vec4u(SCALE_NEUTRAL); }
  return scalesB[block * p.bQuads + colQuad];
}
`
    : '';
  const wordBits = (name: MmaOp['a']): number => FORMATS[name].wordBits;
  return {
    workgroup: shape,
    source: `${bindings}${access}${step.functions}
${fetch('A', wordBits(op.a), op.sparsity !== null)}${fetch('B', wordBits(op.b), false)}${scaleAccess}${widens ? WIDEN_ADDEND : ''}
${gemm ? gemmMain(shape, depth, step, rows, widens) : dotsMain(step, rows, widens)}`,
  };
}

type Step = ReturnType<typeof stepSource>;

const lanes = (make: (lane: string) => string): string => ['x', 'y', 'z', 'w'].map(make).join(', ');
const widenStatement = (name: string): string =>
  `if (p.widen != 0u) { ${name} = vec4u(${lanes((l) => `widenAddend(${name}.${l})`)}); }`;

function gemmMain(shape: WorkgroupShape, depth: number, step: Step, rows: Rows, widens: boolean): string {
  const threads = shape.rows * shape.cols;
  const four = [0, 1, 2, 3];
  const load = (i: number): string => `acc${i} = acc[index + ${i}u * width];`;
  const together = step.together;
  const body = together
    ? step.step(rows)
    : `for (var row = 0u; row < 4u; row++) {
        var acc0 = held[row];
        ${step.step(rows)}
        held[row] = acc0;
      }`;
  return `@compute @workgroup_size(${shape.cols}, ${shape.rows})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u, @builtin(local_invocation_index) thread: u32) {
  localRow = local.y;
  localCol = local.x;
  let firstRow = p.rowQuad0 + group.y * ${shape.rows}u;
  let firstCol = p.colQuad0 + group.x * ${shape.cols}u;
  rowQuad = min(firstRow + localRow, p.aQuads - 1u);
  colQuad = min(firstCol + localCol, p.bQuads - 1u);
  let inside = firstRow + localRow < p.rowQuads && firstCol + localCol < p.colQuads;
  let width = p.colQuads - p.colQuad0;
  let index = (firstRow + localRow - p.rowQuad0) * 4u * width + firstCol + localCol - p.colQuad0;
  ${together ? four.map((i) => `var acc${i} = vec4u(0u);`).join(' ') : 'var held: array<vec4u, 4>;'}
  if (inside) {
    ${four.map((i) => (together ? load(i) : `held[${i}] = acc[index + ${i}u * width];`)).join('\n    ')}
    ${widens ? four.map((i) => (together ? widenStatement(`acc${i}`) : widenStatement(`held[${i}]`))).join('\n    ') : ''}
  }
  for (var k = p.k0; k < p.kEnd; k += ${depth}u) {
    workgroupBarrier();
    for (var i = thread; i < ${shape.rows * depth}u; i += ${threads}u) {
      tileA[i] = fetchA(k + i / ${shape.rows}u, min(firstRow + i % ${shape.rows}u, p.aQuads - 1u));
    }
    for (var i = thread; i < ${shape.cols * depth}u; i += ${threads}u) {
      tileB[i] = fetchB(k + i / ${shape.cols}u, min(firstCol + i % ${shape.cols}u, p.bQuads - 1u));
    }
    workgroupBarrier();
    let depth = min(${depth}u, p.kEnd - k);
    for (var base = 0u; base < depth; base += ${step.length}u) {
      let start = k + base;
      ${body}
    }
  }
  if (inside) {
    ${four.map((i) => `acc[index + ${i}u * width] = ${together ? `acc${i}` : `held[${i}]`};`).join('\n    ')}
  }
}
`;
}

function dotsMain(step: Step, rows: Rows, widens: boolean): string {
  return `@compute @workgroup_size(${DOTS_INVOCATIONS})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let quad = id.x;
  if (quad >= p.aQuads) { return; }
  rowQuad = quad;
  colQuad = quad;
  var acc0 = acc[quad];
  ${widens ? widenStatement('acc0') : ''}
  for (var base = p.k0; base < p.kEnd; base += ${step.length}u) {
    let start = base;
    ${step.step(rows)}
  }
  acc[quad] = acc0;
}
`;
}
