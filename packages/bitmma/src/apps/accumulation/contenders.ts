import { defaultOp, type Engine, type MmaOp } from '@bitmma/core';
import { type AccumulateOptions, accumulate } from '../../cublas/accumulate.js';
import { PRESETS, type PresetName } from '../../cublas/presets.js';
import { deviceProduct } from '../product.js';

/** One way to accumulate an FP8 product. */
export interface Contender {
  readonly label: string;
  readonly op: MmaOp;
  /** fp32 words of A B^T, a is m x k, b n x k of words of the op's formats, line after line of `stride`. */
  run(operands: FpOperands, engine: Engine, signal?: AbortSignal): Promise<Uint32Array>;
}

export interface FpOperands {
  readonly a: Uint8Array;
  readonly b: Uint8Array;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly stride: number;
}

const viaCublas = (label: string, name: PresetName, useFastAccum: boolean): Contender => {
  const op = PRESETS[name].op('e4m3', 'e4m3');
  return {
    label,
    op,
    run({ a, b, m, n, k, stride }, engine, signal) {
      const side = (words: Uint8Array, lines: number) => ({
        format: 'e4m3',
        words,
        shape: [lines, k] as const,
        strides: [stride, 1] as const,
      });
      const options: AccumulateOptions = { useFastAccum, preset: name, engine };
      return accumulate(side(a, m), side(b, n), signal === undefined ? options : { ...options, signal });
    },
  };
};

const viaChain = (label: string, device: string, format: 'e4m3' | 'e4m3fnuz'): Contender => {
  const op = defaultOp(device, { a: format, b: format, accumulate: 'fp32' });
  return {
    label,
    op,
    async run({ a, b, m, n, k, stride }, engine, signal) {
      const side = (words: Uint8Array) => ({ words, offset: 0, stride });
      const d = await deviceProduct({ op, engine, m, n, k, a: side(a), b: side(b), signal });
      return d as Uint32Array;
    },
  };
};

/** Hopper and Ada in one chain and with a new one every 128 added in fp32, B200 and MI300X in one chain. */
export const contenders = (): readonly Contender[] => [
  viaCublas('Hopper one chain', 'hopper', true),
  viaCublas('Hopper every 128', 'hopper', false),
  viaCublas('Ada one chain', 'ada', true),
  viaCublas('Ada every 128', 'ada', false),
  viaChain('B200 tcgen05', 'b200', 'e4m3'),
  viaChain('MI300X', 'mi300x', 'e4m3fnuz'),
];
