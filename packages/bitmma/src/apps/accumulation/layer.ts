import { type Comparison, compare } from '../../compare/compare.js';
import type { Listener } from '../../events.js';
import { SAFETENSORS_DTYPES } from '../../files/dtype.js';
import type { Tensor } from '../../files/tensor.js';
import { type Dataset, largestOf } from './dataset.js';

/**
 * One layer on Hopper, Ada, B200 and MI300X by `compare`, one chain each. Both tensors are scaled to a largest magnitude
 * of 240, which e4m3 and e4m3fnuz both reach, and rounded to fp32; the casts to FP8 round once to nearest even.
 */
export async function compareLayer(
  data: Dataset,
  options: { readonly engine?: string; readonly signal?: AbortSignal; readonly on?: Listener },
): Promise<Comparison> {
  const operands = {
    a: scaled(`${data.name} A`, data.a, data.rows, data.k),
    b: scaled(`${data.name} B`, data.b, data.columns, data.k),
    transB: true,
  };
  const formats = (name: 'e4m3' | 'e4m3fnuz') => ({ aFormat: name, bFormat: name, accumulate: 'fp32' });
  return compare(
    operands,
    [
      ...['h100', 'rtx4060', 'b200'].map((device) => ({ label: device, device, ...formats('e4m3') })),
      { label: 'mi300x', device: 'mi300x', ...formats('e4m3fnuz') },
    ],
    options,
  );
}

function scaled(name: string, values: Float64Array, lines: number, k: number): Tensor {
  const largest = values.reduce((best, value) => Math.max(best, Math.abs(value)), 0);
  const scale = largest === 0 ? 1 : largestOf('e4m3fnuz') / largest;
  const words = new Uint32Array(new SharedArrayBuffer(values.length * 4));
  new Float32Array(words.buffer).set(values.map((value) => value * scale));
  return { name, dtype: SAFETENSORS_DTYPES.F32!, words, shape: [lines, k], strides: [k, 1] };
}
