import { CaseRandom, streamOf } from '@bitmma/core/conformance';

/** Seeded doubles: line `line` of the stream `name` depends on nothing drawn before. */
export class Doubles {
  readonly #words: CaseRandom;
  #spare: number | null = null;

  constructor(seed: number, name: string, line: number) {
    this.#words = new CaseRandom(seed, streamOf(name), line);
  }

  /** Uniform on [0, 1): a multiple of 2^-53. */
  uniform(): number {
    return this.#words.bits(53) * 2 ** -53;
  }

  /** A random sign and a magnitude 10^x, x uniform on [-decades, decades). */
  logUniform(decades: number): number {
    const sign = this.#words.bits(1) === 1 ? -1 : 1;
    return sign * 10 ** ((2 * this.uniform() - 1) * decades);
  }

  /** N(0, 1) by the polar method (Marsaglia and Bray, 1964). */
  normal(): number {
    if (this.#spare !== null) {
      const value = this.#spare;
      this.#spare = null;
      return value;
    }
    for (;;) {
      const x = 2 * this.uniform() - 1;
      const y = 2 * this.uniform() - 1;
      const square = x * x + y * y;
      if (square >= 1 || square === 0) continue;
      const factor = Math.sqrt((-2 * Math.log(square)) / square);
      this.#spare = y * factor;
      return x * factor;
    }
  }
}
