import { MAP_MODE_READ, STAGE_COMPUTE, USAGE } from './gpu.js';
import { WIDE } from './wgsl/wide.js';

/** One operation: a WGSL expression of u32 x and y, and the word that it must give. */
export interface Operation {
  readonly name: string;
  readonly wgsl: string;
  expected(x: number, y: number): number;
}

const big = (low: number, high: number): bigint => (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
const half = (value: bigint, part: 0 | 1): number => Number((value >> (part === 0 ? 0n : 32n)) & 0xffffffffn);
const signed = (x: number): number => x | 0;

function wide(name: string, wgsl: string, value: (x: number, y: number) => bigint): Operation[] {
  return ([0, 1] as const).map((part) => ({
    name: `${name}, ${part === 0 ? 'low' : 'high'} limb`,
    wgsl: `(${wgsl}).${part === 0 ? 'x' : 'y'}`,
    expected: (x, y) => half(value(x, y) & (2n ** 64n - 1n), part),
  }));
}

/** Everything that the kernels ask of u32 and i32. The pairs include every power of two, its neighbours and 0. */
export const OPERATIONS: readonly Operation[] = [
  { name: 'bit read-back', wgsl: 'x', expected: (x) => x },
  { name: 'addition', wgsl: 'x + y', expected: (x, y) => (x + y) >>> 0 },
  { name: 'subtraction', wgsl: 'x - y', expected: (x, y) => (x - y) >>> 0 },
  { name: 'multiplication', wgsl: 'x * y', expected: (x, y) => Math.imul(x, y) >>> 0 },
  {
    name: 'signed multiplication',
    wgsl: 'u32(i32(x) * (i32(y) >> 20u))',
    expected: (x, y) => Math.imul(x, y >> 20) >>> 0,
  },
  {
    name: 'division by a constant',
    wgsl: 'x / 24u + x % 24u',
    expected: (x) => Math.floor(x / 24) + (x % 24),
  },
  { name: 'left shift', wgsl: 'x << (y & 31u)', expected: (x, y) => (x << (y & 31)) >>> 0 },
  { name: 'right shift', wgsl: 'x >> (y & 31u)', expected: (x, y) => x >>> (y & 31) },
  {
    name: 'arithmetic right shift',
    wgsl: 'u32(i32(x) >> (y & 31u))',
    expected: (x, y) => (x >> (y & 31)) >>> 0,
  },
  { name: 'leading zeros', wgsl: 'countLeadingZeros(x)', expected: (x) => Math.clz32(x) },
  { name: 'maximum', wgsl: 'max(x, y)', expected: (x, y) => Math.max(x, y) },
  { name: 'minimum', wgsl: 'min(x, y)', expected: (x, y) => Math.min(x, y) },
  {
    name: 'signed maximum',
    wgsl: 'u32(max(i32(x), i32(y)))',
    expected: (x, y) => Math.max(signed(x), signed(y)) >>> 0,
  },
  { name: 'absolute value', wgsl: 'u32(abs(i32(x)))', expected: (x) => Math.abs(signed(x)) >>> 0 },
  {
    name: 'signed comparison',
    wgsl: 'select(0u, 1u, i32(x) < i32(y))',
    expected: (x, y) => Number(signed(x) < signed(y)),
  },
  { name: 'unsigned comparison', wgsl: 'select(0u, 1u, x < y)', expected: (x, y) => Number(x < y) },
  {
    name: 'vector lanes',
    wgsl: 'select(vec4u(x, y, x, y), vec4u(y, x, y, x), vec4<bool>(true, false, false, true))[y & 3u]',
    expected: (x, y) => [y, y, x, x][y & 3],
  },
  ...wide('multiplication to 64 bits', 'mulWide(x, y)', (x, y) => BigInt(x) * BigInt(y)),
  ...wide('addition of 64 bits', 'add64(vec2u(x, y), vec2u(y, x))', (x, y) => big(x, y) + big(y, x)),
  ...wide('left shift of 64 bits', 'shl64(vec2u(x, y), x & 127u)', (x, y) =>
    (x & 127) > 63 ? 0n : big(x, y) << BigInt(x & 127),
  ),
  ...wide('right shift of 64 bits', 'shr64(vec2u(x, y), y & 127u)', (x, y) =>
    (y & 127) > 63 ? 0n : big(x, y) >> BigInt(y & 127),
  ),
  { name: 'workgroup memory', wgsl: 'neighbour', expected: (x) => x },
];

/** Words at every power of two and beside it, subnormal, infinite and NaN patterns among them. */
function edges(): number[] {
  const words = new Set<number>([0, 1, 0x7fc00001, 0xffc00000, 0x7f800001, 0x00000001, 0x807fffff]);
  for (let i = 0; i < 32; i++)
    for (const d of [-1, 0, 1]) for (const s of [1, -1]) words.add((s * (2 ** i + d)) >>> 0);
  return [...words];
}

/** A case is a pair of edges, or of words from xorshift32. */
export function selfTestPairs(): readonly [Uint32Array<ArrayBuffer>, Uint32Array<ArrayBuffer>] {
  const words = edges();
  const xs: number[] = [];
  const ys: number[] = [];
  for (const [i, x] of words.entries())
    for (let j = 0; j < 32; j++) {
      xs.push(x);
      ys.push(words[(i * 7 + j * 5) % words.length]);
    }
  let state = 0x9e3779b9;
  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  while (xs.length % 64 !== 0 || xs.length < 8192) {
    xs.push(next());
    ys.push(next());
  }
  return [Uint32Array.from(xs), Uint32Array.from(ys)];
}

const shaderOf = (operations: readonly Operation[], count: number): string => `${WIDE}
@group(0) @binding(0) var<storage, read> xs: array<u32>;
@group(0) @binding(1) var<storage, read> ys: array<u32>;
@group(0) @binding(2) var<storage, read_write> results: array<u32>;
var<workgroup> shared_words: array<u32, 64>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {
  let i = id.x;
  shared_words[63u - local] = xs[(i / 64u) * 64u + 63u - local];
  workgroupBarrier();
  let neighbour = shared_words[local];
  let x = xs[i];
  let y = ys[i];
${operations.map((operation, o) => `  results[${o * count}u + i] = ${operation.wgsl};`).join('\n')}
}
`;

/**
 * Runs every operation on the device over every pair. Null: all exact; else the first operation that is not, with
 * its words.
 */
export async function selfTest(device: GPUDevice, operations: readonly Operation[]): Promise<string | null> {
  const [xs, ys] = selfTestPairs();
  const count = xs.length;
  const storage = (bytes: number, usage: number): GPUBuffer =>
    device.createBuffer({ size: bytes, usage: USAGE.STORAGE | usage });
  const inputs = [xs, ys].map((words) => {
    const buffer = storage(words.byteLength, USAGE.COPY_DST);
    device.queue.writeBuffer(buffer, 0, words);
    return buffer;
  });
  const bytes = operations.length * count * 4;
  const results = storage(bytes, USAGE.COPY_SRC);
  const staging = device.createBuffer({ size: bytes, usage: USAGE.MAP_READ | USAGE.COPY_DST });
  try {
    const layout = device.createBindGroupLayout({
      entries: [0, 1, 2].map((binding) => ({
        binding,
        visibility: STAGE_COMPUTE,
        buffer: { type: binding === 2 ? ('storage' as const) : ('read-only-storage' as const) },
      })),
    });
    const pipeline = await device.createComputePipelineAsync({
      layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
      compute: {
        module: device.createShaderModule({ code: shaderOf(operations, count) }),
        entryPoint: 'main',
      },
    });
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(
      0,
      device.createBindGroup({
        layout,
        entries: [...inputs, results].map((buffer, binding) => ({ binding, resource: { buffer } })),
      }),
    );
    pass.dispatchWorkgroups(count / 64);
    pass.end();
    encoder.copyBufferToBuffer(results, 0, staging, 0, bytes);
    device.queue.submit([encoder.finish()]);
    await staging.mapAsync(MAP_MODE_READ);
    const words = new Uint32Array(staging.getMappedRange());
    for (const [o, operation] of operations.entries())
      for (let i = 0; i < count; i++) {
        const expected = operation.expected(xs[i], ys[i]) >>> 0;
        const got = words[o * count + i];
        if (got !== expected)
          return `${operation.name}: of ${hex(xs[i])} and ${hex(ys[i])} expected ${hex(expected)}, got ${hex(got)}`;
      }
    return null;
  } finally {
    for (const buffer of [...inputs, results, staging]) buffer.destroy();
  }
}

const hex = (word: number): string => word.toString(16).padStart(8, '0');
