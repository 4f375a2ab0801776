import { type Datapath, FORMATS, type MmaOp, type Output, parseOp } from '@bitmma/core';

/** xorshift32: the custom ops of a seed are the same on every host. */
class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed * 2654435761) >>> 0 || 1;
  }

  unit(): number {
    let s = this.#state;
    s ^= s << 13;
    s ^= s >>> 17;
    s ^= s << 5;
    this.#state = s >>> 0;
    return this.#state / 2 ** 32;
  }

  int(low: number, high: number): number {
    return low + Math.floor(this.unit() * (high - low + 1));
  }

  pick<T>(from: readonly T[]): T {
    return from[this.int(0, from.length - 1)];
  }

  maybe<T>(make: () => T): T | null {
    return this.unit() < 0.4 ? null : make();
  }
}

const INPUTS = [
  ...['fp16', 'bf16', 'tf32', 'fp32', 'e5m2', 'e4m3', 'e5m2fnuz', 'e4m3fnuz', 'e3m2', 'e2m3', 'e2m1'],
] as const;
const NAN = { fp16: '7fff', fp32: 'ffc00000', fp64: 'fff8000000000000' } as const;

function outputOf(r: Random, ieee: boolean): Output {
  const format = r.pick(['fp16', 'fp32', 'fp32', 'fp64'] as const);
  const bits = (FORMATS[format] as { fractionBits: number }).fractionBits;
  return {
    format,
    rounding: r.pick(['RZ', 'RNE', 'RD', 'RU'] as const),
    precision: ieee ? bits : r.int(1, bits),
    underflow: r.pick(['positive', 'signed'] as const),
    nan: NAN[format],
  };
}

function datapathOf(r: Random): Datapath {
  const cut = () => r.pick(['RZ', 'RD', 'RNE', 'RZ'] as const);
  // Small windows, windows beyond 62 bits, and the rest.
  const fraction = () => r.pick([r.int(1, 40), r.int(1, 40), r.int(40, 60), r.int(60, 200)]);
  const window = () => ({
    block: r.int(1, 40),
    fraction: fraction(),
    floor: r.maybe(() => r.int(-200, 20)),
    alignment: cut(),
  });
  const addend = () => ({
    zeroAddendExponent: r.int(-150, 20),
    productOverflow: r.maybe(() => r.int(-5, 140)),
    addendFraction: fraction(),
    addendRounding: cut(),
    addendReach: r.maybe(() => r.int(0, 40)),
    sumFraction: fraction(),
    sumRounding: cut(),
    normalFraction: r.maybe(fraction),
    normalRounding: cut(),
  });
  const flushes = () => ({ flushInputs: r.unit() < 0.5, flushResults: r.unit() < 0.5 });
  const addition = () => r.pick(['RZ', 'RNE', 'RD', 'RU'] as const);
  const output = outputOf(r, false);
  switch (r.int(0, 9)) {
    case 0:
      return {
        ...{ kind: 'fused-window', ...window(), zeroAddendExponent: r.maybe(() => r.int(-150, 20)) },
        ...{ productOverflow: r.maybe(() => r.int(-5, 140)), output },
      };
    case 1:
      return { kind: 'late-window', ...window(), output, addition: addition() };
    case 2:
      return { kind: 'split-window', ...window(), selectBit: r.int(0, 3), output, addition: addition() };
    case 3:
      return { kind: 'exact', block: r.int(1, 40), output };
    case 4:
      return { kind: 'pairwise', block: 2 ** r.int(0, 5), ...flushes(), output: outputOf(r, true) };
    case 5:
      return { kind: 'cdna3-window', ...window(), ...addend(), output };
    case 6:
      return {
        ...{ kind: 'cdna3-odd-even', ...window(), block: 2 * r.int(1, 20), ...addend() },
        ...{ mergeFraction: fraction(), mergeRounding: cut(), output },
      };
    case 7:
      return { kind: 'sequential-fma', ...flushes(), output: outputOf(r, true) };
    case 8:
      return { kind: 'scaled-window', fraction: fraction(), output };
    default:
      return {
        ...{
          kind: 'scaled-groups',
          group: 4,
          dominantGroup: r.pick([4, 8, 16]),
          dominantFraction: fraction(),
        },
        ...{ productFraction: fraction(), scaleFraction: fraction(), groupAddendFraction: r.maybe(fraction) },
        ...{ leaveOut: r.maybe(() => r.int(-200, -100)), output },
      };
  }
}

/** A random custom op; null where the draw contradicts itself. */
export function customOp(seed: number): MmaOp | null {
  const r = new Random(seed);
  const datapath = datapathOf(r);
  const scaled = datapath.kind.startsWith('scaled');
  const k = scaled ? 64 : r.int(9, 48);
  const sparse = k % 4 === 0 && r.unit() < 0.3 && !['split-window', 'cdna3-odd-even'].includes(datapath.kind);
  const op = {
    ...{ a: r.pick(INPUTS), b: r.pick(INPUTS), k, datapath },
    ...(scaled && { scaling: { format: r.pick(['ue8m0', 'ue4m3']), block: r.pick([16, 32]) } }),
    ...(sparse && { sparsity: '2:4' }),
  };
  try {
    return parseOp(op, `custom op ${seed}`);
  } catch {
    return null;
  }
}
