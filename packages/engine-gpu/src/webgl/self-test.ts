import type { GlContext } from './context.js';
import { alignFunction, LIMBS } from './glsl.js';

/** One operation of float32 x and y as the kernels use it: a GLSL expression and the number that it must give. */
export interface FloatOperation {
  readonly name: string;
  readonly glsl: string;
  expected(x: number, y: number): number;
}

const k = (y: number): number => Math.abs(y) % 61;
const floorDiv = (x: number, n: number): number => Math.floor(x / 2 ** n);

/**
 * Everything that the kernels ask of float32: x and y are integers up to 2^24 in magnitude. No intermediate of a
 * kernel is nonzero below 2^-60, so a device may flush subnormals; that small values survive is tested.
 */
export const FLOAT_OPERATIONS: readonly FloatOperation[] = [
  { name: 'bit read-back', glsl: 'x', expected: (x) => x },
  {
    name: 'addition',
    glsl: 'floor(x * 0.5) + floor(y * 0.5)',
    expected: (x, y) => floorDiv(x, 1) + floorDiv(y, 1),
  },
  {
    name: 'subtraction',
    glsl: 'floor(x * 0.5) - floor(y * 0.5)',
    expected: (x, y) => floorDiv(x, 1) - floorDiv(y, 1),
  },
  {
    name: 'multiplication',
    glsl: 'floor(x * 0.000244140625) * floor(y * 0.000244140625)',
    expected: (x, y) => floorDiv(x, 12) * floorDiv(y, 12),
  },
  {
    name: 'multiplication and subtraction',
    glsl: 'x - floor(x * 0.000244140625) * 4096.0',
    expected: (x) => x - floorDiv(x, 12) * 4096,
  },
  {
    name: 'floor',
    glsl: 'floor(x * bmPower(-mod(abs(y), 25.0)))',
    expected: (x, y) => floorDiv(x, Math.abs(y) % 25),
  },
  { name: 'power of two, down', glsl: 'bmPower(-mod(abs(y), 61.0))', expected: (_, y) => 2 ** -k(y) },
  { name: 'power of two, up', glsl: 'bmPower(mod(abs(y), 61.0))', expected: (_, y) => 2 ** k(y) },
  {
    name: 'power-of-two scaling',
    glsl: 'x * bmPower(-mod(abs(y), 61.0))',
    expected: (x, y) => x * 2 ** -k(y),
  },
  { name: 'small values', glsl: 'x * bmPower(-60.0) > 0.0 ? 1.0 : 0.0', expected: (x) => (x > 0 ? 1 : 0) },
  { name: 'maximum', glsl: 'max(x, y)', expected: Math.max },
  { name: 'comparison', glsl: 'x < y ? 1.0 : 0.0', expected: (x, y) => (x < y ? 1 : 0) },
  { name: 'equality', glsl: 'x == y ? 1.0 : 0.0', expected: (x, y) => (x === y ? 1 : 0) },
  {
    name: 'leading bit',
    glsl: 'bmLead(max(abs(x), 1.0))',
    expected: (x) => 31 - Math.clz32(Math.max(Math.abs(x), 1)),
  },
  {
    name: 'addition to a split number',
    glsl: 'bmAlign(x, mod(abs(y), 10.0)).y + mod(abs(y), 65536.0)',
    expected: (x, y) => {
      const scaled = BigInt(x) << BigInt(Math.abs(y) % 10);
      return Number(scaled & 65535n) + (Math.abs(y) % 65536);
    },
  },
  ...([0, 1] as const).map((part) => ({
    name: `floor shift, ${part === 0 ? 'high' : 'low'} limb`,
    glsl: `bmFloorShift(bmNormal(vec2(floor(x * 0.00390625), y)), 8.0 - mod(abs(y), 53.0))[${part}]`,
    expected: (x: number, y: number): number => {
      const s = BigInt(floorDiv(x, 8)) * 65536n + BigInt(y);
      const n = 8 - (Math.abs(y) % 53);
      const shifted = n >= 0 ? s << BigInt(n) : s >> BigInt(Math.min(-n, 48));
      return part === 0 ? Number(shifted >> 16n) : Number(shifted & 65535n);
    },
  })),
];

/** Integers at every power of two and beside it, then pseudo-random ones up to 2^24. */
export function selfTestPairs(): readonly [Float32Array, Float32Array] {
  const words = [0];
  for (let i = 0; i <= 24; i++)
    for (const d of [-1, 0, 1])
      for (const s of [1, -1]) if (2 ** i + d <= 2 ** 24) words.push(s * (2 ** i + d));
  const xs: number[] = [];
  const ys: number[] = [];
  for (const [i, x] of words.entries())
    for (let j = 0; j < 16; j++) {
      xs.push(x);
      ys.push(words[(i * 5 + j * 9) % words.length]);
    }
  let state = 0x9e3779b9;
  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >> (7 + ((state >>> 3) % 12))) | 0;
  };
  while (xs.length < 4096) {
    xs.push(next());
    ys.push(next());
  }
  return [Float32Array.from(xs), Float32Array.from(ys)];
}

/**
 * Runs every operation over every pair, in one kernel whose rows are operations. Null: all exact; else the first
 * operation that is not, with its numbers.
 */
export function selfTest(context: GlContext, operations: readonly FloatOperation[]): string | null {
  const [xs, ys] = selfTestPairs();
  const count = xs.length;
  const branches = operations
    .map((operation, i) => `  if (which == ${i}.0) { return ${operation.glsl}; }`)
    .join('\n');
  const kernel = context.kernel({
    source:
      'function test(x, y) { return [bmTest(this.thread.y, x[this.thread.x], y[this.thread.x]), this.thread.x, this.thread.y, 1]; }',
    injected: [...LIMBS, alignFunction('bmAlign', 'RZ')].map((native) => native.source).join('\n'),
    functions: [
      {
        name: 'bmTest',
        source: `float bmTest(float which, float x, float y) {\n${branches}\n  return 0.0;\n}`,
      },
    ],
  });
  try {
    const result = kernel.run(
      [count, operations.length],
      [context.input(xs, [count]), context.input(ys, [count])],
    );
    const values = context.read(result);
    for (const [o, operation] of operations.entries())
      for (let i = 0; i < count; i++) {
        const at = (o * count + i) * 4;
        const expected = Math.fround(operation.expected(xs[i], ys[i]));
        if (values[at] !== expected)
          return `${operation.name}: of ${xs[i]} and ${ys[i]} expected ${expected}, got ${values[at]}`;
        if (values[at + 1] !== i || values[at + 2] !== o)
          return `thread index: expected ${i}, ${o}, got ${values[at + 1]}, ${values[at + 2]}`;
      }
    return null;
  } finally {
    kernel.destroy();
  }
}
