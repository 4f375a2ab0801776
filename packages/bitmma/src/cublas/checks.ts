import type { Fp8Matrix } from './accumulate.js';
import type { OutFormat } from './epilogue.js';
import { ContractTypeError, ReferenceRejectsError, UnsupportedFeatureError } from './errors.js';

/** An fp32 tensor of scales: words and how many; one word is tensor-wise. */
export interface ScaleTensor {
  readonly format: string;
  readonly words: Uint32Array;
  readonly shape?: readonly number[];
}

/** Every 8-bit float dtype that torch 2.7.1 has; only the first two run. */
export const TORCH_FP8 = ['e4m3', 'e5m2', 'e4m3fnuz', 'e5m2fnuz', 'ue8m0'] as const;
const OUTS: readonly OutFormat[] = ['fp32', 'bf16', 'fp16', 'e4m3', 'e5m2'];

const reject = (message: string): never => {
  throw new ReferenceRejectsError(message);
};

const shapeOf = (x: { shape: readonly number[] }) => `(${x.shape.join(', ')})`;

/** What torch.jit's signature would not take: wrong JavaScript types. Throws ContractTypeError. */
export function checkTypes(call: {
  input: unknown;
  mat2: unknown;
  scaleA: unknown;
  scaleB: unknown;
  useFastAccum: unknown;
}): void {
  for (const name of ['input', 'mat2'] as const) {
    const x = call[name] as Partial<Fp8Matrix> | null | undefined;
    if (!(x?.words instanceof Uint8Array) || !Array.isArray(x.shape) || !Array.isArray(x.strides))
      throw new ContractTypeError(
        `${name}: expected a matrix of words, shape and strides, got ${describe(x)}`,
      );
  }
  for (const name of ['scaleA', 'scaleB'] as const) {
    const x = call[name] as Partial<ScaleTensor> | null | undefined;
    if (!(x?.words instanceof Uint32Array))
      throw new ContractTypeError(`${name}: expected fp32 words, got ${describe(x)}`);
  }
  if (typeof call.useFastAccum !== 'boolean')
    throw new ContractTypeError(`useFastAccum: expected true or false, got ${describe(call.useFastAccum)}`);
}

const describe = (x: unknown): string =>
  x === null ? 'null' : typeof x === 'object' ? 'another object' : typeof x;

/** Shapes, scales and formats, in torch 2.7.1's order, up to its early return for empty dimensions. */
export function checkCall(
  input: Fp8Matrix,
  mat2: Fp8Matrix,
  scaleA: ScaleTensor,
  scaleB: ScaleTensor,
  scaleResult: ScaleTensor | undefined,
  out: OutFormat,
): void {
  if (input.shape.length !== 2) reject(`input: expected 2 dimensions, got ${shapeOf(input)}`);
  if (mat2.shape.length !== 2) reject(`mat2: expected 2 dimensions, got ${shapeOf(mat2)}`);
  const [m, k] = input.shape;
  const [k2, n] = mat2.shape;
  if (k !== k2) reject(`mat2: expected ${k} rows, input's K, got ${shapeOf(mat2)}`);
  checkScales(scaleA, scaleB, m, n);
  if (scaleResult && (scaleResult.format !== 'fp32' || scaleResult.words.length !== 1))
    reject(`scaleResult: expected one fp32 word, got ${scaleResult.words.length} of ${scaleResult.format}`);
  if (k % 16 !== 0) reject(`input: expected a K that is a multiple of 16, got ${shapeOf(input)}`);
  if (n % 16 !== 0) reject(`mat2: expected both dimensions to be multiples of 16, got ${shapeOf(mat2)}`);
  for (const [name, x] of Object.entries({ input, mat2 }))
    if (!(TORCH_FP8 as readonly string[]).includes(x.format))
      reject(`${name}: expected a float8 format, got ${x.format}`);
  if (!OUTS.includes(out)) reject(`outDtype: expected ${OUTS.join(', ')}, got ${out}`);
}

function checkScales(scaleA: ScaleTensor, scaleB: ScaleTensor, m: number, n: number): void {
  if (scaleA.format !== 'fp32' || scaleB.format !== 'fp32')
    reject(`scales: expected fp32 for both, got ${scaleA.format} and ${scaleB.format}`);
  const [a, b] = [scaleA.words.length, scaleB.words.length];
  if (a === 1 && b === 1) return;
  if (a === m && b === n)
    throw new UnsupportedFeatureError(
      `row-wise scales (${a} and ${b}) are not characterised; give one fp32 word each`,
    );
  reject(`scales: expected one word each, got ${a} and ${b}`);
}

/** What cuBLASLt refuses of a non-empty problem: formats, layouts, alignment. */
export function checkProblem(input: Fp8Matrix, mat2: Fp8Matrix, out: OutFormat, profile: string): void {
  for (const [name, x] of Object.entries({ input, mat2 }))
    if (x.format !== 'e4m3' && x.format !== 'e5m2')
      reject(`${name}: expected e4m3 or e5m2 on profile ${profile}, got ${x.format}`);
  if (input.format === 'e5m2' && mat2.format === 'e5m2')
    reject('formats: expected at most one e5m2 operand, got two');
  if (input.format === 'e4m3' && mat2.format === 'e4m3' && out === 'e5m2')
    reject(`outDtype: expected no e5m2 output of e4m3 x e4m3 on profile ${profile}, got e5m2`);
  const [m, k] = input.shape;
  const [rowStride, one] = input.strides;
  if (one !== 1 || (m > 1 && rowStride < k))
    reject(`input: expected row-major strides (ld, 1), got (${input.strides.join(', ')})`);
  const [unit, columnStride] = mat2.strides;
  if (unit !== 1 || columnStride < k)
    reject(`mat2: expected column-major strides (1, ld), got (${mat2.strides.join(', ')})`);
  const leading = { input: m > 1 ? rowStride : k, mat2: columnStride };
  for (const [name, ld] of Object.entries(leading))
    if (ld % 16 !== 0) reject(`${name}: expected a leading dimension that is a multiple of 16, got ${ld}`);
  for (const [name, x] of Object.entries({ input, mat2 }))
    if ((x.offset ?? 0) % 16 !== 0)
      reject(`${name}: expected a storage offset that is a multiple of 16, got ${x.offset}`);
}
