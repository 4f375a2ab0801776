/**
 * Importer for the recordings of north-numerical-computing/MATLAB-tensor-core (model_validation), as they are:
 * `GPU/FORMAT/{a,b,c,d}_GPU_*.txt`, one case a line. a and b hold K operands as fp32 containers in hex; c and d one
 * fp32 word in binary digits. fp16 results were widened to fp32; for fp16 output c was rounded to fp16 (RNE)
 * before the call.
 */
import type { MmaOp } from '../datapath/op.js';
import type { WordArray } from '../engine/engine.js';
import { InputError } from '../errors.js';
import { FORMATS, type FormatName } from '../formats/table.js';
import { allocateCases, type CaseSet } from './cases.js';
import type { Resolve } from './vector.js';
import { allocateWords } from './words.js';

const DEVICES: Readonly<Record<string, string>> = {
  V100: 'v100',
  A100: 'a100',
  Ada: 'rtx1000',
  H100: 'h100',
  B200: 'b200',
};

const SHAPES: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  fp16: { 4: 'm8n8k4', 8: 'm16n8k8', 16: 'm16n8k16' },
  bf16: { 8: 'm16n8k8', 16: 'm16n8k16' },
  tf32: { 4: 'm16n8k4', 8: 'm16n8k8' },
  E4M3: { 32: 'm16n8k32' },
  E5M2: { 32: 'm16n8k32' },
};

const PTX: Readonly<Record<string, string>> = {
  fp16: 'f16',
  bf16: 'bf16',
  tf32: 'tf32',
  E4M3: 'e4m3',
  E5M2: 'e5m2',
};

/** One set of the layout: the files of one GPU, input format and output format. */
export interface RecordingSet {
  readonly gpu: string;
  readonly format: string;
  readonly output: 'fp32' | 'fp16';
}

/** GPU, format and output of a d file's path; null for any other path. */
export function recordingSetOf(path: string): RecordingSet | null {
  const match = /(?:^|\/)([A-Za-z0-9]+)\/([A-Za-z0-9]+)\/d_\1_(fp32|fp16)\.txt$/.exec(path);
  if (!match || !(match[1] in DEVICES) || !(match[2] in SHAPES)) return null;
  return { gpu: match[1], format: match[2], output: match[3] as 'fp32' | 'fp16' };
}

/** File names of a set, beside each other in its folder. */
export const recordingFiles = ({ gpu, format, output }: RecordingSet) => ({
  a: `a_${gpu}_${format}.txt`,
  b: `b_${gpu}_${format}.txt`,
  c: `c_${gpu}_fp32.txt`,
  d: `d_${gpu}_${output}.txt`,
});

/** H100 FP8 with fp32 output was recorded by wgmma, with c = 0. */
const byWgmma = (set: RecordingSet) =>
  set.gpu === 'H100' && set.format.startsWith('E') && set.output === 'fp32';

function instructionOf(set: RecordingSet, k: number): string {
  const ptx = PTX[set.format];
  const out = set.output === 'fp32' ? 'f32' : 'f16';
  if (byWgmma(set)) return `wgmma.mma_async.m64n8k32.${out}.${ptx}.${ptx}`;
  const shape = SHAPES[set.format][k];
  if (!shape)
    throw new InputError(
      `a: expected ${Object.keys(SHAPES[set.format]).join(' or ')} words a line, got ${k}`,
    );
  return `mma.sync.${shape}.${out}.${ptx}.${ptx}.${out}`;
}

/**
 * The word of `format` that holds exactly the value of an fp32 word.
 * @throws InputError where the format does not hold it.
 */
export function narrowExactly(word: number, format: FormatName): number {
  const f = FORMATS[format];
  if (f.kind !== 'float') throw new InputError(`expected a floating-point format, got ${format}`);
  if (format === 'fp32' || format === 'tf32') return word >>> 0;
  const refuse = () =>
    new InputError(
      `expected a value of ${format}, got the fp32 word ${(word >>> 0).toString(16).padStart(8, '0')}`,
    );
  const w = f.fractionBits;
  const sign = (word >>> 31) * 2 ** (f.exponentBits + w);
  const x = (word >>> 23) & 255;
  const m = word & 0x7fffff;
  if (x === 255) {
    const fraction = m >>> (23 - w);
    if (f.specials !== 'ieee' || m % 2 ** (23 - w) !== 0) throw refuse();
    return sign + (2 ** f.exponentBits - 1) * 2 ** w + fraction;
  }
  if (x === 0 && m === 0) return sign;
  let significand = x === 0 ? m : m + 2 ** 23;
  let lsb = Math.max(x, 1) - 150;
  while (significand % 2 === 0) {
    significand /= 2;
    lsb++;
  }
  const lead = lsb + Math.floor(Math.log2(significand));
  const e = Math.max(lead, 1 - f.bias);
  const shift = lsb - (e - w);
  const scaled = significand * 2 ** shift;
  if (shift < 0 || scaled >= 2 ** (w + 1)) throw refuse();
  const field = scaled >= 2 ** w ? e + f.bias : 0;
  const code = field * 2 ** w + (scaled % 2 ** w);
  const limit =
    2 ** (f.exponentBits + w) - (f.specials === 'ieee' ? 2 ** w : f.specials === 'nan-only' ? 1 : 0);
  if (code >= limit) throw refuse();
  return sign + code;
}

/** fp32 word to fp16, round to nearest even; NaN stays NaN (payload cut, quiet bit set). */
export function roundToFp16(word: number): number {
  const sign = (word >>> 16) & 0x8000;
  const x = (word >>> 23) & 255;
  const m = word & 0x7fffff;
  if (x === 255) return sign | 0x7c00 | (m === 0 ? 0 : 0x200 | (m >>> 13));
  const e = x - 127;
  const significand = x === 0 ? m : m | 0x800000;
  const drop = e >= -14 ? 13 : 13 + (-14 - e);
  if (drop > 24) return sign;
  const kept = Math.floor(significand / 2 ** drop);
  const rest = significand - kept * 2 ** drop;
  const half = 2 ** (drop - 1);
  const rounded = kept + (rest > half || (rest === half && kept % 2 === 1) ? 1 : 0);
  const code = e >= -14 ? (e + 14) * 1024 + rounded : rounded;
  return sign | Math.min(code, 0x7c00);
}

const linesIn = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');

function operands(text: string, name: string, format: FormatName, k: number, words: WordArray): void {
  const lines = linesIn(text);
  if (lines.length * k !== words.length)
    throw new InputError(`${name}: expected ${words.length / k} lines, got ${lines.length}`);
  lines.forEach((line, i) => {
    const parts = line.trim().split(/\s+/);
    if (parts.length !== k)
      throw new InputError(`${name}:${i + 1}: expected ${k} words, got ${parts.length}`);
    parts.forEach((part, j) => {
      if (!/^[0-9a-fA-F]{8}$/.test(part))
        throw new InputError(`${name}:${i + 1}: expected 8 hex digits, got ${JSON.stringify(part)}`);
      try {
        words[i * k + j] = narrowExactly(Number.parseInt(part, 16), format);
      } catch (error) {
        throw new InputError(`${name}:${i + 1}: ${(error as Error).message}`, { cause: error });
      }
    });
  });
}

function binaryWords(text: string, name: string, count: number): Uint32Array {
  const lines = linesIn(text);
  if (lines.length !== count) throw new InputError(`${name}: expected ${count} lines, got ${lines.length}`);
  return Uint32Array.from(lines, (line, i) => {
    if (!/^[01]{32}$/.test(line.trim()))
      throw new InputError(`${name}:${i + 1}: expected 32 binary digits, got ${JSON.stringify(line.trim())}`);
    return Number.parseInt(line.trim(), 2);
  });
}

/**
 * Reads one recorded set from the text of its four files.
 * @throws InputError naming file and line.
 */
export function readRecording(
  set: RecordingSet,
  text: { readonly a: string; readonly b: string; readonly c: string; readonly d: string },
  resolve: Resolve,
  source: string,
): CaseSet {
  const names = recordingFiles(set);
  const k = linesIn(text.a)[0]?.trim().split(/\s+/).length ?? 0;
  const op: MmaOp = resolve(DEVICES[set.gpu], instructionOf(set, k));
  const lines = linesIn(text.a).length;
  const words = allocateCases(op, lines, k);
  operands(text.a, names.a, op.a, k, words.a);
  operands(text.b, names.b, op.b, k, words.b);
  if (!byWgmma(set)) {
    const c = binaryWords(text.c, names.c, lines);
    words.c.set(op.c === 'fp16' ? c.map(roundToFp16) : c);
  }
  const d = allocateWords(op.d, lines);
  binaryWords(text.d, names.d, lines).forEach((word, i) => {
    d[i] = op.d === 'fp16' ? narrowExactly(word, 'fp16') : word;
  });
  return {
    op,
    source,
    count: lines,
    k,
    ...words,
    d,
    id: (index) => `${set.gpu}-${set.format}-${set.output}-${index + 1}`,
  };
}
