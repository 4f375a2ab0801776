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

/** High 32 bits of a 32 x 32 bit product: both partial products stay below 2^48, their sum below 2^49. */
const mulHigh = (a: number, b: number): number =>
  Math.floor((a * (b >>> 16) + Math.floor((a * (b & 0xffff)) / 65536)) / 65536);

/** One block into `out`: four words of the counter (c0, c1, c2, c3) under the key (k0, k1). */
function block(
  out: Uint32Array,
  c0: number,
  c1: number,
  c2: number,
  c3: number,
  k0: number,
  k1: number,
): void {
  for (let round = 0; round < 10; round++) {
    const next0 = (mulHigh(c2, M1) ^ c1 ^ k0) >>> 0;
    const next2 = (mulHigh(c0, M0) ^ c3 ^ k1) >>> 0;
    c1 = Math.imul(M1, c2) >>> 0;
    c3 = Math.imul(M0, c0) >>> 0;
    c0 = next0;
    c2 = next2;
    k0 = (k0 + W0) >>> 0;
    k1 = (k1 + W1) >>> 0;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

/** One block: four words of `counter` under `key`. */
export function philox4x32(
  [c0, c1, c2, c3]: readonly [number, number, number, number],
  [k0, k1]: readonly [number, number],
): number[] {
  const out = new Uint32Array(4);
  block(out, c0, c1, c2, c3, k0, k1);
  return [...out];
}

/** FNV-1a over the UTF-16 code units of an ASCII name. */
export function streamOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193) >>> 0;
  return hash;
}

/** The words of one case, in order. */
export class CaseRandom {
  private blocks = 0;
  private at = 4;
  private readonly words = new Uint32Array(4);
  private readonly key0: number;
  private readonly key1: number;
  private readonly low: number;
  private readonly high: number;

  constructor(
    seed: number,
    private readonly stream: number,
    index: number,
  ) {
    this.key0 = seed >>> 0;
    this.key1 = Math.floor(seed / 2 ** 32) >>> 0;
    this.low = index >>> 0;
    this.high = Math.floor(index / 2 ** 32);
  }

  /** Next uniform 32-bit word. */
  word(): number {
    if (this.at === 4) {
      block(this.words, this.blocks++, this.low, this.high, this.stream, this.key0, this.key1);
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
