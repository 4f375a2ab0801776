/**
 * Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers, SC 2011): a counter-based generator, so a
 * case's words depend on (seed, stream, case) and on nothing that ran before.
 *
 * Counter words: [block, case low, case high, stream]; key words: [seed low, seed high]. Block n gives words
 * 4n..4n+3 of a case. The stream is FNV-1a of a name, so campaigns do not share words.
 */
const M0 = 0xd2511f53;
const M1 = 0xcd9e8d57;
const W0 = 0x9e3779b9;
const W1 = 0xbb67ae85;

/** High 32 bits of a 32 x 32 bit product; every partial sum stays below 2^53. */
function mulHigh(a: number, b: number): number {
  const a0 = a & 0xffff;
  const a1 = a >>> 16;
  const b0 = b & 0xffff;
  const b1 = b >>> 16;
  const middle = a1 * b0 + Math.floor((a0 * b0) / 65536);
  const low = a0 * b1 + (middle % 65536);
  return (a1 * b1 + Math.floor(middle / 65536) + Math.floor(low / 65536)) >>> 0;
}

/** One block: four words of `counter` under `key`. */
export function philox4x32(
  counter: readonly [number, number, number, number],
  key: readonly [number, number],
): [number, number, number, number] {
  let [c0, c1, c2, c3] = counter;
  let [k0, k1] = key;
  for (let round = 0; round < 10; round++) {
    const high0 = mulHigh(M0, c0);
    const low0 = Math.imul(M0, c0) >>> 0;
    const high1 = mulHigh(M1, c2);
    const low1 = Math.imul(M1, c2) >>> 0;
    c0 = (high1 ^ c1 ^ k0) >>> 0;
    c1 = low1;
    c2 = (high0 ^ c3 ^ k1) >>> 0;
    c3 = low0;
    k0 = (k0 + W0) >>> 0;
    k1 = (k1 + W1) >>> 0;
  }
  return [c0, c1, c2, c3];
}

/** FNV-1a over the UTF-16 code units of an ASCII name. */
export function streamOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193) >>> 0;
  return hash;
}

/** The words of one case, in order. */
export class CaseRandom {
  private block = 0;
  private at = 4;
  private words: readonly number[] = [];

  constructor(
    private readonly seed: number,
    private readonly stream: number,
    private readonly index: number,
  ) {}

  /** Next uniform 32-bit word. */
  word(): number {
    if (this.at === 4) {
      this.words = philox4x32(
        [this.block++, this.index >>> 0, Math.floor(this.index / 2 ** 32), this.stream],
        [this.seed >>> 0, Math.floor(this.seed / 2 ** 32) >>> 0],
      );
      this.at = 0;
    }
    return this.words[this.at++];
  }

  /** Uniform integer 0 <= i < n, n <= 2^32: words below 2^32 mod n are drawn again, so every i is as likely. */
  below(n: number): number {
    const reject = 2 ** 32 % n;
    for (;;) {
      const word = this.word();
      if (word >= reject) return word % n;
    }
  }

  /** Uniform integer low <= i <= high. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  /** Uniform integer of `bits` <= 53 bits. */
  bits(bits: number): number {
    if (bits <= 32) return bits === 0 ? 0 : this.word() >>> (32 - bits);
    const high = this.word() >>> (64 - bits);
    return high * 2 ** 32 + this.word();
  }

  /** True once in n on average. */
  oneIn(n: number): boolean {
    return this.below(n) === 0;
  }

  /** One of the given values. */
  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)];
  }
}
